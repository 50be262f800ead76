/** Ids of calls as providers take them. An id that one would refuse is spelled anew, the same way wherever it stands. */
import { hashText } from "./hash.ts";
import type { Message, Part } from "./message.ts";

/** The ids that a provider takes. */
export interface CallIdForm {
  readonly pattern: RegExp;
  /** In characters. */
  readonly longest: number;
}

/** The forms of ids, each from the provider's documentation or from the words in which it refuses others. */
export const callIdForms = {
  /** "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'" (platform.claude.com/docs: tool use). */
  anthropic: { pattern: /^[a-zA-Z0-9_-]+$/, longest: 64 },
  /** "tool_calls[0].id: string too long. Expected a string with maximum length 40" (platform.openai.com/docs). */
  openaiChat: { pattern: /./, longest: 40 },
  /** "call_id: string too long. Expected a string with maximum length 64" (platform.openai.com/docs: responses). */
  openaiResponses: { pattern: /^[a-zA-Z0-9_-]+$/, longest: 64 },
} as const satisfies Readonly<Record<string, CallIdForm>>;

const hashLength = 11;

/** The id itself where a provider takes it; else its readable beginning and a hash. */
export function acceptedCallId(form: CallIdForm, id: string): string {
  if (isAccepted(form, id)) return id;
  const hash = hashText(id).toString(36).padStart(hashLength, "0");
  const readable = id.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, form.longest - hashLength - 1);
  return `${readable}_${hash}`;
}

/** Whether a provider takes an id. */
function isAccepted({ pattern, longest }: CallIdForm, id: string): boolean {
  return id.length <= longest && pattern.test(id);
}

/** Whether a provider takes the ids of all calls and results of a message. */
export function hasAcceptedIds(form: CallIdForm, { parts }: Message): boolean {
  return parts.every((part) => !isCallPart(part) || isAccepted(form, part.callId));
}

function isCallPart(part: Part): part is Extract<Part, { readonly callId: string }> {
  return part.type === "tool-call" || part.type === "tool-result";
}
