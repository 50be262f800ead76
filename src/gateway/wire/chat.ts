/** OpenAI's chat-completions API on the wire, and that of the many servers that speak it. */
import { asCount, asName, defined, fieldsOf, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../../message/message.ts";
import { chatShape } from "../../shape/openai-chat/openai-chat.ts";
import { openaiChat } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import { wireApi } from "./api.ts";
import { isJsonFormat } from "./kind.ts";

/**
 * Reasoning goes back where the client sent it: the same API is spoken by servers that ignore it and by those that refuse
 * a conversation without it.
 */
function chatProfile(): Profile {
  const { reads: _, ...profile } = openaiChat;
  return { ...profile, rules: { ...profile.rules, ownReasoning: false }, reasoning: "required" };
}

/** The chat-completions API. Its system prompts are messages. */
export const chatCompletions = wireApi({
  name: "openai-chat",
  shape: chatShape,
  profile: chatProfile(),
  route: /^[^?]*\/chat\/completions\/?(\?|$)/,
  facts({ fields }) {
    const functions = objectsOf(fields["functions"]).map((called) => ({ function: called }));
    return {
      ...(functions.length > 0 && { hasTools: true }),
      hasSchema: isJsonFormat(fields["response_format"]),
      model: asName(fields["model"]),
      maxOutput: asCount(fields["max_completion_tokens"]) ?? asCount(fields["max_tokens"]),
      tools: [...objectsOf(fields["tools"]), ...functions].flatMap(definitionsOf),
    };
  },
});

/** The definition of a tool as the window counts it; none for a tool without a name. */
export function definitionsOf(tool: JsonObject): readonly ToolDefinition[] {
  const inner: JsonObject = { ...fieldsOf(tool["function"] ?? tool["custom"]) };
  const name = asName(inner["name"]) ?? asName(tool["type"]);
  if (name === undefined) return [];
  const inputSchema: JsonValue | undefined = inner["parameters"] ?? inner["format"];
  return [defined({ name, description: asName(inner["description"]), inputSchema })];
}
