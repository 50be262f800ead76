/** OpenAI's chat-completions API on the wire, and that of the many servers that speak it. */
import { chatAdapter } from "../../../adapter/chat/chat.ts";
import type { Adapter } from "../../../adapter/adapter.ts";
import { asCount, asName, defined, fieldsOf, objectsOf } from "../../../message/json.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../../../message/message.ts";
import { inPlace, openaiChat } from "../../../window/provider/profile.ts";
import type { Profile } from "../../../window/provider/profile.ts";
import type { WireApi, WireRequest } from "../../gateway.ts";
import { readAnswer } from "../answer.ts";
import { readBody, writeBody } from "../body.ts";
import { claimsOf } from "../claims.ts";
import { saysSame } from "../echo.ts";
import { isOverflow, isPrefixFault, openaiFault } from "../faults.ts";
import { fixedBy, formatType, hasItems, kindOf, lastTextOf } from "../kind.ts";
import { ChatAnswer } from "./answer.ts";
import { chatValue, spokenChat, withoutChatReasoning } from "./value.ts";

const shape = { name: "openai-chat", list: "messages", value: chatValue };

/**
 * Reasoning goes back where the client sent it: the same API is spoken by servers that ignore it and by those that refuse
 * a conversation without it.
 */
function chatProfile(): Profile {
  const { reads: _, ...profile } = openaiChat;
  return inPlace({ ...profile, rules: { ...profile.rules, ownReasoning: false }, reasoning: "required" });
}

/** The chat-completions API. Its system prompts are messages. */
export const chatCompletions: WireApi = {
  name: "openai-chat",
  profile: chatProfile(),
  adapter: chatAdapter as unknown as Adapter<JsonObject>,
  matches: (method, path) => method === "POST" && /^[^?]*\/chat\/completions\/?(\?|$)/.test(path),
  read(call) {
    const body = readBody(call, shape);
    if (!body) return undefined;
    const { fields, messages } = body;
    const claims = claimsOf(call.headers, fields);
    const format = formatType(fields["response_format"]);
    const kind = kindOf({
      client: claims.client,
      hasTools: hasItems(fields["tools"]) || hasItems(fields["functions"]),
      hasSchema: format === "json_schema" || format === "json_object",
      messageCount: messages.length,
      lastUserText: lastTextOf(messages.at(-1)?.value),
    });
    return defined({
      api: chatCompletions,
      call,
      kind,
      claims,
      model: asName(fields["model"]),
      maxOutput: asCount(fields["max_completion_tokens"]) ?? asCount(fields["max_tokens"]),
      isStream: fields["stream"] === true,
      tools: toolsOf(fields),
      messages,
      fixed: fixedBy(call.headers, fields),
    }) satisfies WireRequest;
  },
  write: (request, messages) => writeBody(request, shape.list, messages),
  reader: (_status, headers) => readAnswer(headers, new ChatAnswer()),
  isEcho: (sent, answer) => sent["role"] === "assistant" && saysSame(spokenChat(sent), spokenChat(answer)),
  withoutReasoning: withoutChatReasoning,
  isPrefixFault,
  isOverflow,
  fault: openaiFault,
};

function toolsOf(fields: JsonObject): readonly ToolDefinition[] {
  const functions = objectsOf(fields["functions"]).map((called) => ({ function: called }));
  return [...objectsOf(fields["tools"]), ...functions].flatMap(definitionOf);
}

function definitionOf(tool: JsonObject): readonly ToolDefinition[] {
  const inner: JsonObject = { ...fieldsOf(tool["function"] ?? tool["custom"]) };
  const name = asName(inner["name"]) ?? asName(tool["type"]);
  if (name === undefined) return [];
  const inputSchema: JsonValue | undefined = inner["parameters"] ?? inner["format"];
  return [defined({ name, description: asName(inner["description"]), inputSchema })];
}
