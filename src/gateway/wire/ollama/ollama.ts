/** Ollama's own chat API on the wire: lines of JSON, and calls without ids. */
import type { Adapter } from "../../../adapter/adapter.ts";
import { chatAdapter } from "../../../adapter/chat/chat.ts";
import { asCount, asName, defined, fieldsOf, objectsOf } from "../../../message/json.ts";
import type { JsonObject, ToolDefinition } from "../../../message/message.ts";
import { inPlace, ollama } from "../../../window/provider/profile.ts";
import type { WireApi, WireRequest } from "../../gateway.ts";
import { readAnswer } from "../answer.ts";
import { readBody, writeBody } from "../body.ts";
import { chatValue, spokenChat, withoutChatReasoning } from "../chat/value.ts";
import { claimsOf } from "../claims.ts";
import { saysSame } from "../echo.ts";
import { isOverflow } from "../faults.ts";
import { fixedBy, hasItems, kindOf, lastTextOf } from "../kind.ts";
import { OllamaAnswer } from "./answer.ts";

const shape = { name: "ollama", list: "messages", value: chatValue };

/** Ollama's `/api/chat`; an answer is streamed unless the request says that it is not. */
export const ollamaApi: WireApi = {
  name: "ollama",
  profile: inPlace(ollama),
  adapter: chatAdapter as unknown as Adapter<JsonObject>,
  matches: (method, path) => method === "POST" && /^[^?]*\/api\/chat\/?(\?|$)/.test(path),
  read(call) {
    const body = readBody(call, shape);
    if (!body) return undefined;
    const { fields, messages } = body;
    const claims = claimsOf(call.headers, fields);
    const most = asCount(fieldsOf(fields["options"])["num_predict"]);
    return defined({
      api: ollamaApi,
      call,
      kind: kindOf({
        client: claims.client,
        hasTools: hasItems(fields["tools"]),
        hasSchema: (fields["format"] ?? "") !== "",
        messageCount: messages.length,
        lastUserText: lastTextOf(messages.at(-1)?.value),
      }),
      claims,
      model: asName(fields["model"]),
      maxOutput: most === 0 ? undefined : most,
      isStream: fields["stream"] !== false,
      tools: objectsOf(fields["tools"]).flatMap(definitionOf),
      messages,
      // A request without messages loads a model, or unloads it.
      fixed: fixedBy(call.headers, fields) ?? (messages.length === 0 ? "no messages" : undefined),
    }) satisfies WireRequest;
  },
  write: (request, messages) => writeBody(request, shape.list, messages),
  reader: (_status, headers) => readAnswer(headers, new OllamaAnswer()),
  isEcho: (sent, answer) => sent["role"] === "assistant" && saysSame(spokenChat(sent), spokenChat(answer)),
  withoutReasoning: withoutChatReasoning,
  isPrefixFault: () => false,
  isOverflow,
  fault: (_status, message) => ({ contentType: "application/json", body: JSON.stringify({ error: message }) }),
};

function definitionOf(tool: JsonObject): readonly ToolDefinition[] {
  const inner = fieldsOf(tool["function"]);
  const name = asName(inner["name"]);
  if (name === undefined) return [];
  return [defined({ name, description: asName(inner["description"]), inputSchema: inner["parameters"] })];
}
