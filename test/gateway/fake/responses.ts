/** Answers of the Responses API. */
import { callId, event, pieces, stream, sum } from "./answer.ts";
import type { Answering, Shape } from "./answer.ts";
import type { Json } from "./json.ts";

function itemsOf(answering: Answering): readonly Json[] {
  const { reply, nonce, signature } = answering;
  if (reply.compaction) return [{ type: "compaction", id: `cmp_${nonce}`, encrypted_content: `sealed-${nonce}` }];
  const content = [{ type: "output_text", text: reply.text, annotations: [], logprobs: [] }];
  return [
    ...(signature === undefined
      ? []
      : [{ type: "reasoning", id: `rs_${nonce}`, summary: [], encrypted_content: signature }]),
    ...(reply.text === ""
      ? []
      : [{ type: "message", id: `msg_${nonce}`, role: "assistant", status: "completed", content }]),
    ...reply.calls.map(({ name, args }, index) => ({
      type: "function_call",
      id: callId("fc_", answering, index),
      call_id: callId("call_", answering, index),
      name,
      arguments: JSON.stringify(args),
      status: "completed",
    })),
  ];
}

function responseOf({ model, nonce }: Answering, status: string): Json {
  return { id: `resp_${nonce}`, object: "response", created_at: 1_780_000_000, status, model, output: [], usage: null };
}

function finished(answering: Answering): Json {
  const { usage } = answering;
  const input = sum(usage);
  return {
    ...responseOf(answering, "completed"),
    output: itemsOf(answering),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: usage.read },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + usage.output,
    },
  };
}

function grown(item: Json, output_index: number): readonly Json[] {
  const { type, id: item_id } = item;
  const at = { item_id, output_index };
  const end = { type: "response.output_item.done", output_index, item };
  const start = (first: Json): Json => ({
    type: "response.output_item.added",
    output_index,
    item: { ...item, ...first },
  });
  if (type === "function_call") {
    const text = item["arguments"] as string;
    return [
      start({ arguments: "", status: "in_progress" }),
      ...pieces(text).map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })),
      { type: "response.function_call_arguments.done", ...at, arguments: text },
      end,
    ];
  }
  if (type !== "message") return [start({}), end];
  const [part] = item["content"] as readonly Json[];
  const place = { ...at, content_index: 0 };
  const words = part!["text"] as string;
  return [
    start({ content: [], status: "in_progress" }),
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...pieces(words).map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
    { type: "response.output_text.done", ...place, text: words, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
    end,
  ];
}

const numbered = (events: readonly Json[], from = 0): readonly string[] =>
  events.map((data, index) => event(data["type"] as string, { ...data, sequence_number: from + index }));

export const responses: Shape = {
  whole: finished,

  stream(answering) {
    const opened = responseOf(answering, "in_progress");
    const events = [
      { type: "response.created", response: opened },
      { type: "response.in_progress", response: opened },
      ...itemsOf(answering).flatMap(grown),
      { type: "response.completed", response: finished(answering) },
    ];
    const cut = Math.max(4, events.findIndex(({ type }) => (type as string).endsWith("delta")) + 1);
    const error = { code: "server_is_overloaded", message: "Overloaded" };
    const failed = { ...responseOf(answering, "failed"), error };
    return {
      contentType: stream,
      frames: numbered(events),
      cut,
      error: numbered([{ type: "response.failed", response: failed }], cut),
      ping: ": ping\n\n",
    };
  },

  error: (_status, type, message, code) => ({ error: { message, type, param: null, code: code ?? null } }),
};
