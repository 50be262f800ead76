/** Lines of epochs whose texts are copies from the line before and from messages of the log (docs/format.md). */
import { asObject, objectsOf, parseJson, without } from "../../message/json.ts";
import { hashName, hashText } from "../../message/hash.ts";
import type { JsonObject, JsonValue, Message } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { Work } from "../../turns.ts";
import { copiedText, copiesOf, sourcesIn } from "./copies.ts";
import { copiesVersion } from "./record.ts";
import type { TextMask } from "../window.ts";

/** Lines that a line rests on, at most. */
export const mostLines = 31;

/** Least units of texts that become copies. */
const leastTexts = 1_024;
/** Messages whose texts are made ready in one step. */
const messagesPerStep = 64;

/** The line of an epoch that the texts of the next one are copied from. */
export interface EpochBase {
  /** Its place in `edits.jsonl`. */
  readonly seq: number;
  /** How many lines it rests on. */
  readonly depth: number;
  readonly texts: string;
}

/** The sources of an epoch's texts. */
export interface CopySources {
  readonly base: EpochBase | undefined;
  /** Messages that stand in the log as they are given. */
  readonly messages: readonly NumberedMessage[];
}

/** A line of an epoch as a source, by its place and its complete data. */
export function baseOf(seq: number, line: JsonObject, complete: JsonObject): EpochBase {
  return { seq, depth: copiesIn(line)?.depth ?? 0, texts: textsOf(complete) };
}

/** The texts of a complete line. */
function textsOf(complete: JsonObject): string {
  return takeTexts(complete).texts;
}

/**
 * A line with its texts in copies, in steps; the complete one where it is short, or where the mask would change a text of it,
 * whole or in pieces.
 */
export function* lineInCopies(record: EditRecord, { base, messages }: CopySources, mask: TextMask): Work<EditRecord> {
  const { texts, data } = takeTexts(record.data);
  if (texts.length < leastTexts || mask(texts) !== texts) return record;
  const rests = base && base.depth < mostLines ? base : undefined;
  const sources = new Map(rests && [[0, rests.texts]]);
  for (const { seq, message } of messages) {
    sources.set(seq, copiableText(message));
    if (sources.size % messagesPerStep === 0) yield;
  }
  const found = yield* copiesOf(texts, sources);
  // Whatever goes wrong with copies, the window comes back as it was.
  if (found.added.some((text) => mask(text) !== text) || copiedText(found, sources) !== texts) return record;
  const place = rests && sourcesIn(found.copies).has(0) && { base: rests.seq, depth: rests.depth + 1 };
  return {
    ...record,
    data: { ...data, version: copiesVersion, texts: { ...place, hash: hashName(hashText(texts)), ...found } },
  };
}

/** The copies of a line, and what they are from. */
interface LineCopies {
  /** The line that they rest on, by `seq`, and how many there are before it and with it. */
  readonly base: number | undefined;
  readonly depth: number;
  /** The messages that they are from, by `seq`. */
  readonly messages: readonly number[];
  readonly hash: JsonValue | undefined;
  readonly copies: string;
  readonly added: readonly string[];
}

/** The copies in a line; undefined for any other line. */
export function copiesIn({ version, texts }: JsonObject): LineCopies | undefined {
  const { base, depth = 0, hash, copies, added } = asObject(texts) ?? {};
  if (version !== copiesVersion || typeof copies !== "string" || !Array.isArray(added)) return undefined;
  const messages = [...sourcesIn(copies)].filter((source) => source !== 0);
  const literal = added.filter((text) => typeof text === "string");
  return {
    base: typeof base === "number" ? base : undefined,
    depth: Number(depth),
    messages,
    hash,
    copies,
    added: literal,
  };
}

/** The texts of any line of an epoch; undefined where the sources of its copies are not what they were. */
export function textsIn(line: JsonObject, sources: ReadonlyMap<number, string>): string | undefined {
  if (line["version"] !== copiesVersion) return textsOf(line);
  const copies = copiesIn(line);
  const texts = copies && copiedText(copies, sources);
  return texts === undefined || hashName(hashText(texts)) !== copies?.hash ? undefined : texts;
}

/** The long fields of an epoch's data in one text, and the data with their lengths in their place. */
function takeTexts({ held, edits, ...data }: JsonObject): { readonly texts: string; readonly data: JsonObject } {
  let texts = "";
  const take = (fields: JsonObject, ...names: readonly string[]): JsonObject => {
    const lengths = names.flatMap((name) => {
      const value = fields[name];
      if (value === undefined) return [];
      const text = typeof value === "string" ? value : JSON.stringify(value);
      texts += text;
      return [[name, text.length]];
    });
    return { ...fields, ...Object.fromEntries(lengths) };
  };
  const short = objectsOf(edits).map((edit) => take(edit, "text", "stubs"));
  return { data: { ...data, edits: short, ...take(held === undefined ? {} : { held }, "held") }, texts };
}

/** The data of any line of an epoch, complete, by its texts. */
export function completeData(line: JsonObject, texts: string): JsonObject {
  if (line["version"] !== copiesVersion) return line;
  const { held, edits, ...data } = without(line, "texts");
  let place = 0;
  const next = (length: JsonValue | undefined): string => texts.slice(place, (place += Number(length)));
  const put = (edit: JsonObject): JsonObject => ({
    ...edit,
    ...(edit["text"] !== undefined && { text: next(edit["text"]) }),
    ...(edit["stubs"] !== undefined && { stubs: parseJson(next(edit["stubs"])) ?? [] }),
  });
  const whole = objectsOf(edits).map(put);
  return { ...data, version: 1, edits: whole, ...(held !== undefined && { held: parseJson(next(held)) ?? {} }) };
}

/**
 * The texts of a message as an epoch's line copies them: those of its text parts, of its calls' arguments and of its
 * results, each line as a digest quotes it: behind a space, without the number of a listing and white space at its end.
 */
export function copiableText(message: Message): string {
  const texts = message.parts.flatMap((part): readonly string[] => {
    if (part.type === "text") return [part.text];
    if (part.type === "tool-call") return stringsIn(part.args);
    if (part.type !== "tool-result") return [];
    if (typeof part.content === "string") return [part.content];
    return part.content.flatMap((item) => (item.type === "text" ? [item.text] : []));
  });
  return texts.map((text) => `${text.split("\n").map(quotedLine).join("\n")}\n`).join("");
}

function quotedLine(line: string): string {
  const bare = line.trimEnd().replace(/^[\t ]*\d+[\t→]/, "");
  return bare === "" ? "" : ` ${bare}`;
}

function stringsIn(value: JsonValue): readonly string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [];
}
