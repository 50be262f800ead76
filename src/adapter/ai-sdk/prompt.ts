/** Windows as prompts of the SDK's language models: the SDK makes a prompt of the messages that `prepareStep` returned. */
import { asArray, asObject, asString } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";
import type { AiSdkMessage } from "./message.ts";

/** A message, or one result of a tool message: the SDK joins neighbouring tool messages. */
interface Unit {
  readonly role: string;
  /** The message, or the part that is the result. */
  readonly value: object;
  /** The fields of a message that the SDK keeps in a prompt: the role, the texts, the ids of calls. */
  readonly said: string;
}

/** A message with its content in parts, as a prompt has it; the system prompt's excepted. */
export function inParts(message: AiSdkMessage): AiSdkMessage {
  const { role, content } = message;
  if (role === "system" || typeof content !== "string") return message;
  return { ...message, content: [{ type: "text", text: content }] };
}

/** Whether the SDK made a prompt of this window. */
export function isPromptOf(prompt: readonly AiSdkMessage[], window: readonly AiSdkMessage[]): boolean {
  const [made, given] = [unitsOf(prompt), unitsOf(window)];
  return given.length > 0 && made.length === given.length && made.every(({ said }, at) => said === given[at]?.said);
}

/**
 * Another window as the SDK would make a prompt of it: what both windows show is taken from the prompt, where the SDK has
 * put it into the model's form.
 *
 * @param prompt - that the SDK made of `window`
 */
export function promptOfSmaller(
  smaller: readonly AiSdkMessage[],
  window: readonly AiSdkMessage[],
  prompt: readonly AiSdkMessage[],
): readonly AiSdkMessage[] {
  const made = unitsOf(prompt);
  const known = new Map(unitsOf(window).map(({ value }, at) => [JSON.stringify(value), made[at]?.value]));
  const written = prompt.filter(({ role }) => role === "system");
  for (const { role, value } of unitsOf(smaller)) {
    const same = known.get(JSON.stringify(value));
    const last = written.at(-1);
    if (role !== "tool") written.push((same as AiSdkMessage | undefined) ?? inParts(value as AiSdkMessage));
    else if (last?.role !== "tool") written.push({ role, content: [same ?? value] });
    else written[written.length - 1] = { ...last, content: [...(last.content as readonly unknown[]), same ?? value] };
  }
  return written;
}

function unitsOf(messages: readonly AiSdkMessage[]): readonly Unit[] {
  return messages.flatMap((message): readonly Unit[] => {
    const { role, content } = message;
    if (role === "system") return [];
    const parts = asArray(inParts(message).content) ?? [];
    if (role !== "tool") return [{ role, value: message, said: JSON.stringify([role, ...parts.map(saidBy)]) }];
    return (content as readonly object[]).map((value, at) => ({ role, value, said: saidBy(parts[at] ?? null) }));
  });
}

function saidBy(part: JsonValue): string {
  const { text, toolCallId } = asObject(part) ?? {};
  return asString(toolCallId) ?? asString(text) ?? "";
}
