/** Answers of generateContent, and of Ollama's chat. */
import { callId, event, pieces, stream, sum } from "./answer.ts";
import type { Answering, Shape } from "./answer.ts";
import type { Json } from "./json.ts";

function partsOf(answering: Answering): readonly Json[] {
  const { reply, nonce } = answering;
  return [
    ...pieces(reply.text).map((text) => ({ text })),
    ...reply.calls.map(({ name, args }, index) => ({
      functionCall: { id: callId("fc_", answering, index), name, args },
      // The first call of a step is the one that is signed.
      ...(index === 0 && { thoughtSignature: Buffer.from(nonce).toString("base64") }),
    })),
  ];
}

function chunkOf({ usage, model, nonce }: Answering, parts: readonly Json[], isLast: boolean): Json {
  const input = sum(usage);
  return {
    candidates: [{ content: { role: "model", parts }, ...(isLast && { finishReason: "STOP" }), index: 0 }],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: usage.read,
      candidatesTokenCount: usage.output,
      totalTokenCount: input + usage.output,
    },
    modelVersion: model,
    responseId: nonce,
  };
}

export const gemini: Shape = {
  whole: (answering) => chunkOf(answering, partsOf(answering), true),

  stream(answering) {
    const parts = partsOf(answering);
    const frames = parts.map((part, index) =>
      event(undefined, chunkOf(answering, [part], index === parts.length - 1)).replaceAll("\n", "\r\n"),
    );
    return {
      contentType: stream,
      frames,
      cut: Math.min(1, frames.length - 1),
      error: [event(undefined, gemini.error(503, "UNAVAILABLE", "Overloaded")).replaceAll("\n", "\r\n")],
      ping: "",
    };
  },

  error: (status, type, message) => ({ error: { code: status, message, status: type } }),
};

function chatOf({ reply, model }: Answering): Json {
  const calls = reply.calls.map(({ name, args }) => ({ function: { name, arguments: args } }));
  const message = { role: "assistant", content: reply.text, ...(calls.length > 0 && { tool_calls: calls }) };
  return { model, created_at: "2026-01-01T00:00:00Z", message };
}

const endOf = ({ usage }: Answering): Json => ({
  done: true,
  done_reason: "stop",
  prompt_eval_count: sum(usage),
  eval_count: usage.output,
});

export const ollama: Shape = {
  whole: (answering) => ({ ...chatOf(answering), ...endOf(answering) }),

  stream(answering) {
    const line = (value: Json): string => `${JSON.stringify(value)}\n`;
    const base = chatOf(answering);
    const { tool_calls } = base["message"] as Json;
    const said = (message: Json): string =>
      line({ ...base, message: { role: "assistant", content: "", ...message }, done: false });
    return {
      contentType: "application/x-ndjson",
      frames: [
        ...pieces(answering.reply.text).map((content) => said({ content })),
        ...(tool_calls === undefined ? [] : [said({ tool_calls })]),
        line({ ...base, message: { role: "assistant", content: "" }, ...endOf(answering) }),
      ],
      cut: 1,
      error: [line({ error: "Overloaded" })],
      ping: "",
    };
  },

  error: (_status, _type, message) => ({ error: message }),
};
