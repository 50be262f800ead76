/** The sentences of the newsroom, and the reader of its agent. */
import type { Reading, Statement } from "./hand.ts";
import { readAll, Saying } from "./sayings.ts";

/** The figures that a story may have. */
export const figures = ["crowd", "damage", "turnout", "distance", "fine"] as const;

const quoted = String.raw`[\w -]+`;

/** A rule of spelling in a page of the style sheet. */
export const spelling = new Saying(
  "spelling {of}",
  [
    '[Readers have written in about it:] the paper writes {of} as "{value}"[, in captions too].',
    'Of all the forms of {of}, ours is "{value}"[; do not hyphenate].',
    'Use "{value}" for {of}[, however it came over the wire].',
  ],
  { value: quoted },
);

/** A rule of spelling that takes another's place. */
export const spellingAgain = new Saying(
  "spelling {of}",
  [
    '[- ]{of}: now "{value}"; "{old}" is retired.',
    '[- ]Changed: "{old}" gave way to "{value}" for {of}[ (#{n})].',
    '[- ]For {of}, "{value}" replaces "{old}"[; the readers won].',
  ],
  { value: quoted, old: quoted },
);

/** An exception to a rule of spelling. */
export const exception = new Saying(
  "spelling {of} on {desk}",
  [
    'On the {desk} desk, however, {of} is to be "{value}"[, as it always was there].',
    'There is one exception: the {desk} desk has {of} as "{value}"[, until further notice].',
    '[Leave the rule alone, but] let the {desk} desk print {of} as "{value}"[ all the same].',
  ],
  { value: quoted },
);

/** Corrections of a story's figures. */
export const figureAgain = new Saying(
  "{what} {of}",
  [
    "The {what} in {of} was a slip of mine: not {old} but {value}.",
    "Take {value} as the {what} of {of} instead of {old}[, and blame me].",
    "{who} has withdrawn the {what} that was wired on {of}; {old} is no longer to be used, {value} is.",
    "What {who} told you of the {what} in {of} is wrong, it is not {old}; it is {value}[, I asked twice].",
  ],
  { what: figures.join("|") },
);

/** The hour until which a story is held. */
export const embargo = new Saying("embargo {of}", [
  "[and so] {of} stays under embargo until {value}.",
  "The embargo on {of} ends at {value}[, not a minute before].",
  "Nobody is to see {of} before {value}[, lawyers included].",
]);

/** A new hour for a story. */
export const embargoAgain = new Saying("embargo {of}", [
  "The embargo on {of} now ends at {value}[, they rang again].",
  "{of} may go at {value} instead of {old}.",
  "Forget {old} for {of}, its hour is {value}.",
]);

/** The speaker whom the agent picked from a tape. */
export const picked = new Saying(
  "speaker {of}",
  ["For {of} I pick {value}, who speaks the longest.", "The longest quote on the tape of {of} is by {value}."],
  { value: String.raw`(?:Ms|Mr|Dr) \w+` },
);

/** The reader: XML by the story's id, receipts, and sentences. */
export const newsroomReading: Reading = (passage) => {
  if (passage.who === "call") return [];
  if (passage.who === "assistant") return picked.read(passage);
  const found: Statement[] = [];
  let story = /\bN-\d+/.exec(passage.title)?.[0];
  for (const line of passage.text.split("\n")) {
    story = /<(?:story|receipt)\b.*? (?:id|story)="(N-\d+)"/.exec(line)?.[1] ?? story;
    if (story === undefined) continue;
    const [, what, value] = /<figure name="(\w+)"[^>]*>(\d+)</.exec(line) ?? [];
    if (what !== undefined && value !== undefined) found.push({ key: `${what} ${story}`, value, yields: true });
    const [, byline] = /<byline>(.+?)<\/byline>/.exec(line) ?? [];
    if (byline !== undefined) found.push({ key: `byline ${story}`, value: byline });
    const [, code] = /<recall-code>(.+?)<\/recall-code>/.exec(line) ?? [];
    if (code !== undefined) found.push({ key: `code ${story}`, value: code });
  }
  return [...found, ...readAll(passage, [spelling, spellingAgain, exception, figureAgain, embargo, embargoAgain])];
};
