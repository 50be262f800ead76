/** The papers of the school. */
import { plannedOf } from "./plan.ts";
import type { Fact } from "./plan.ts";
import { filler } from "./sayings.ts";
import type { Luck } from "./words.ts";

/** What is said in a school without need. */
export const talk = [
  "Parents of {name} street asked whether the {word} could be repaired before the holidays.",
  "The choir sings {n} songs this term, among them one about a {word} that {name} wrote.",
  "Lost property includes {n} gloves, a {word}, and a key with the tag {code}.",
  "{name} thanks everyone who brought cake for the {word} club.",
  "Bicycles left by the {word} shed will be given to {name} after the break.",
  "The {word} trip costs {n} less than last year, since {name} drives.",
  "Nobody may feed the {word} in the biology room, whatever {name} tells the children.",
  "School photographs are taken near the {word} hedge; {name} brings a ladder.",
];

/** A lesson of a class, with who stands in for its teacher. */
export interface Lesson {
  readonly name: string;
  readonly teacher: Fact;
  readonly room: Fact;
  stand?: Fact;
}

/** The page of a class. */
export function pageText(luck: Luck, name: string, lessons: readonly Lesson[]): string {
  const notes = (most: number): readonly string[] =>
    Array.from(
      { length: luck.between(1, most) },
      () => `<p class="${luck.word()}">${filler(luck, talk, luck.between(1, 5))}</p>`,
    );
  const row = ({ name: lesson, teacher, room }: Lesson): string => {
    const hours = `${luck.of(["Mon", "Tue", "Wed"])} ${luck.between(1, 7)}`;
    const cells = [lesson, plannedOf(teacher), plannedOf(room)].map((cell) => `<td>${cell}</td>`);
    return `<tr>${cells.join("")}<td class="hours">${hours}</td></tr>`;
  };
  return [
    "<!doctype html>",
    `<html><head><title>${luck.name()} School</title></head><body>`,
    `<h1>Class ${name}</h1>`,
    ...notes(6),
    "<table><tr><th>Lesson</th><th>Teacher</th><th>Room</th><th>Hours</th></tr>",
    ...lessons.map(row),
    "</table>",
    ...notes(14),
    "</body></html>",
  ].join("\n");
}

/** A staff list. */
export function staffText(luck: Luck, list: string, staff: readonly { name: string; extension: Fact }[]): string {
  const members = staff.map(({ name, extension }) => ({
    teacher: name,
    locker: luck.between(1, 400),
    extension: Number(plannedOf(extension)),
    hobby: luck.word(),
    ...(luck.chance(0.5) && { note: filler(luck, talk, 1) }),
  }));
  return JSON.stringify({ list: Number(list), members }, null, 2);
}

/** The roster of a week; its last row stands apart from the others. */
export function rosterText(luck: Luck, week: string, rows: readonly string[]): string {
  const head = [`ROSTER OF WEEK ${week}`, "", "     post          who                 badge"];
  const other = Array.from(
    { length: luck.between(12, 80) },
    () => `tidy ${luck.word().padEnd(14)}${luck.of(["Ms", "Mr"])} ${luck.name().padEnd(17)}${luck.word()}`,
  );
  return [...head, ...rows.slice(0, -1), ...other, rows.at(-1)].join("\n");
}
