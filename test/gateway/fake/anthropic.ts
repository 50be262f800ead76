/** Answers of the Messages API. */
import { callId, event, pieces, stream } from "./answer.ts";
import type { Answering, Shape } from "./answer.ts";
import type { Json } from "./json.ts";

const thought = "The next file is the one to read.";

function blocksOf(answering: Answering): readonly Json[] {
  const { reply, signature } = answering;
  return [
    ...(signature === undefined ? [] : [{ type: "thinking", thinking: thought, signature }]),
    ...(reply.text === "" ? [] : [{ type: "text", text: reply.text }]),
    ...reply.calls.map(({ name, args }, index) => {
      return { type: "tool_use", id: callId("toolu_", answering, index), name, input: args };
    }),
  ];
}

function messageOf({ model, nonce, usage }: Answering): Json {
  return {
    id: `msg_${nonce}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.fresh,
      cache_creation_input_tokens: usage.written,
      cache_read_input_tokens: usage.read,
      output_tokens: 1,
    },
  };
}

/** The field that tells of edits; absent where the request asked for none. */
const editsOf = ({ applied = [] }: Answering): Json =>
  applied.length > 0 ? { context_management: { applied_edits: applied } } : {};

const stopOf = ({ reply }: Answering): string => (reply.calls.length > 0 ? "tool_use" : "end_turn");

/** A block's first form, and the deltas that fill it. */
function grown(block: Json): { readonly start: Json; readonly deltas: readonly Json[] } {
  if (block["type"] === "thinking") {
    const { thinking, signature } = block as { readonly thinking: string; readonly signature: string };
    const words = pieces(thinking).map((piece) => ({ type: "thinking_delta", thinking: piece }));
    return {
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [...words, { type: "signature_delta", signature }],
    };
  }
  if (block["type"] === "text") {
    const deltas = pieces(block["text"] as string).map((text) => ({ type: "text_delta", text }));
    return { start: { type: "text", text: "" }, deltas };
  }
  const deltas = pieces(JSON.stringify(block["input"])).map((partial_json) => ({
    type: "input_json_delta",
    partial_json,
  }));
  return { start: { ...block, input: {} }, deltas: [{ type: "input_json_delta", partial_json: "" }, ...deltas] };
}

const named = (data: Json): string => event(data["type"] as string, data);

export const anthropic: Shape = {
  whole(answering) {
    const message = messageOf(answering);
    return {
      ...message,
      content: blocksOf(answering),
      stop_reason: stopOf(answering),
      ...editsOf(answering),
      usage: { ...(message["usage"] as Json), output_tokens: answering.usage.output },
    };
  },

  stream(answering) {
    const content = blocksOf(answering).flatMap((block, index) => {
      const { start, deltas } = grown(block);
      return [
        { type: "content_block_start", index, content_block: start },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ];
    });
    const frames = [
      { type: "message_start", message: messageOf(answering) },
      { type: "ping" },
      ...content,
      {
        type: "message_delta",
        delta: { stop_reason: stopOf(answering), stop_sequence: null },
        usage: { output_tokens: answering.usage.output },
        ...editsOf(answering),
      },
      { type: "message_stop" },
    ];
    return {
      contentType: stream,
      frames: frames.map(named),
      cut: 4,
      error: [named({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })],
      ping: named({ type: "ping" }),
    };
  },

  error: (_status, type, message) => ({ type: "error", error: { type, message }, request_id: "req_fake" }),
};
