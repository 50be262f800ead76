/** Odd histories as hosts keep them: in the shapes of four APIs, with what real clients leave in them. */
import type { JsonValue } from "../kit/inside/message.ts";
import type { Answer, Call, Happening } from "./odd-histories.ts";
import { signatureOf, told } from "./odd-histories.ts";

type Wire = Record<string, unknown>;
type Chat = Wire & { role: string };
type Content = { role: string; content: unknown };

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

/** A text, and a picture where there are media. */
const shown = (text: object, media: readonly unknown[], picture: object): readonly object[] =>
  media.length > 0 ? [text, picture] : [text];

export function anthropicOf(given: readonly Happening[]): readonly Content[] {
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
  const withPicture = (text: string, media: readonly unknown[]): unknown =>
    media.length > 0 ? shown({ type: "text", text }, media, picture) : text;
  return told<Content>(given, {
    said: (role, text, media) => ({ role, content: withPicture(text, media) }),
    orphan: ({ id, text }) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] }),
    results: (some) => ({
      role: "user",
      content: some.map(({ id, body, media, isError }) => ({
        ...{ type: "tool_result", tool_use_id: id },
        ...(body !== "" && { content: withPicture(body, isError ? [] : media) }),
        ...(isError !== undefined && { is_error: isError }),
      })),
    }),
    answer(one, at) {
      const signature = signatureOf("claude", at);
      const signed = { type: "thinking", thinking: "hm", signature };
      const thinking = one.reasoning === "signed" ? signed : { type: "redacted_thinking", data: signature };
      const text = one.text === "" ? [] : [{ type: "text", text: one.text }];
      const calls = one.calls.map(({ id, name, broken, args }) => ({
        type: "tool_use",
        id,
        name,
        input: broken ?? args,
      }));
      const whole = one.isWhole && {
        ...{ id: `msg_${at}`, type: "message", model: one.model, stop_reason: "end_turn", usage: { input_tokens: 1 } },
      };
      return [
        { role: "assistant", content: [...(isSigned(one, "claude") ? [thinking] : []), ...text, ...calls], ...whole },
      ];
    },
  });
}

export function chatOf(given: readonly Happening[]): readonly Chat[] {
  const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };
  const result = (id: string, content: string): Chat => ({ role: "tool", tool_call_id: id, content });
  return told<Chat | readonly Chat[]>(given, {
    said: (role, text, media) => ({
      ...{ role, content: media.length > 0 ? shown({ type: "text", text }, media, picture) : text },
    }),
    orphan: ({ id, text }) => result(id, text),
    results: (some) => some.map(({ id, body }) => result(id, body)),
    answer(one, at) {
      const calls = one.calls.map((call) => ({
        ...{ id: call.id, type: "function", function: { name: call.name, arguments: argumentsOf(call) } },
      }));
      return [
        {
          ...{ role: "assistant", content: one.text === "" && at % 2 === 0 ? null : one.text },
          ...(calls.length > 0 && { tool_calls: calls }),
          ...(one.reasoning !== "none" && one.model.startsWith("deepseek") && { reasoning_content: one.text }),
          ...(one.isWhole && { refusal: null, annotations: [] }),
        },
      ];
    },
  }).flat();
}

export function responsesOf(given: readonly Happening[]): readonly Wire[] {
  const picture = { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "auto" };
  const withPicture = (text: string, media: readonly unknown[]): unknown =>
    media.length > 0 ? shown({ type: "input_text", text }, media, picture) : text;
  const result = (id: string, output: unknown): Wire => ({ type: "function_call_output", call_id: id, output });
  return told<Wire | readonly Wire[]>(given, {
    said: (role, text, media) => ({ type: "message", role, content: withPicture(text, media) }),
    orphan: ({ id, text }) => result(id, text),
    results: (some) => some.map(({ id, body, media }) => result(id, withPicture(body, media))),
    answer(one, at) {
      const content = [{ type: "output_text", text: one.text, annotations: [] }];
      const sealed = { type: "reasoning", id: `rs_${at}`, summary: [], encrypted_content: signatureOf("gpt", at) };
      const said = { type: "message", id: `msg_${at}`, role: "assistant", status: "completed", content };
      const calls = one.calls.map((call, n) => ({
        ...{ type: "function_call", ...(one.isWhole && { id: `fc_${at}_${n}`, status: "completed" }) },
        ...{ call_id: call.id, name: call.name, arguments: argumentsOf(call) },
      }));
      return [...(isSigned(one, "gpt") ? [sealed] : []), ...(one.text === "" ? [] : [said]), ...calls];
    },
  }).flat();
}

export function geminiOf(given: readonly Happening[]): readonly { role: string; parts: readonly unknown[] }[] {
  const picture = { inlineData: { mimeType: "image/png", data: png } };
  // Most calls of this API have no id.
  const named = ({ id, name }: Call): Wire => ({ ...(id.startsWith("call_") && { id }), name });
  return told<{ role: string; parts: readonly unknown[] }>(given, {
    said: (role, text, media) => ({ role, parts: shown({ text }, media, picture) }),
    orphan: ({ text }) => ({
      ...{ role: "user", parts: [{ functionResponse: { name: "bash", response: { output: text } } }] },
    }),
    results: (some) => ({
      role: "user",
      parts: some.map((call) => ({
        functionResponse: { ...named(call), response: { [call.isError ? "error" : "output"]: call.body } },
      })),
    }),
    answer(one, at) {
      const signed = isSigned(one, "gemini") && { thoughtSignature: signatureOf("gemini", at) };
      const calls = one.calls.map((call, n) => ({
        ...{ functionCall: { ...named(call), args: parsed(call) }, ...(n === 0 && signed) },
      }));
      const thought = one.reasoning === "unsigned" ? [{ text: "hm", thought: true }] : [];
      const text = one.text === "" ? [] : [{ text: one.text, ...(calls.length === 0 && signed) }];
      return [{ role: "model", parts: [...thought, ...text, ...calls] }];
    },
  });
}
