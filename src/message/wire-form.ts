/** Ids of calls and names of tools as providers take them. What one would refuse is spelled anew, the same way everywhere. */
import { hashText } from "./hash.ts";
import { isObject } from "./json.ts";
import { withParts } from "./message.ts";
import type { JsonValue, Message, Part } from "./message.ts";

/** A text that a provider takes. */
interface Taken {
  readonly pattern: RegExp;
  /** In characters. */
  readonly longest: number;
}

/** The ids of calls and the names of tools that a provider takes. */
export interface WireForm {
  readonly callId: Taken;
  readonly toolName: Taken;
  /** Whether the arguments of a call are an object and nothing else. */
  readonly isObjectArgs?: boolean;
  /** Whether fields that the API does not know are refused, so that none that a host's message had goes out. */
  readonly isBare?: boolean;
}

const words: Taken = { pattern: /^[a-zA-Z0-9_-]+$/, longest: 64 };
const anyText: Taken = { pattern: /^\P{Cs}+$/u, longest: Infinity };
const anyJson: Taken = { pattern: /^\P{Cs}*$/u, longest: Infinity };

/** The forms of the providers, each from the documentation or from the words in which the provider refuses others. */
export const wireForms = {
  /** "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"; platform.claude.com/docs: tool use, for names. */
  anthropic: { callId: words, toolName: words, isObjectArgs: true },
  /** "tool_calls[0].id: string too long. Expected a string with maximum length 40"; platform.openai.com/docs, for names. */
  openaiChat: { callId: { ...anyText, longest: 40 }, toolName: words },
  /** "call_id: string too long. Expected a string with maximum length 64" (platform.openai.com/docs: responses). */
  openaiResponses: { callId: words, toolName: words },
  /** "Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores, dots, colons and dashes". */
  gemini: { callId: anyText, toolName: { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, longest: 64 }, isObjectArgs: true },
  /** "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9." (mistral-common); `extra_forbidden` for fields. */
  mistral: { callId: { pattern: /^[a-zA-Z0-9]{9}$/, longest: 9 }, toolName: words, isBare: true },
  /** Any text that JSON carries. */
  any: { callId: anyJson, toolName: anyJson },
} as const satisfies Readonly<Record<string, WireForm>>;

const hashLength = 11;

/** The id itself if the form takes it; otherwise its readable beginning and a hash, or the hash alone where ids are short. */
export function wireId({ callId: taken }: WireForm, id: string): string {
  if (isTaken(taken, id)) return id;
  const hash = hashText(id).toString(36).padStart(hashLength, "0");
  if (taken.longest < hashLength) return hash.slice(-taken.longest);
  const longest = Math.min(taken.longest, words.longest);
  return `${id.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, longest - hashLength - 1)}_${hash}`;
}

/** An id as the forms spell it; the id itself is among them. */
export function spellings(id: string): ReadonlySet<string> {
  return new Set(Object.values(wireForms).map((form) => wireId(form, id))).add(id);
}

/** The name itself if the form takes it; otherwise `_` stands for each sign that it does not take. */
export function wireName({ toolName: taken }: WireForm, name: string): string {
  if (isTaken(taken, name)) return name;
  const spelled = name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, words.longest);
  return isTaken(taken, spelled) ? spelled : `_${spelled}`.slice(0, words.longest);
}

function isTaken({ pattern, longest }: Taken, text: string): boolean {
  return text.length <= longest && pattern.test(text);
}

/** The message with the ids, names and arguments of its calls and results in a form; the very message if it takes them all. */
export function inForm(form: WireForm, message: Message): Message {
  const parts = message.parts.map((part) => partInForm(form, form.isBare ? withoutFields("opaque", part) : part));
  return withParts(form.isBare ? withoutFields("extra", message) : message, parts);
}

/** The host of the fields that go out in requests of this shape. */
const chat = "openai-chat";

/** A holder without the fields that a chat host had beside the known ones. */
function withoutFields<Holder extends object>(field: "extra" | "opaque", holder: Holder): Holder {
  const fields = (holder as Readonly<Record<string, JsonValue | undefined>>)[field];
  if (!isObject(fields) || !(chat in fields)) return holder;
  const { [chat]: _, ...rest } = fields;
  return { ...holder, [field]: rest };
}

function partInForm(form: WireForm, part: Part): Part {
  if (form.isBare && part.type === "opaque" && part.kind === `${chat}:audio`) return { type: "text", text: "[audio]" };
  if (part.type !== "tool-call" && part.type !== "tool-result") return part;
  const callId = wireId(form, part.callId);
  const name = part.name === undefined ? undefined : wireName(form, part.name);
  const mended =
    part.type === "tool-call" && form.isObjectArgs && !isObject(part.args) ? { args: { input: part.args } } : {};
  const isTaken = callId === part.callId && name === part.name && !("args" in mended);
  return isTaken ? part : { ...part, callId, ...(name !== undefined && { name }), ...mended };
}
