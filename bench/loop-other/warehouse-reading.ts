/** The sentences of the warehouse, and the reader of its agent. */
import { fieldsOf } from "./hand.ts";
import type { Reading, Statement } from "./hand.ts";
import { readAll, Saying } from "./sayings.ts";

/** The settings of a device, by their section and name. */
export const knobs = ["belt.speed", "belt.gap", "label.darkness", "scale.tare"] as const;

/** How a customer wants its pallets, said in passing. */
export const film = new Saying("film {of}", [
  "[They are particular:] pallets of customer {of} go into {value} film.",
  "Customer {of} will have nothing but {value} film[ around its pallets].",
  "[On the telephone they said that] {value} is the film for customer {of}.",
]);

/** Another wish of a customer. */
export const filmAgain = new Saying("film {of}", [
  "Customer {of} is tired of {old} film and wants {value} film[ from now on].",
  "No more {old} film for customer {of}, but {value}[; they pay for it].",
  "[I misheard.] It was {value}, not {old}, that customer {of} wants as film.",
]);

/** Another dock for an order. */
export const dockAgain = new Saying("dock {of}", [
  "{of} goes out by dock {value} instead of {old}.",
  "As of {day}, dock {old} is shut, so {of} leaves from dock {value}.",
  "[The carrier asks that] {of} has moved to dock {value}[, paperwork included].",
]);

/** A retraction of what a device's file says. */
export const knobAgain = new Saying(
  "{what} {of}",
  [
    "{who}, who looks after {of}, says that {what} is not {old}; it is {value}.",
    "The {what} of {of} was a slip in its file, {old} should read {value}.",
    "Run {of} with {what} at {value}, no longer at {old}[, until the fitter has been].",
  ],
  { what: knobs.join("|").replaceAll(".", String.raw`\.`) },
);

/** A count of an article that a person made. */
export const countAgain = new Saying("pieces {of}", [
  "I counted {of} myself: {value} pieces, not {old}.",
  "{who} withdraws the recount of {of}; there are {value} pieces of it instead of {old}.",
  "Of {of} we have {value} pieces, no longer {old}[: a box fell off the lift].",
]);

/** What the agent says of a sheet. */
export const tally = new Saying(
  "{kind} rows {of}",
  ["Sheet {of} has {value} rows of class {kind}.", "I counted {value} rows of class {kind} on sheet {of}."],
  { kind: "[a-z]" },
);

/** The reader: rows of tables by their article, INI by section and file, JSON by order, the scanner's lines, sentences. */
export const warehouseReading: Reading = (passage) => {
  if (passage.who === "call") return [];
  if (passage.who === "assistant") return tally.read(passage);
  const found: Statement[] = [];
  const title = `${passage.who} ${passage.title}`;
  const device = /devices\/([\w-]+)\.ini/.exec(title)?.[1];
  let order = /\bO-\d+/.exec(title)?.[0];
  let section = "";
  for (const line of passage.text.split("\n")) {
    if (line.startsWith("…")) section = "";
    section = /^\s*\[(\w+)\]/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*(\w+)\s*=\s*(\d+)/.exec(line) ?? [];
    if (device !== undefined && section !== "" && value !== undefined)
      found.push({ key: `${section}.${name} ${device}`, value, yields: true });
    const [, running, knob, asked, real] =
      /([\w-]+): ([\w.]+) (\d+) refused by the drive, running at (\d+)/.exec(line) ?? [];
    if (asked !== undefined && real !== undefined) found.push({ key: `${knob} ${running}`, value: real, old: asked });
    const cells = line.split("|").map((cell) => cell.trim());
    const at = cells.findIndex((cell) => /^A-\d+$/.test(cell));
    const [article = "", second = "", third = "", fourth = ""] = at < 0 ? [] : cells.slice(at);
    const was = /^was (\S+)$/.exec(fourth)?.[1];
    if (was !== undefined) found.push({ key: `${second} ${article}`, value: third, old: was });
    else if (/^[A-Z]-\d+$/.test(second) && /^\d+$/.test(third))
      found.push(
        { key: `bin ${article}`, value: second, yields: true },
        { key: `pieces ${article}`, value: third, yields: true },
      );
    if (passage.who !== "manifest" && passage.who !== "book_dock") continue;
    for (const [field, content] of fieldsOf(line)) {
      if (field === "order") order = content;
      else if (order !== undefined && (field === "dock" || field === "customer"))
        found.push({ key: `${field} ${order}`, value: content, yields: true });
      else if (order !== undefined && field === "barrier_code") found.push({ key: `code ${order}`, value: content });
    }
  }
  return [...found, ...readAll(passage, [film, filmAgain, dockAgain, knobAgain, countAgain])];
};
