/**
 * Reads parts from the JSON of a provider or host: arguments, images, opaque blocks, calls paired with results, usage.
 */
import { parseJson, asObject, asName, asCount, defined, fieldsOf, restOf } from "./json.ts";
import type { JsonObject, JsonValue, Part, ResultContent, ToolCallPart, Usage } from "./message.ts";

/** The arguments of a call. JSON text is parsed; text that is no JSON, or too deep, stays in `argsText` beside `{}`. */
export function callArguments(value: JsonValue | undefined): { args: JsonValue; argsText?: string } {
  if (value === undefined || value === null || value === "") return { args: {} };
  if (typeof value !== "string") return { args: value };
  const args = parseJson(value);
  return args === undefined ? { args: {}, argsText: value } : { args };
}

/** An image part from a URL. A `data:` URL is split into media type and base64. */
export function imageFromUrl(url: string): Extract<Part, { type: "image" }> {
  const inline = dataOfUrl(url);
  return inline ? { type: "image", ...inline } : { type: "image", mediaType: "image/*", url };
}

/** The media type and base64 of a `data:` URL; undefined for other URLs. */
export function dataOfUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const inline = /^data:([^;,]+)[^,]*;base64,/.exec(url.slice(0, 200));
  return inline?.[1] === undefined ? undefined : { mediaType: inline[1], data: url.slice(inline[0].length) };
}

/** The fields of a host's block that were not read, as a part's `opaque`. */
export function opaqueRest(block: JsonObject, known: readonly string[]): { opaque?: JsonValue } {
  const rest = restOf(block, new Set(known));
  return rest === undefined ? {} : { opaque: rest };
}

/** An opaque part. Its kind is `<format>/<type>`, and its data is the block as it came. */
export function opaquePart(block: JsonValue, format: string): Extract<Part, { type: "opaque" }> {
  return { type: "opaque", kind: `${format}/${asName(asObject(block)?.["type"]) ?? "value"}`, data: block };
}

/** The content of a tool result. Parts that a result cannot hold become opaque parts. */
export function resultContent(parts: readonly Part[]): readonly ResultContent[] {
  return parts.map((part) =>
    part.type === "reasoning" || part.type === "tool-call" || part.type === "tool-result"
      ? { type: "opaque", kind: `windrow/${part.type}`, data: { ...part } as unknown as JsonValue }
      : part,
  );
}

/** A text as parts: one text part, or none for the empty text. */
export function textParts(text: string): readonly Part[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** Pairs results with calls. A result without an id answers the oldest open call. */
export class CallPairing {
  readonly #open = new Map<string, string>();
  #next = 1;

  /** The id of a call, made up when the host gave none. */
  call(id: string | undefined, name: string): string {
    const callId = id ?? `call-${this.#next++}`;
    this.#open.set(callId, name);
    return callId;
  }

  /** The call that a result answers, with the tool's name when the call gave it. */
  result(id: string | undefined, name?: string): { callId: string; name?: string } {
    const callId = id ?? this.#oldest(name) ?? `call-${this.#next++}`;
    const known = name ?? this.#open.get(callId);
    this.#open.delete(callId);
    return known === undefined ? { callId } : { callId, name: known };
  }

  /** Forgets the calls that are open, where no result can follow them any more. */
  forget(): void {
    this.#open.clear();
  }

  #oldest(name: string | undefined): string | undefined {
    for (const [id, of] of this.#open) if (name === undefined || of === name) return id;
    return undefined;
  }
}

/** The thought signature a call came with, under its own name or an adapter's; undefined where it has none. */
export function thoughtSignature({ opaque }: ToolCallPart): string | undefined {
  const fields = fieldsOf(opaque);
  const found = [fields, ...Object.values(fields).map(fieldsOf)]
    .map(({ thoughtSignature: camel, thought_signature: snake }) => camel ?? snake)
    .find((value) => typeof value === "string" && value !== "");
  return found as string | undefined;
}

/** Usage from a host whose `input` excludes the tokens read from and written to the cache. */
export function usageBesideCache(
  input: unknown,
  output: unknown,
  cacheRead: unknown,
  cacheWrite: unknown,
  cacheWriteHour?: number,
): Usage | undefined {
  const parts = [asCount(input), asCount(cacheRead), asCount(cacheWrite)];
  const whole = parts.every((part) => part === undefined)
    ? undefined
    : parts.reduce<number>((total, part) => total + (part ?? 0), 0);
  return usage({
    input: whole,
    output: asCount(output),
    cacheRead: parts[1],
    cacheWrite: parts[2],
    cacheWriteHour,
  });
}

/** Tokens of Anthropic's usage that its cache keeps for an hour; undefined where it reports none. */
export function hourWrites(anthropic: unknown): number | undefined {
  return asCount(fieldsOf(fieldsOf(anthropic)["cache_creation"])["ephemeral_1h_input_tokens"]) || undefined;
}

/** Usage without absent fields; undefined when the provider reported nothing, or only zeros. */
export function usage(counts: { readonly [K in keyof Usage]: number | undefined }): Usage | undefined {
  return Object.values(counts).some((count) => count !== undefined && count > 0) ? defined(counts) : undefined;
}

/** The counts of a usage report that nobody checked: what is no number from 0 on is left out. */
export function countsOf(value: unknown): Usage {
  const { input, output, cacheRead, cacheWrite, cacheWriteHour, reasoning } = fieldsOf(value);
  return defined({
    input: asCount(input),
    output: asCount(output),
    cacheRead: asCount(cacheRead),
    cacheWrite: asCount(cacheWrite),
    cacheWriteHour: asCount(cacheWriteHour),
    reasoning: asCount(reasoning),
  });
}

/** The tokens that a call used: what was sent and what came back. */
export function usedTokens(usage: Usage): number {
  return (asCount(usage.input) ?? 0) + (asCount(usage.output) ?? 0);
}

/** Ids that are unique in one session: the wanted id when it is free, else a numbered copy. */
export class UniqueIds {
  /** The ids in use, each with the number of its next copy. */
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
