/** The sentences of the school, and the reader of its agent. */
import { fieldsOf } from "./hand.ts";
import type { Reading, Statement } from "./hand.ts";
import { readAll, Saying } from "./sayings.ts";

const person = { value: String.raw`(?:Ms|Mr|Dr) \w+`, old: String.raw`(?:Ms|Mr|Dr) \w+` };

/** Another room for a lesson. */
export const roomAgain = new Saying("room {lesson} of {of}", [
  "From {day} on, {lesson} of class {of} is taught in room {value}[, not in {old}].",
  "Room {old} is closed for {lesson} of class {of}, which meets in room {value} instead.",
  "{lesson} has moved to room {value} for class {of}[, radiators permitting].",
  "What was said of {lesson} of class {of} and room {old} is taken back by {who}: it is room {value}.",
]);

/** Another teacher for a lesson. */
export const teacherAgain = new Saying(
  "teacher {lesson} of {of}",
  [
    "{old} no longer has class {of} in {lesson}; {value} does.",
    "As of {day}, {value} teaches {lesson} in class {of} instead of {old}.",
    "The page of class {of} is wrong on {lesson}: the teacher is not {old}; it is {value}.",
  ],
  person,
);

/** Another telephone number in the house. */
export const extensionAgain = new Saying("extension {who}", [
  "{who} is no longer at {old}; dial {value}.",
  "The extension of {who}: {old} was a slip, {value} is right.",
  "{who} has a new desk and answers {value} there[, on most days].",
]);

/** Who signs the absences of a year, by a rule. */
export const signs = new Saying(
  "signs {year}",
  [
    "Absences in year {year} are signed by {value}[, as ever].",
    "[Remember that] {value} signs all absences of year {year}[, and nobody else].",
    "[For the files:] year {year} brings its absences to {value}.",
  ],
  person,
);

/** An exception to that rule. */
export const signsFor = new Saying(
  "signs {year} in {of}",
  [
    "[There is an exception:] class {of}, though it is in year {year}, has its absences signed by {value}.",
    "Unlike the rest of year {year}, class {of} goes to {value} with absences.",
    "Only for class {of} the rule of year {year} does not hold, and {value} signs.",
  ],
  person,
);

/** Whom the agent chose to stand in. */
export const chosen = new Saying(
  "substitute {lesson} of {of}",
  [
    "I chose {value} to stand in for {lesson} of class {of}.",
    "Class {of} will see {value} in {lesson}, who has the fewest duties.",
  ],
  person,
);

/** The reader: HTML rows by the class of their page, the roster's rows, JSON by the teacher, lots, sentences. */
export const timetableReading: Reading = (passage) => {
  if (passage.who === "call") return [];
  if (passage.who === "assistant") return chosen.read(passage);
  const found: Statement[] = [];
  let page = passage.who === "class_page" ? passage.title : undefined;
  let teacher: string | undefined;
  for (const line of passage.text.split("\n")) {
    page = /<h1>Class (\w+)<\/h1>/.exec(line)?.[1] ?? page;
    const [lesson, name, room] = [...line.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, cell]) => cell);
    if (page !== undefined && room !== undefined && name !== undefined)
      found.push(
        { key: `teacher ${lesson} of ${page}`, value: name, yields: true },
        { key: `room ${lesson} of ${page}`, value: room, yields: true },
      );
    const [, post, watch] = /^\s*duty (\w+) +((?:Ms|Mr) \w+)/.exec(line) ?? [];
    if (post !== undefined && watch !== undefined) found.push({ key: `duty ${post}`, value: watch });
    const [, drew, lot] = /class (\w+) drew lot (\d+)/.exec(line) ?? [];
    if (drew !== undefined && lot !== undefined) found.push({ key: `lot ${drew}`, value: lot });
    if (passage.who !== "staff_list") continue;
    if (/^…|^\s*\}/.test(line)) teacher = undefined;
    for (const [field, value] of fieldsOf(line)) {
      if (field === "teacher") teacher = value;
      else if (field === "extension" && teacher !== undefined)
        found.push({ key: `extension ${teacher}`, value, yields: true });
    }
  }
  return [...found, ...readAll(passage, [roomAgain, teacherAgain, extensionAgain, signs, signsFor])];
};
