/**
 * The lines of epochs whose texts are copies: from an earlier epoch's texts and from messages of the log. Everything else
 * of such a line is complete (docs/format.md).
 */
import { asArray, asObject, sameJson, without } from "../../message/json.ts";
import { hashName, hashText } from "../../message/hash.ts";
import type { JsonObject, JsonValue, Message } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { Work } from "../../turns.ts";
import { copiedFrom, copiedText } from "./copied.ts";
import { copiesVersion, outlineOf } from "./record.ts";
import type { EpochData } from "./record.ts";
import type { Edit, Stub, TextMask } from "../window.ts";

/** The earlier lines that a line rests on, at most. */
export const mostLines = 15;

/** Least units of an epoch's texts that are said in copies. */
const leastTexts = 1_024;
/** Messages whose texts are made ready in one step. */
const messagesPerStep = 64;
/** The share of the texts that copies may cost; a line that costs more is complete. */
const mostShare = 0.7;

/** An epoch's line that the texts of a later one are copied from. */
export interface EpochBase {
  /** Its place in `edits.jsonl`. */
  readonly seq: number;
  /** The lines that it rests on, oldest first. */
  readonly lines: readonly number[];
  readonly edits: readonly Edit[];
  /** The conversation's state that it has. */
  readonly held: JsonObject | undefined;
}

/** The sources of an epoch's texts, beside the line itself. */
export interface EpochSources {
  /** The epoch that the newest of `lines` records; undefined where there are none. */
  readonly base: EpochData | undefined;
  /** The texts of messages, as {@link copiableText} has them, by `seq`. */
  readonly messages: ReadonlyMap<number, string>;
}

/** The texts of a line as it names them. */
export interface NamedTexts {
  /** The epochs' lines it rests on, oldest first. */
  readonly lines: readonly number[];
  /** The messages it copies from, by `seq`. */
  readonly messages: readonly number[];
}

/** The conditions under which texts become copies. */
export interface CopyConditions {
  /** The epoch recorded before; undefined where none can be copied from. */
  readonly base: EpochBase | undefined;
  /** The messages that stand in the log as they are given, unmasked. */
  readonly messages: readonly NumberedMessage[];
  /** A text that it changes is never said in pieces, and no piece may be one that it changes. */
  readonly mask: TextMask;
}

/** A line whose texts are copies, and what it rests on. */
export type LineInCopies = NamedTexts & { readonly record: EditRecord };

/** The line with its texts in copies, in steps; undefined where the complete one is as good. */
export function* lineInCopies(
  record: EditRecord,
  edits: readonly Edit[],
  { base: given, messages, mask }: CopyConditions,
): Work<LineInCopies | undefined> {
  const texts = textsOf(edits);
  if (texts.length < leastTexts || mask(texts) !== texts) return undefined;
  const base = given && given.lines.length < mostLines ? given : undefined;
  const sources = [base ? textsOf(base.edits) : ""];
  for (const { message } of messages) {
    sources.push(copiableText(message));
    if (sources.length % messagesPerStep === 0) yield;
  }
  const { copies, added, used } = yield* copiedFrom(texts, sources);
  const cost = added.reduce((sum, text) => sum + text.length + 3, copies.length);
  if (cost > mostShare * texts.length || added.some((text) => mask(text) !== text)) return undefined;
  const lines = base && used.includes(0) ? [...base.lines, base.seq] : [];
  const named = used.flatMap((index) => messages[index - 1]?.seq ?? []);
  const short = edits.map((edit, index) => inLengths(edit, asObject(asArray(record.data["edits"])?.[index]) ?? {}));
  const held = asObject(record.data["held"]);
  const same = lines.length > 0 ? sameFields(held, base?.held) : [];
  const data = {
    ...record.data,
    version: copiesVersion,
    ...(held && { held: without(held, ...same) }),
    edits: short,
    texts: {
      lines,
      messages: gapsOf(named),
      ...(same.length > 0 && { held: same }),
      hash: hashOf(texts, held),
      copies,
      added,
    },
  };
  return { record: { ...record, data }, lines, messages: named };
}

/** The lines and messages that an epoch's texts are copied from; undefined for a complete line and for what is none. */
export function textsNamed({ version, texts }: JsonObject): NamedTexts | undefined {
  const { lines, messages } = asObject(texts) ?? {};
  if (version !== copiesVersion || !isNumbers(lines) || !isNumbers(messages)) return undefined;
  let seq = 0;
  return { lines, messages: messages.map((gap) => (seq += gap)) };
}

/** Rising numbers as the distance of each from the one before. */
function gapsOf(numbers: readonly number[]): readonly number[] {
  return numbers.map((number, index) => number - (numbers[index - 1] ?? 0));
}

/** The epoch of a line in copies, complete; undefined where its sources are not what they were. */
export function epochFrom(data: JsonObject, { base, messages }: EpochSources): EpochData | undefined {
  const outline = outlineOf(data);
  const named = textsNamed(data);
  const { hash, copies, added, held: same = [] } = asObject(data["texts"]) ?? {};
  if (!outline || !named || typeof copies !== "string" || !isTexts(added) || !isTexts(same)) return undefined;
  const sources = base && named.lines.length > 0 ? [textsOf(base.state.edits)] : [];
  for (const seq of named.messages) sources.push(messages.get(seq) ?? "");
  const texts = copiedText({ copies, added }, sources);
  const held = outline.conversation && { ...outline.conversation, ...fieldsNamed(base?.conversation, same) };
  if (texts === undefined || hashOf(texts, held) !== hash) return undefined;
  const edits: Edit[] = [];
  let place = 0;
  const next = (length: unknown): string | undefined => {
    if (typeof length !== "number") return undefined;
    place += length;
    return texts.slice(place - length, place);
  };
  for (const [index, edit] of outline.state.edits.entries()) {
    const line = asObject(asArray(data["edits"])?.[index]) ?? {};
    const text = next(line["text"]);
    const listed = next(line["stubs"]);
    const stubs = listed === undefined ? undefined : stubsFrom(listed);
    edits.push({ ...edit, ...(text !== undefined && { text }), ...(stubs && { stubs }) });
  }
  return { ...outline, ...(held && { conversation: held }), state: { ...outline.state, edits } };
}

/** The hash of what a line does not say itself; the order of fields does not matter. */
function hashOf(texts: string, held: JsonObject | undefined): string {
  const fields = Object.entries(held ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  return hashName(hashText(JSON.stringify(fields), hashText(texts)));
}

/** The fields that two objects have alike. */
function sameFields(one: JsonObject | undefined, other: JsonObject | undefined): readonly string[] {
  if (!one || !other) return [];
  return Object.keys(one).filter((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]));
}

function fieldsNamed(object: JsonObject | undefined, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object ?? {}).filter(([name]) => names.includes(name)));
}

/**
 * The texts of a message as an epoch's line copies them: those of its text parts, of its calls' arguments and of its
 * results, each line as a digest quotes it: behind a space, without the number of a listing and white space at its end.
 */
export function copiableText(message: Message): string {
  const texts: string[] = [];
  for (const part of message.parts) {
    if (part.type === "text") texts.push(part.text);
    else if (part.type === "tool-call") stringsIn(part.args, texts);
    else if (part.type === "tool-result") {
      if (typeof part.content === "string") texts.push(part.content);
      else for (const item of part.content) if (item.type === "text") texts.push(item.text);
    }
  }
  return texts.map((text) => `${text.split("\n").map(quotedLine).join("\n")}\n`).join("");
}

function quotedLine(line: string): string {
  const bare = line.trimEnd().replace(/^[\t ]*\d+[\t→]/, "");
  return bare === "" ? "" : ` ${bare}`;
}

function stringsIn(value: JsonValue, texts: string[]): void {
  if (typeof value === "string") texts.push(value);
  else if (value !== null && typeof value === "object") for (const item of Object.values(value)) stringsIn(item, texts);
}

/** All texts of edits in one: of each its text, then what it names. */
function textsOf(edits: readonly Edit[]): string {
  return edits.map(({ text = "", stubs }) => `${text}${stubs ? (stubLines(stubs) ?? "") : ""}`).join("");
}

/** An edit's line with the lengths of its texts in their place. */
function inLengths({ text, stubs }: Edit, line: JsonObject): JsonObject {
  const listed = stubs && stubLines(stubs);
  return {
    ...line,
    ...(text !== undefined && { text: text.length }),
    ...(listed !== undefined && { stubs: listed.length }),
  };
}

/** Stubs as lines; undefined for those that lines do not give back. */
function stubLines(stubs: readonly Stub[]): string | undefined {
  const lines = stubs.map(({ id, count, tool, subject }) => `${id} ${count} ${tool} ${subject}`);
  const given = stubsFrom(lines.join("\n")) as unknown as JsonValue;
  return sameJson(given, stubs as unknown as JsonValue) ? lines.join("\n") : undefined;
}

const stubLine = /^(\S+) (\d+) (\S+) (.*)$/s;

function stubsFrom(listed: string): readonly Stub[] {
  if (listed === "") return [];
  return listed.split("\n").flatMap((line): readonly Stub[] => {
    const [, id = "", count = "", tool = "", subject = ""] = stubLine.exec(line) ?? [];
    return [{ tool, subject, id, count: Number(count) }];
  });
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item));
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
