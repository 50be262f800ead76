/** Tokens of a body by the counter that sessions use. */
import { loadCounter } from "windrow";
import type { Message } from "windrow";
import { countTools } from "windrow/testing";
import { anthropicMessages } from "../../kit/inside/gateway.ts";
import { countOnce } from "../../kit/inside/tokens.ts";
import { requestOf } from "./stage.ts";

const counter = await loadCounter("estimate");

export function tokensOf(bytes: Buffer): number {
  const request = requestOf(JSON.parse(bytes.toString()) as object);
  const messages = anthropicMessages.adapter.decode(request.messages.map(({ value }) => value));
  const system: Message = { id: "s", role: "system", parts: [{ type: "text", text: request.system ?? "" }] };
  const counted = [system, ...messages].reduce((sum, message) => sum + countOnce(counter, message), 0);
  return counted + countTools(counter, request.tools);
}
