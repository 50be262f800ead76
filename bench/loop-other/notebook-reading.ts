/** The sentences of the laboratory, and the reader of its agent. */
import type { Reading, Statement } from "./hand.ts";
import { readAll, Saying } from "./sayings.ts";

/** The settings of a protocol: how people call them, and where its file has them. */
export const settings = [
  { what: "spin speed", section: "spin", field: "rpm", low: 1200, high: 9800 },
  { what: "spin time", section: "spin", field: "minutes", low: 3, high: 58 },
  { what: "heat", section: "heat", field: "degrees", low: 31, high: 94 },
  { what: "time in the heat", section: "heat", field: "minutes", low: 3, high: 58 },
  { what: "dilution", section: "mix", field: "parts", low: 12, high: 640 },
] as const;

/** Corrections of a protocol's file. */
export const setting = new Saying(
  "{what} {of}",
  [
    "As of {day}, the {what} of protocol {of} is {value} and no longer {old}[, whatever its file says].",
    "Protocol {of} does badly with a {what} of {old}; give it {value}.",
    "The {what} that is filed for protocol {of} is not {old}; it is {value}[, and has been for weeks].",
    "We settled on {value} instead of {old} as the {what} of protocol {of}.",
  ],
  { what: settings.map(({ what }) => what).join("|") },
);

/** The acidity of a buffer as an entry of the notebook has it. */
export const acidity = new Saying("pH {of}", [
  "Buffer {of} came to a pH of {value}[ at room temperature].",
  "For buffer {of} the meter gave {value}[ on two days running].",
  "[After some back and forth] buffer {of} was made up at pH {value}[ and put on the shelf].",
]);

/** What becomes of an acidity. */
export const acidityAgain = new Saying("pH {of}", [
  "{who} takes back what entry {n} has on buffer {of}: its pH is not {old} but {value}.",
  "The pH of {old} for buffer {of} was a slip of the pen, {value} is right[, says {who}].",
  "Entry {n} used a dry electrode; buffer {of} is at pH {value} and was never at {old}.",
]);

/** Where a sample lies, said in passing. */
export const freezer = new Saying("freezer {of}", [
  "[By the way,] sample {of} went into freezer {value}[, behind the old racks].",
  "[You will need it one day:] sample {of} is kept in freezer {value}.",
  "Freezer {value} is where sample {of} sleeps[, for want of a better place].",
]);

/** Where a sample lies now. */
export const freezerAgain = new Saying("freezer {of}", [
  "Sample {of} has moved to freezer {value}[, labels and all].",
  "Freezer {old} is being thawed, and sample {of} lies in freezer {value} now.",
  "Sample {of} is no longer in freezer {old}; look in freezer {value}.",
]);

/** What the agent says of an assay. */
export const strongest = new Saying("well {of}", [
  "The strongest well of {of} was {value}.",
  "I looked it over: of {of}, well {value} is the strongest.",
]);

/** The reader: TOML by section and the file's name, readouts by the sample, and sentences. */
export const notebookReading: Reading = (passage) => {
  if (passage.who === "call") return [];
  if (passage.who === "assistant") return strongest.read(passage);
  const found: Statement[] = [];
  const protocol = /protocols\/(\w+)\.toml/.exec(`${passage.who} ${passage.title}`)?.[1];
  let section = "";
  for (const line of passage.text.split("\n")) {
    if (line.startsWith("…")) section = "";
    section = /^\s*\[(\w+)\]/.exec(line)?.[1] ?? section;
    const [, field, number] = /^\s*(\w+) = (\d+)/.exec(line) ?? [];
    const one = settings.find((setting) => setting.section === section && setting.field === field);
    if (one && protocol !== undefined && number !== undefined)
      found.push({ key: `${one.what} ${protocol}`, value: number, yields: true });
    const [, sample, titre] = /titre of (S-\d+) *[:=] *(\d+)/.exec(line) ?? [];
    if (sample !== undefined && titre !== undefined) found.push({ key: `titre ${sample}`, value: titre });
    const [, again, old, value] = /\b(S-\d+): titre (\d+) -> (\d+)/.exec(line) ?? [];
    if (again !== undefined && old !== undefined && value !== undefined)
      found.push({ key: `titre ${again}`, value, old });
  }
  return [...found, ...readAll(passage, [acidity, acidityAgain, freezer, freezerAgain, setting])];
};
