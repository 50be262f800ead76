/** The prompts that Mastra makes of its messages, without what only Mastra reads: the same in every step and every run. */
import type { AiSdkMessage } from "../ai-sdk/message.ts";

/** A message of a prompt: `LanguageModelV2Prompt` is an array of these. */
export type MastraMessage = AiSdkMessage;

/** A prompt taken apart. */
export interface MastraPrompt {
  /** Its leading system messages, which Mastra writes anew for every step. */
  readonly system: readonly MastraMessage[];
  /** All others, one message for each tool result. */
  readonly messages: readonly MastraMessage[];
}

/** Takes a prompt apart. */
export function readPrompt(prompt: readonly MastraMessage[]): MastraPrompt {
  const first = prompt.findIndex(({ role }) => role !== "system");
  const from = first === -1 ? prompt.length : first;
  return { system: prompt.slice(0, from), messages: prompt.slice(from).flatMap(eachResult) };
}

/** Puts one together again: neighbouring results are one message, as providers want them. */
export function writePrompt({ system, messages }: MastraPrompt): MastraMessage[] {
  const written: MastraMessage[] = [...system];
  for (const message of messages) {
    const last = written.at(-1);
    const [before, added] = [last?.content, message.content];
    if (last?.role === "tool" && message.role === "tool" && Array.isArray(before) && Array.isArray(added)) {
      written[written.length - 1] = { ...last, content: [...(before as unknown[]), ...(added as unknown[])] };
    } else written.push(message);
  }
  return written;
}

/** The text of system messages. */
export function systemText(system: readonly MastraMessage[]): string {
  return system.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content))).join("\n");
}

function eachResult(message: MastraMessage): readonly MastraMessage[] {
  const own = withoutOwn(message);
  if (!Array.isArray(own.content)) return [own];
  const parts = (own.content as readonly object[]).map((part) => withoutOwn(part));
  if (own.role !== "tool") return [{ ...own, content: parts }];
  return parts.map((part) => {
    const { input: _input, ...result } = part as { readonly input?: unknown };
    return { ...own, content: [result] };
  });
}

/** A message or part without Mastra's own options: when it was made, for example. */
function withoutOwn<T extends object>(value: T): T {
  const { providerOptions, ...rest } = value as { readonly providerOptions?: Readonly<Record<string, unknown>> };
  if (providerOptions?.["mastra"] === undefined) return value;
  const { mastra: _mastra, ...others } = providerOptions;
  return { ...rest, ...(Object.keys(others).length > 0 && { providerOptions: others }) } as T;
}
