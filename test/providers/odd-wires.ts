/** Odd histories as hosts keep them: in the shapes of four APIs, with what real clients leave in them. */
import type { JsonValue } from "../kit/inside/message.ts";
import type { Answer, Call, Happening } from "./odd-histories.ts";
import { signatureOf, told } from "./odd-histories.ts";

type Wire = Record<string, unknown>;

/** The text of a call's arguments, as chat and Responses have it. */
function argumentsOf({ args, broken }: Call): string {
  return broken ?? JSON.stringify(args);
}

function parsed({ args, broken }: Call): JsonValue {
  return broken === undefined ? args : {};
}

function isSigned({ reasoning, model }: Answer, family: string): boolean {
  return model.startsWith(family) && (reasoning === "signed" || reasoning === "redacted");
}

/** Pictures are those that every provider takes, so that a host's own request was once accepted. */
const png = "iVBORw0KGgo=";

export function anthropicOf(given: readonly Happening[]): readonly { role: string; content: unknown }[] {
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
  const result = ({ id, body, media, isError }: Call): Wire => ({
    type: "tool_result",
    tool_use_id: id,
    ...(body !== "" && { content: media.length > 0 && !isError ? [{ type: "text", text: body }, picture] : body }),
    ...(isError !== undefined && { is_error: isError }),
  });
  return told<{ role: string; content: unknown }>(given, {
    said: (text) => ({ role: "user", content: text }),
    results: (some, together) => {
      if (together && some.length > 0) return [{ role: "user", content: some.map(result) }];
      return some.map((call) => ({ role: "user", content: [result(call)] }));
    },
    spoken(one, at) {
      if (one.kind === "orphan")
        return [{ role: "user", content: [{ type: "tool_result", tool_use_id: one.id, content: one.text }] }];
      if (one.kind !== "answer") {
        const content =
          one.kind === "user" && one.media.length > 0 ? [{ type: "text", text: one.text }, picture] : one.text;
        return [{ role: one.kind, content }];
      }
      const signature = signatureOf("claude", at);
      const thinking = isSigned(one, "claude")
        ? [
            one.reasoning === "signed"
              ? { type: "thinking", thinking: "hm", signature }
              : { type: "redacted_thinking", data: signature },
          ]
        : [];
      const text = one.text === "" ? [] : [{ type: "text", text: one.text }];
      const calls = one.calls.map((call) => ({
        type: "tool_use",
        id: call.id,
        name: call.name,
        input: call.broken ?? call.args,
      }));
      const whole = one.isWhole && {
        id: `msg_${at}`,
        type: "message",
        model: one.model,
        stop_reason: "end_turn",
        usage: { input_tokens: 1 },
      };
      return [{ role: "assistant", content: [...thinking, ...text, ...calls], ...whole }];
    },
  });
}

export function chatOf(given: readonly Happening[]): readonly { role: string }[] {
  const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };
  return told<{ role: string }>(given, {
    said: (content) => ({ role: "user", content }) as { role: string },
    results: (some) => some.map(({ id, body }) => ({ role: "tool", tool_call_id: id, content: body })),
    spoken(one, at) {
      if (one.kind === "orphan") return [{ role: "tool", tool_call_id: one.id, content: one.text } as { role: string }];
      if (one.kind !== "answer") {
        const content =
          one.kind === "user" && one.media.length > 0 ? [{ type: "text", text: one.text }, picture] : one.text;
        return [{ role: one.kind, content } as { role: string }];
      }
      const calls = one.calls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: argumentsOf(call) },
      }));
      const whole = one.isWhole && { refusal: null, annotations: [] };
      return [
        {
          role: "assistant",
          content: one.text === "" && at % 2 === 0 ? null : one.text,
          ...(calls.length > 0 && { tool_calls: calls }),
          ...(one.reasoning !== "none" && one.model.startsWith("deepseek") && { reasoning_content: one.text }),
          ...whole,
        },
      ];
    },
  });
}

export function responsesOf(given: readonly Happening[]): readonly Wire[] {
  const picture = { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "auto" };
  return told<Wire>(given, {
    said: (content) => ({ role: "user", content }),
    results: (some) =>
      some.map(({ id, body, media }) => ({
        type: "function_call_output",
        call_id: id,
        output: media.length > 0 ? [{ type: "input_text", text: body }, picture] : body,
      })),
    spoken(one, at) {
      if (one.kind === "orphan") return [{ type: "function_call_output", call_id: one.id, output: one.text }];
      if (one.kind !== "answer") {
        const content =
          one.kind === "user" && one.media.length > 0 ? [{ type: "input_text", text: one.text }, picture] : one.text;
        return [{ type: "message", role: one.kind, content }];
      }
      const text = { type: "output_text", text: one.text, annotations: [] };
      const sealed = { type: "reasoning", id: `rs_${at}`, summary: [], encrypted_content: signatureOf("gpt", at) };
      const calls = one.calls.map((call, n) => ({
        type: "function_call",
        ...(one.isWhole && { id: `fc_${at}_${n}`, status: "completed" }),
        call_id: call.id,
        name: call.name,
        arguments: argumentsOf(call),
      }));
      return [
        ...(isSigned(one, "gpt") ? [sealed] : []),
        ...(one.text === ""
          ? []
          : [{ type: "message", id: `msg_${at}`, role: "assistant", status: "completed", content: [text] }]),
        ...calls,
      ];
    },
  });
}

export function geminiOf(given: readonly Happening[]): readonly { role: string; parts: readonly unknown[] }[] {
  const picture = { inlineData: { mimeType: "image/png", data: png } };
  const result = ({ id, name, body, isError }: Call): Wire => ({
    // Most calls of this API have no id.
    functionResponse: {
      ...(id.startsWith("call_") && { id }),
      name,
      response: { [isError ? "error" : "output"]: body },
    },
  });
  return told<{ role: string; parts: readonly unknown[] }>(given, {
    said: (text) => ({ role: "user", parts: [{ text }] }),
    results: (some, together) => {
      if (together && some.length > 0) return [{ role: "user", parts: some.map(result) }];
      return some.map((call) => ({ role: "user", parts: [result(call)] }));
    },
    spoken(one, at) {
      if (one.kind === "orphan")
        return [{ role: "user", parts: [{ functionResponse: { name: "bash", response: { output: one.text } } }] }];
      if (one.kind === "system") return [{ role: "system", parts: [{ text: one.text }] }];
      if (one.kind === "user")
        return [{ role: "user", parts: [{ text: one.text }, ...(one.media.length > 0 ? [picture] : [])] }];
      const signed = isSigned(one, "gemini") && { thoughtSignature: signatureOf("gemini", at) };
      const calls = one.calls.map((call, n) => ({
        functionCall: { ...(call.id.startsWith("call_") && { id: call.id }), name: call.name, args: parsed(call) },
        ...(n === 0 && signed),
      }));
      const thought = one.reasoning === "unsigned" ? [{ text: "hm", thought: true }] : [];
      const text = one.text === "" ? [] : [{ text: one.text, ...(calls.length === 0 && signed) }];
      return [{ role: "model", parts: [...thought, ...text, ...calls] }];
    },
  });
}
