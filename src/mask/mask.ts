/**
 * The one funnel before any sink: every string a store keeps passes here, and secrets become placeholders. A store
 * takes a {@link Mask} when it is made and applies it itself, so that nothing reaches a disk around it.
 */
import type { JsonObject, JsonValue, Message, Part, ResultContent } from "../message/message.ts";
import type { NewRecord } from "../message/record.ts";
import { emailAddress, tokenRules } from "./rules.ts";
import type { MaskRule, Span } from "./rules.ts";

/** The rules a store masks by. */
export interface Mask {
  readonly rules: readonly MaskRule[];
}

/** A secret that was found: where it stood in the text as it came, in UTF-16 code units. */
export interface Masked extends Span {
  /** The rule's kind: `github-token`. */
  readonly kind: string;
}

/** A text with its secrets replaced. */
export interface MaskedText {
  readonly text: string;
  /** In order; empty for a clean text. */
  readonly masks: readonly Masked[];
}

/**
 * Makes a mask.
 *
 * @param options.email - also mask e-mail addresses as `[EMAIL]` (seed 001 §3.3). Default false: source code and logs
 *   are full of addresses that are no secret.
 * @param options.rules - the token rules. Default: GitHub, OpenAI and GitLab tokens; `[]` masks nothing.
 */
export function createMask(options: { readonly email?: boolean; readonly rules?: readonly MaskRule[] } = {}): Mask {
  const rules = options.rules ?? tokenRules;
  return { rules: options.email === true ? [...rules, emailAddress] : rules };
}

/**
 * Replaces the secrets in a text. Where two rules claim the same place, the earlier start wins, then the longer span.
 */
export function maskText(mask: Mask, text: string): MaskedText {
  if (!keywordsOf(mask.rules).test(text)) return { text, masks: [] };
  const found: (Masked & { readonly placeholder: string })[] = [];
  for (const rule of mask.rules) {
    if (!rule.keywords.some((keyword) => text.includes(keyword))) continue;
    for (const span of rule.find(text)) found.push({ ...span, kind: rule.kind, placeholder: rule.placeholder });
  }
  if (found.length === 0) return { text, masks: [] };
  found.sort((a, b) => a.start - b.start || b.length - a.length);
  const masks: Masked[] = [];
  let masked = "";
  let done = 0;
  for (const { start, length, kind, placeholder } of found) {
    if (start < done) continue;
    masked += text.slice(done, start) + placeholder;
    done = start + length;
    masks.push({ kind, start, length });
  }
  return { text: masked + text.slice(done), masks };
}

/** Replaces the secrets in every string of a JSON value, keys included. Returns the same value when it is clean. */
export function maskJson<T extends JsonValue>(mask: Mask, value: T): T {
  return walk(mask, value) as T;
}

/**
 * Replaces the secrets in every string of a record, except provider bytes that must stay exact (`signature`, `opaque`,
 * the data of opaque parts) and base64 data. Returns the same record when it is clean; never changes its input.
 */
export function maskRecord(mask: Mask, record: NewRecord): NewRecord {
  if (record.kind !== "message") return walk(mask, record as unknown as JsonValue) as unknown as NewRecord;
  const message = maskMessage(mask, record.message);
  return message === record.message ? record : { ...record, message };
}

const keywordPatterns = new WeakMap<readonly MaskRule[], RegExp>();

/** All keywords as one pattern: a clean text, the usual one, is looked at once and not once for each rule. */
function keywordsOf(rules: readonly MaskRule[]): RegExp {
  const known = keywordPatterns.get(rules);
  if (known) return known;
  const keywords = rules.flatMap((rule) => rule.keywords.map((word) => word.replaceAll(/[^\w\s-]/g, String.raw`\$&`)));
  const pattern = new RegExp(keywords.length === 0 ? "(?!)" : keywords.join("|"));
  keywordPatterns.set(rules, pattern);
  return pattern;
}

function maskMessage(mask: Mask, message: Message): Message {
  const { parts, ...fields } = message;
  const maskedFields = walk(mask, fields as unknown as JsonValue) as unknown as typeof fields;
  const maskedParts = mapChanged(parts, (part) => maskPart(mask, part));
  return maskedFields === fields && maskedParts === parts ? message : { ...maskedFields, parts: maskedParts };
}

function maskPart<P extends Part | ResultContent>(mask: Mask, part: P): P {
  if (part.type === "opaque") return part;
  const exact: Record<string, unknown> = {};
  const open: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(part)) (isExact(key, value) ? exact : open)[key] = value;
  let masked: Record<string, unknown>;
  if (part.type === "tool-result" && typeof part.content !== "string") {
    const { content: _content, ...rest } = open;
    const content = mapChanged(part.content, (item) => maskPart(mask, item));
    const maskedRest = walk(mask, rest as JsonValue) as typeof rest;
    if (content === part.content && maskedRest === rest) return part;
    masked = { ...maskedRest, content };
  } else {
    masked = walk(mask, open as JsonValue) as typeof open;
    if (masked === open) return part;
  }
  return { ...masked, ...exact } as unknown as P;
}

/** Signatures, provider bytes and base64 are handed back byte for byte or are worth nothing. */
function isExact(key: string, value: unknown): boolean {
  return (
    key === "signature" ||
    key === "opaque" ||
    key === "data" ||
    (key === "url" && typeof value === "string" && value.startsWith("data:"))
  );
}

function walk(mask: Mask, value: JsonValue): JsonValue {
  if (typeof value === "string") return maskText(mask, value).text;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return mapChanged(value as readonly JsonValue[], (item) => walk(mask, item));
  const entries = Object.entries(value as JsonObject);
  const masked = mapChanged(entries, (entry) => {
    const key = maskText(mask, entry[0]).text;
    const item = walk(mask, entry[1]);
    return key === entry[0] && item === entry[1] ? entry : ([key, item] as [string, JsonValue]);
  });
  return masked === entries ? value : Object.fromEntries(distinctKeys(masked));
}

/** Two secrets used as keys of one object become the same placeholder; both values are kept. */
function distinctKeys(entries: readonly (readonly [string, JsonValue])[]): readonly (readonly [string, JsonValue])[] {
  const used = new Set<string>();
  return entries.map(([key, value]) => {
    let distinct = key;
    for (let count = 2; used.has(distinct); count += 1) distinct = `${key}#${count}`;
    used.add(distinct);
    return [distinct, value] as const;
  });
}

function mapChanged<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  let changed: T[] | undefined;
  items.forEach((item, index) => {
    const next = change(item);
    if (next !== item) {
      changed ??= [...items];
      changed[index] = next;
    }
  });
  return changed ?? items;
}
