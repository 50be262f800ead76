/** The Anthropic Messages API on the wire. */
import { anthropicAdapter } from "../../../adapter/anthropic/anthropic.ts";
import type { Adapter } from "../../../adapter/adapter.ts";
import { asArray, asCount, asName, asString, defined, fieldsOf, isObject, objectsOf } from "../../../message/json.ts";
import { without } from "../../../message/json.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../../../message/message.ts";
import { anthropic, inPlace } from "../../../window/provider/profile.ts";
import type { WireApi, WireRequest } from "../../gateway.ts";
import { readAnswer } from "../answer.ts";
import { readBody, writeBody } from "../body.ts";
import { claimsOf } from "../claims.ts";
import { saysSame } from "../echo.ts";
import { isOverflow, isPrefixFault, isUnopened } from "../faults.ts";
import { fixedBy, formatType, hasItems, kindOf, lastTextOf } from "../kind.ts";
import { AnthropicAnswer } from "./answer.ts";
import { anthropicEdits } from "./edits.ts";
import { opened } from "./turn.ts";
import { anthropicValue, spokenBlocks, withoutThinking } from "./value.ts";

const shape = { name: "anthropic-messages", list: "messages", value: anthropicValue };

/** Names of errors by their status. */
const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

/** The Anthropic Messages API; system messages in the middle of a conversation stay in their places. */
export const anthropicMessages: WireApi = {
  name: "anthropic-messages",
  profile: inPlace(anthropic),
  adapter: anthropicAdapter as unknown as Adapter<JsonObject>,
  matches: (method, path) => method === "POST" && /^[^?]*\/v1\/messages\/?(\?|$)/.test(path),
  read(call) {
    const body = readBody(call, shape);
    if (!body) return undefined;
    const { fields, messages } = body;
    const claims = claimsOf(call.headers, fields);
    const kind = kindOf({
      client: claims.client,
      hasTools: hasItems(fields["tools"]),
      hasSchema: hasSchema(fields),
      messageCount: messages.length,
      lastUserText: lastTextOf(messages.at(-1)?.value),
    });
    return defined({
      api: anthropicMessages,
      call,
      kind,
      claims,
      model: asName(fields["model"]),
      maxOutput: asCount(fields["max_tokens"]),
      isStream: fields["stream"] === true,
      system: systemText(fields["system"]),
      tools: toolsOf(fields["tools"]),
      messages,
      fixed: fixedBy(call.headers, fields),
      keepsReasoning: hasManualThinking(fields) || undefined,
    }) satisfies WireRequest;
  },
  write: (request, messages) => writeBody(request, shape.list, messages),
  edits: anthropicEdits,
  reader: (_status, headers) => readAnswer(headers, new AnthropicAnswer()),
  isEcho: (sent, answer) => sent["role"] === "assistant" && saysSame(spokenBlocks(sent), spokenBlocks(answer)),
  withoutReasoning: withoutThinking,
  isPrefixFault,
  opened,
  isUnopened,
  isOverflow,
  fault: (status, message) => ({
    contentType: "application/json",
    body: JSON.stringify({ type: "error", error: { type: errorTypes[status] ?? "api_error", message } }),
  }),
};

function hasSchema(fields: JsonObject): boolean {
  const types = [fieldsOf(fields["output_config"])["format"], fields["output_format"]].map(formatType);
  return types.includes("json_schema");
}

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
  const text = kept.filter((item) => item !== "").join("\n\n");
  return text === "" ? undefined : text;
}

const definitions = new WeakMap<object, readonly ToolDefinition[]>();

function toolsOf(tools: JsonValue | undefined): readonly ToolDefinition[] {
  const list = asArray(tools);
  if (!list) return [];
  const known = definitions.get(list);
  if (known) return known;
  const found = list.filter(isObject).flatMap((tool) => definitionOf(tool));
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
