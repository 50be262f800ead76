/** Answers of chat completions. */
import { callId, event, pieces, stream, sum } from "./answer.ts";
import type { Answering, Shape } from "./answer.ts";
import type { Json } from "./json.ts";

const callsOf = (answering: Answering): readonly Json[] =>
  answering.reply.calls.map(({ name, args }, index) => ({
    id: callId("call_", answering, index),
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));

function usageOf({ usage }: Answering): Json {
  const input = sum(usage);
  return {
    prompt_tokens: input,
    completion_tokens: usage.output,
    total_tokens: input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.read },
  };
}

const baseOf = ({ model, nonce }: Answering, object: string): Json => ({
  id: `chatcmpl-${nonce}`,
  object,
  created: 1_780_000_000,
  model,
});

const stopOf = ({ reply }: Answering): string => (reply.calls.length > 0 ? "tool_calls" : "stop");

export const chat: Shape = {
  whole(answering) {
    const calls = callsOf(answering);
    const message = {
      role: "assistant",
      content: answering.reply.text,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return {
      ...baseOf(answering, "chat.completion"),
      choices: [{ index: 0, finish_reason: stopOf(answering), message }],
      usage: usageOf(answering),
    };
  },

  stream(answering) {
    const base = baseOf(answering, "chat.completion.chunk");
    const chunk = (delta: Json, finish_reason: string | null = null): string =>
      event(undefined, { ...base, choices: [{ index: 0, delta, finish_reason }] });
    const calls = callsOf(answering).flatMap((call, index) => {
      const { name, arguments: text } = call["function"] as { readonly name: string; readonly arguments: string };
      return [
        { index, id: call["id"], type: "function", function: { name, arguments: "" } },
        ...pieces(text).map((piece) => ({ index, function: { arguments: piece } })),
      ];
    });
    const frames = [
      ": keep-alive\n\n",
      chunk({ role: "assistant", content: "" }),
      ...pieces(answering.reply.text).map((content) => chunk({ content })),
      ...calls.map((call) => chunk({ tool_calls: [call] })),
      chunk({}, stopOf(answering)),
      ...(answering.tellsUsage ? [event(undefined, { ...base, choices: [], usage: usageOf(answering) })] : []),
      event(undefined, "[DONE]"),
    ];
    const error = { message: "Overloaded", type: "server_error", code: "overloaded" };
    return { contentType: stream, frames, cut: 3, error: [event(undefined, { error })], ping: ": ping\n\n" };
  },

  error: (_status, type, message, code) => ({ error: { message, type, param: null, code: code ?? null } }),
};
