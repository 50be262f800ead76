/** The Anthropic Messages API on the wire. */
import { asArray, asCount, asName, asString, defined, fieldsOf, objectsOf, without } from "../../../message/json.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../../../message/message.ts";
import { anthropicShape } from "../../../shape/anthropic/anthropic.ts";
import { anthropic } from "../../../window/provider/profile.ts";
import { wireApi } from "../api.ts";
import { formatType } from "../kind.ts";
import { anthropicEdits } from "./edits.ts";
import { opened } from "./turn.ts";

/** The Anthropic Messages API; system messages in the middle of a conversation stay in their places. */
export const anthropicMessages = wireApi({
  name: "anthropic-messages",
  shape: anthropicShape,
  profile: anthropic,
  route: /^[^?]*\/v1\/messages\/?(\?|$)/,
  facts: ({ fields }) => ({
    hasSchema: [fieldsOf(fields["output_config"])["format"], fields["output_format"]].some(
      (format) => formatType(format) === "json_schema",
    ),
    model: asName(fields["model"]),
    maxOutput: asCount(fields["max_tokens"]),
    system: systemText(fields["system"]),
    tools: toolsOf(fields["tools"]),
    keepsReasoning: hasManualThinking(fields) || undefined,
  }),
  edits: anthropicEdits,
  opened,
});

/**
 * Whether the client gives the budget of thinking itself. The models that take it bind no thinking to what stands before
 * it, and those that bind it take `adaptive` alone, with which no turn has to begin with thinking.
 */
function hasManualThinking({ thinking }: JsonObject): boolean {
  return fieldsOf(thinking)["type"] === "enabled";
}

const billing = "x-anthropic-billing-header:";

/** Claude Code's first block names the conversation and changes with it. */
function systemText(system: JsonValue | undefined): string | undefined {
  const texts = typeof system === "string" ? [system] : objectsOf(system).map(({ text }) => asString(text) ?? "");
  const kept = texts[0]?.startsWith(billing) === true ? texts.slice(1) : texts;
  return asName(kept.filter((item) => item !== "").join("\n\n"));
}

const definitions = new WeakMap<object, readonly ToolDefinition[]>();

function toolsOf(tools: JsonValue | undefined): readonly ToolDefinition[] {
  const list = asArray(tools);
  if (!list) return [];
  const found = definitions.get(list) ?? objectsOf(list).flatMap(definitionOf);
  definitions.set(list, found);
  return found;
}

/** A tool of the provider's own has no schema; its settings are counted in the place of one. */
function definitionOf(tool: JsonObject): readonly ToolDefinition[] {
  const name = asName(tool["name"]) ?? asName(tool["type"]);
  if (name === undefined) return [];
  const settings = without(tool, "name", "type", "description", "cache_control");
  const inputSchema = tool["input_schema"] ?? (Object.keys(settings).length > 0 ? settings : undefined);
  return [defined({ name, description: asName(tool["description"]), inputSchema })];
}
