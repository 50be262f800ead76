/** What the decoders share: narrowing of parsed JSON, ids, times, and messages without absent fields. */
import { parseJson } from "../message/json.ts";
import type { JsonObject, JsonValue, Message, NewMessage, Part, ResultContent, Usage } from "../message/message.ts";
import type { Entry, Transcript, TranscriptProblem } from "./transcript.ts";

/** How many entries `recognise` looks at. */
const headLength = 50;

/** The first entries of a source, which recognition is decided on. */
export function head(entries: readonly Entry[]): readonly Entry[] {
  return entries.slice(0, headLength);
}

/** The value when it is a JSON object. Parsed JSON holds nothing but JSON, so no deeper check is made. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The value when it is an array. */
export function asArray(value: unknown): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : undefined;
}

/** The value when it is a string. */
export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value when it is a string with something in it. */
export function asName(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value when it is a finite number from 0. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The objects of an array, in order; empty when there is no array. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return (asArray(value) ?? []).map(asObject).filter((item) => item !== undefined);
}

/** A time as ISO 8601 UTC, from ISO text or from milliseconds or seconds since 1970; anything else is no time. */
export function isoTime(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  // 1e11 ms is March 1973 and 1e11 s the year 5138: what is smaller was meant as seconds.
  const date = new Date(typeof value === "number" && value < 1e11 ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** An object without its undefined fields, as `exactOptionalPropertyTypes` wants it. */
export function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
}

/** The fields of an object that are not in `known`; undefined when there are none. */
export function restOf(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  const entries = Object.entries(object).filter(([key]) => !known.has(key));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Arguments of a call: JSON text is parsed; text that is no JSON, or too deep, stays in `argsText` beside `{}`. */
export function callArguments(value: JsonValue | undefined): { args: JsonValue; argsText?: string } {
  if (value === undefined || value === null || value === "") return { args: {} };
  if (typeof value !== "string") return { args: value };
  const args = parseJson(value);
  return args === undefined ? { args: {}, argsText: value } : { args };
}

/** An image part from a URL; a `data:` URL is taken apart into media type and base64. */
export function imageFromUrl(url: string): Extract<Part, { type: "image" }> {
  const inline = dataOfUrl(url);
  return inline ? { type: "image", ...inline } : { type: "image", mediaType: "image/*", url };
}

/** The media type and base64 of a `data:` URL; undefined for other URLs. */
export function dataOfUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const inline = /^data:([^;,]+)[^,]*;base64,/.exec(url.slice(0, 200));
  return inline?.[1] === undefined ? undefined : { mediaType: inline[1], data: url.slice(inline[0].length) };
}

/** What is left of a host's block beside the fields that were read, as a part's `opaque`. */
export function opaqueRest(block: JsonObject, known: readonly string[]): { opaque?: JsonValue } {
  const rest = restOf(block, new Set(known));
  return rest === undefined ? {} : { opaque: rest };
}

/** A part that is carried without being understood; its kind is `<format>/<type>`, its data the block as it came. */
export function opaquePart(block: JsonValue, format: string): Extract<Part, { type: "opaque" }> {
  return { type: "opaque", kind: `${format}/${asName(asObject(block)?.["type"]) ?? "value"}`, data: block };
}

/** The parts a tool result can hold; the others stand as opaque parts. */
export function resultContent(parts: readonly Part[]): readonly ResultContent[] {
  return parts.map((part) =>
    part.type === "reasoning" || part.type === "tool-call" || part.type === "tool-result"
      ? { type: "opaque", kind: `windrow/${part.type}`, data: { ...part } as unknown as JsonValue }
      : part,
  );
}

/** Text as parts: none for the empty text. */
export function textParts(text: string): readonly Part[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** Ids that are unique within one session: the wanted one where it is free, else numbered. */
export class UniqueIds {
  /** Every id taken, with the number its next copy gets. */
  readonly #taken = new Map<string, number>();
  #next = 1;

  /** @param wanted - the host's id; absent gives `m1`, `m2` … */
  take(wanted?: string): string {
    let id = wanted ?? this.#numbered();
    while (this.#taken.has(id)) id = wanted === undefined ? this.#numbered() : this.#copyOf(wanted);
    this.#taken.set(id, 2);
    return id;
  }

  #numbered(): string {
    return `m${this.#next++}`;
  }

  #copyOf(id: string): string {
    const copy = this.#taken.get(id) ?? 2;
    this.#taken.set(id, copy + 1);
    return `${id}#${copy}`;
  }
}

/** Pairs results with calls where the host gave no ids: such a result answers the oldest open call. */
export class CallPairing {
  readonly #open = new Map<string, string>();
  #next = 1;

  /** The id of a call, made up when the host gave none. */
  call(id: string | undefined, name: string): string {
    const callId = id ?? `call-${this.#next++}`;
    this.#open.set(callId, name);
    return callId;
  }

  /** The call a result answers, with the tool's name where the call told it. */
  result(id: string | undefined, name?: string): { callId: string; name?: string } {
    const callId = id ?? this.#oldest(name) ?? `call-${this.#next++}`;
    const known = name ?? this.#open.get(callId);
    this.#open.delete(callId);
    return known === undefined ? { callId } : { callId, name: known };
  }

  #oldest(name: string | undefined): string | undefined {
    for (const [id, of] of this.#open) if (name === undefined || of === name) return id;
    return undefined;
  }
}

/** The one transcript a decoder is filling. */
export class TranscriptBuilder {
  readonly ids = new UniqueIds();
  readonly calls = new CallPairing();
  readonly problems: TranscriptProblem[] = [];
  readonly messages: Message[] = [];

  /** Adds a message, with its id made unique. Returns its index. */
  add(message: NewMessage): number {
    return this.messages.push({ ...message, id: this.ids.take(message.id) }) - 1;
  }

  /** Notes a line that could not be read. */
  problem(line: number, problem: string): void {
    this.problems.push({ line, problem });
  }

  /** The finished transcript. `model` defaults to the one that wrote most assistant messages. */
  build(id: string, format: string, about: { model?: string | undefined; meta?: JsonObject } = {}): Transcript {
    const model = mostFrequent(this.messages.map((message) => message.model)) ?? about.model;
    return {
      id,
      format,
      ...(model === undefined ? {} : { model }),
      messages: this.messages,
      problems: this.problems,
      ...(about.meta === undefined || Object.keys(about.meta).length === 0 ? {} : { meta: about.meta }),
    };
  }
}

/** Usage as reported by hosts whose `input` leaves out what was read from and written to the cache. */
export function usageBesideCache(
  input: unknown,
  output: unknown,
  cacheRead: unknown,
  cacheWrite: unknown,
): Usage | undefined {
  const parts = [asCount(input), asCount(cacheRead), asCount(cacheWrite)];
  const whole = parts.every((part) => part === undefined)
    ? undefined
    : parts.reduce<number>((total, part) => total + (part ?? 0), 0);
  return usage({ input: whole, output: asCount(output), cacheRead: parts[1], cacheWrite: parts[2] });
}

/** Usage without absent fields; undefined when the provider reported nothing, or only zeros. */
export function usage(counts: { readonly [K in keyof Usage]: number | undefined }): Usage | undefined {
  return Object.values(counts).some((count) => count !== undefined && count > 0) ? defined(counts) : undefined;
}

function mostFrequent(values: readonly (string | undefined)[]): string | undefined {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((left, right) => right[1] - left[1])[0]?.[0];
}
