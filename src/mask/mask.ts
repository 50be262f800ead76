/**
 * The mask before every sink: each string that a store writes passes it, and secrets become placeholders. A store takes
 * a {@link Mask} when it is made and applies it itself, so that nothing reaches the disk around it.
 */
import { createHmac, randomBytes } from "node:crypto";
import { WindrowError } from "../errors.ts";
import type { JsonObject, JsonValue, MaskFlag, Message, Part, ResultContent } from "../message/message.ts";
import type { NewRecord } from "../message/record.ts";
import { nearest } from "../nearest.ts";
import { shown } from "../shown.ts";
import { emailAddress } from "./rules.ts";
import type { MaskRule } from "./rules.ts";
import { askRule } from "./failures.ts";
import { createSeal } from "./seal.ts";
import type { Seal } from "./seal.ts";
import { finderOf, maskText, secretRules } from "./text.ts";
import type { Masked, SecretRules } from "./text.ts";
import { valueRules } from "./registered-values.ts";
import type { SecretValues } from "./registered-values.ts";

/** The rules and keys of a store's mask. Made by {@link createMask}. */
export interface Mask extends SecretRules {
  /**
   * A fingerprint by which equal secrets are recognised without being revealed. Without it, a flag has the kind alone.
   */
  readonly fingerprint?: (secret: string) => string;
  /** Keeps masked originals, encrypted, so that a resume with the same key restores them. */
  readonly seal?: Seal;
  /** Whether the live window shows the masked text of the log instead of the host's own. */
  readonly liveMask: boolean;
}

/** Options of {@link createMask}. */
export interface MaskOptions {
  /**
   * Also mask e-mail addresses as `[EMAIL]`. Default false: source code and logs are full of addresses that are no
   * secret.
   */
  readonly email?: boolean;
  /** Secrets that the host knows, by name, masked in every text: `{ DB_PASSWORD: "…" }` becomes `[DB_PASSWORD]`. */
  readonly values?: SecretValues;
  /** The rules for secrets of a known form. Default: {@link secretRules}. `[]` turns them off. */
  readonly rules?: readonly MaskRule[];
  /**
   * A key for the masked originals: at least 32 random characters (`openssl rand -base64 32`), best kept in the
   * environment (`WINDROW_SEAL_KEY`). The originals are then stored encrypted in their record, and a resume restores
   * them. Default: they are lost when the process ends.
   */
  readonly seal?: string;
  /** Show the model the masked text of the log, never the host's own. Default false. */
  readonly liveMask?: boolean;
}

/**
 * Makes a mask from options.
 *
 * @throws WindrowError `bad-option` for an option that is misspelled or of another kind, for a registered value that is too
 *   short, or a seal's key that is
 */
export function createMask(options: MaskOptions = {}): Mask {
  checkMaskOptions(options);
  const { email = false, values, rules = secretRules, seal, liveMask = false } = options;
  const sealed = seal === undefined ? undefined : createSeal(seal);
  const key = randomBytes(32);
  return {
    rules: values || email ? [...valueRules(values ?? {}), ...rules, ...(email ? [emailAddress] : [])] : rules,
    fingerprint:
      sealed?.fingerprint ?? ((secret) => createHmac("sha256", key).update(secret).digest("hex").slice(0, 16)),
    ...(sealed && { seal: sealed }),
    liveMask,
  };
}

const optionKinds = {
  email: ["true or false", (value) => typeof value === "boolean"],
  values: ["an object of secrets by name", (value) => isPlain(value)],
  rules: ["a list of rules", (value) => Array.isArray(value)],
  seal: ["a text", (value) => typeof value === "string"],
  liveMask: ["true or false", (value) => typeof value === "boolean"],
} as const satisfies Record<keyof MaskOptions, readonly [is: string, fits: (value: unknown) => boolean]>;

/** A misspelled option would leave secrets in clear, so none is passed over. */
function checkMaskOptions(options: unknown): void {
  if (!isPlain(options)) {
    throw new WindrowError("bad-option", `createMask takes an object of options, not ${shown(options)}.`);
  }
  const known = Object.keys(optionKinds);
  const wrong = Object.keys(options).find((name) => !known.includes(name));
  if (wrong !== undefined) {
    const message = `createMask has no option "${wrong}".${nearest(wrong, known)}`;
    throw new WindrowError("bad-option", message, { option: wrong, known });
  }
  for (const [option, [is, fits]] of Object.entries(optionKinds)) {
    const value: unknown = Reflect.get(options, option);
    if (value === undefined || fits(value)) continue;
    throw new WindrowError("bad-option", `createMask: \`${option}\` is ${is}, not ${shown(value)}.`, { option });
  }
}

/** Whether a value is an object that somebody wrote down: no list, no promise, no map. */
function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

/** Replaces the secrets in every string of a JSON value, keys included. Returns the same value when it is clean. */
export function maskJson<T extends JsonValue>(mask: SecretRules, value: T): T {
  return new Walk(mask).value(value) as T;
}

/**
 * Replaces the secrets in every string of a record, except provider bytes that must stay exact (`signature`, `opaque`,
 * the data of opaque parts) and base64 data, and flags what it replaced: `masks` of the message, or of any other record.
 * With a seal the originals go into `sealed`. Returns the same record when it is clean; never changes its input.
 */
export function maskRecord(mask: Mask, record: NewRecord): NewRecord {
  const { sealed: before, ...open } = record;
  const walk = new Walk(mask);
  const masked = walk.record(open as NewRecord);
  if (masked === open) return record;
  const masks = walk.flags(record.kind === "message" ? record.message.masks : record.masks);
  const flagged: NewRecord =
    masked.kind === "message" ? { ...masked, message: { ...masked.message, masks } } : { ...masked, masks };
  // An earlier seal refers to the text as it was then.
  if (!mask.seal || before !== undefined) return flagged;
  const spans = (text: string): readonly Masked[] => maskText(mask, text).masks;
  return { ...flagged, sealed: mask.seal.close(open as NewRecord, masked, spans) };
}

/** The walk of one value through the mask, with its finds. */
class Walk {
  readonly #mask: SecretRules & Pick<Partial<Mask>, "fingerprint">;
  readonly #flags = new Map<string, MaskFlag>();

  constructor(mask: SecretRules & Pick<Partial<Mask>, "fingerprint">) {
    this.#mask = mask;
  }

  /** The flags of all finds, each once, after the earlier flags. */
  flags(before: readonly MaskFlag[] = []): readonly MaskFlag[] {
    return [...before, ...this.#flags.values()];
  }

  record(record: NewRecord): NewRecord {
    if (record.kind !== "message") return this.value(record as unknown as JsonValue) as unknown as NewRecord;
    const message = this.#message(record.message);
    return message === record.message ? record : { ...record, message };
  }

  value(value: JsonValue): JsonValue {
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return mapChanged(value as readonly JsonValue[], (item) => this.value(item));
    const entries = Object.entries(value as JsonObject);
    const masked = mapChanged(entries, (entry) => {
      const key = this.#text(entry[0]);
      const item = this.#field(entry[0], entry[1]);
      return key === entry[0] && item === entry[1] ? entry : ([key, item] as [string, JsonValue]);
    });
    return masked === entries ? value : Object.fromEntries(distinctKeys(masked));
  }

  #text(text: string): string {
    const masked = maskText(this.#mask, text);
    for (const { start, length, kind, placeholder } of masked.masks) {
      this.#flag(kind, placeholder, text.slice(start, start + length));
    }
    return masked.text;
  }

  /** Masks a field whose name marks its value as secret. */
  #field(name: string, value: JsonValue): JsonValue {
    const masked = this.value(value);
    if (typeof value !== "string" || masked !== value) return masked;
    const { rules } = this.#mask;
    const isField = (one: MaskRule): boolean => one.isField?.(name, value) === true;
    const rule = finderOf(rules).fieldRules.find((one) => askRule(rules, one, () => isField(one), false));
    if (!rule) return value;
    this.#flag(rule.kind, rule.placeholder, value);
    return rule.placeholder;
  }

  #flag(kind: string, placeholder: string, secret: string): void {
    const fingerprint = this.#mask.fingerprint?.(secret);
    const flag = { kind, placeholder, ...(fingerprint !== undefined && { fingerprint }) };
    this.#flags.set(`${kind} ${placeholder} ${fingerprint ?? ""}`, flag);
  }

  #message(message: Message): Message {
    const { parts, masks, ...fields } = message;
    const maskedFields = this.value(fields as unknown as JsonValue) as unknown as typeof fields;
    const maskedParts = mapChanged(parts, (part) => this.#part(part));
    if (maskedFields === fields && maskedParts === parts) return message;
    return { ...maskedFields, parts: maskedParts, ...(masks && { masks }) };
  }

  #part<P extends Part | ResultContent>(part: P): P {
    if (part.type === "opaque") return part;
    const exact: Record<string, unknown> = {};
    const open: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(part)) (isExact(key, value) ? exact : open)[key] = value;
    let masked: Record<string, unknown>;
    if (part.type === "tool-result" && typeof part.content !== "string") {
      const { content: _content, ...rest } = open;
      const content = mapChanged(part.content, (item) => this.#part(item));
      const maskedRest = this.value(rest as JsonValue) as typeof rest;
      if (content === part.content && maskedRest === rest) return part;
      masked = { ...maskedRest, content };
    } else {
      masked = this.value(open as JsonValue) as typeof open;
      if (masked === open) return part;
    }
    return { ...masked, ...exact } as unknown as P;
  }
}

/** Whether a field must stay byte for byte: signatures, provider data, base64. */
function isExact(key: string, value: unknown): boolean {
  return (
    key === "signature" ||
    key === "opaque" ||
    key === "data" ||
    (key === "url" && typeof value === "string" && /^data:[^,]{0,200};base64,/i.test(value))
  );
}

/** Numbers keys of one object that became the same placeholder, so that both values stay. */
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
