/** The sentences of the port, and the reader of its agent. */
import type { Reading, Statement } from "./hand.ts";
import { readAll, Saying } from "./sayings.ts";

const code = String.raw`[\w.]+(?<!\.)`;

/** What takes an old call's place, in a changelog. */
export const renamed = new Saying(
  "call {of}",
  [
    "[- ]`{of}` is gone; call `{value}` in its stead.",
    "[- ]Removed: `{of}` (use `{value}`)[, see #{n}].",
    "[- ]The old `{of}` was split up, and `{value}` does what it did.",
  ],
  { of: code, value: code },
);

/** A newer name for what took its place. */
export const renamedAgain = new Saying(
  "call {of}",
  [
    "[- ]What `{of}` became is no longer `{old}` but `{value}`.",
    "[- ]`{value}` replaces `{old}` as the heir of `{of}`[; sorry for the noise].",
    "[- ]Retracted: `{old}` in place of `{of}`; take `{value}`[ instead].",
  ],
  { of: code, old: code, value: code },
);

/** A ceiling in a comment of the code. */
export const ceiling = new Saying("ceiling {of}", [
  "{of} must stay at or below {value}[, the bus allows no more].",
  "NOTE({who}): ceiling of {of} = {value}[ on the old target].",
  "do not raise {of} over {value}[ without asking].",
]);

/** Another ceiling than the comment's. */
export const ceilingAgain = new Saying("ceiling {of}", [
  "The comment on {of} is out of date: the ceiling is not {old}; it is {value}.",
  "For {of}, the new target allows {value} instead of {old}[, says the vendor].",
  "{who} retracts the {old} for {of}; nothing over {value} is safe.",
]);

/** Another word on what a test wants. */
export const vectorAgain = new Saying("vector {of}", [
  "The simulator was wrong about vector {of}: it is not {old}; it is {value}.",
  "Vector {of} wants {value} instead of {old}[ since the errata].",
  "{who} takes back {old} for vector {of}, which has to be {value}.",
]);

/** Who reviews a module, said in passing. */
export const reviewer = new Saying(
  "reviewer {of}",
  [
    "[By the way,] {value} reviews {of}[ from now on].",
    "[And] send whatever touches {of} to {value}[, please].",
    "{of} is in the hands of {value}[ as far as reviews go].",
  ],
  { value: String.raw`(?:Ms|Mr) \w+` },
);

/** Which test the agent found to be the slowest. */
export const slowest = new Saying("slowest {of}", [
  "In {of} the slowest test is {value}.",
  "{value} is the test that takes longest in {of}.",
]);

const path = /\b[\w-]+\/[\w-]+\.\w+/;

/** The reader: lines of code by their file and name, own edits, test output, sentences in code and prose. */
export const portingReading: Reading = (passage) => {
  if (passage.who === "assistant") return slowest.read(passage);
  const found: Statement[] = [];
  if (passage.who === "call") {
    const edit = new Map(passage.text.split("\n").map((line) => [/^\w*/.exec(line)?.[0], line.replace(/^\w+: /, "")]));
    const [file, old, line] = ["path", "old_line", "new_line"].map((name) => edit.get(name));
    const name = /^const (\w+) =/.exec(line ?? "")?.[1];
    if (file === undefined || line === undefined || name === undefined) return [];
    if (old !== undefined) found.push({ key: `undo ${file} ${name}`, value: old });
    return [...found, { key: `line ${file} ${name}`, value: line }];
  }
  const file = path.exec(`${passage.who} ${passage.title}`)?.[0];
  const comments: string[] = [];
  for (const numbered of passage.text.split("\n")) {
    const line = numbered.replace(/^\s*\d+→/, "").trim();
    const name = /^const (\w+) = .*;/.exec(line)?.[1];
    if (file !== undefined && name !== undefined) found.push({ key: `line ${file} ${name}`, value: line });
    if (line.startsWith("//")) comments.push(line);
    const [, vector, wanted] = /\bvector (\w+): wanted (0x\w+)/.exec(line) ?? [];
    if (vector !== undefined && wanted !== undefined) found.push({ key: `vector ${vector}`, value: wanted });
    const [, raised, old, value] = /\b(\w+): comment allows (\d+), target stops at (\d+)/.exec(line) ?? [];
    if (raised !== undefined && old !== undefined && value !== undefined)
      found.push({ key: `ceiling ${raised}`, value, old });
  }
  const apart = { ...passage, text: comments.join("\n\n") };
  const ceilings = ceiling.read(apart).map((one) => ({ ...one, yields: true }));
  return [...found, ...ceilings, ...readAll(passage, [renamed, renamedAgain, ceilingAgain, vectorAgain, reviewer])];
};
