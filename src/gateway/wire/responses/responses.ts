/** OpenAI's Responses API on the wire. */
import type { IncomingHttpHeaders } from "node:http";
import type { Adapter } from "../../../adapter/adapter.ts";
import { responsesAdapter } from "../../../adapter/responses/responses.ts";
import { asCount, asName, defined, fieldsOf, objectsOf, parseJson, without } from "../../../message/json.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../../../message/message.ts";
import { inPlace, openaiResponses as profile } from "../../../window/provider/profile.ts";
import type { Claims, RequestKind, WireApi, WireCall, WireMessage, WireRequest } from "../../gateway.ts";
import { readAnswer } from "../answer.ts";
import { readBody, writeBody } from "../body.ts";
import type { ReadBody } from "../body.ts";
import { claimsOf } from "../claims.ts";
import { isOverflow, isPrefixFault, openaiFault, saysAny } from "../faults.ts";
import { fixedBy, formatType, hasItems, kindOf, lastTextOf } from "../kind.ts";
import { ResponsesAnswer } from "./answer.ts";
import { readText, writeText } from "./text-input.ts";
import { isSameItem, itemValue, typeOf } from "./value.ts";

const shape = { name: "openai-responses", list: "input", value: itemValue };

/** An item that was reasoning alone. It is not written. */
const nothing: JsonObject = {};

/** Items that name what only the provider holds, or ask it to shorten the history. */
const fixing: ReadonlySet<string | undefined> = new Set(["item_reference", "compaction_trigger"]);

/** Errors by which reasoning is refused without its item, or sealed reasoning on another prefix. */
const reasoningFaults = [
  /encrypted content .*could not be (verified|decrypted)/i,
  /invalid_encrypted_content/,
  /of type '\w+' was provided without its required/i,
];

/** Whether the provider keeps the answer to a request. */
const stored = new WeakMap<WireCall, boolean>();

/**
 * The Responses API over HTTP. A message is one item, and an answer several. Where reasoning is taken out of a list of items,
 * its items are gone: {@link WireApi.withoutReasoning} gives an object without fields, which `write` leaves out.
 */
export const responsesApi: WireApi = {
  name: "openai-responses",
  profile: inPlace(profile),
  adapter: responsesAdapter as unknown as Adapter<JsonObject>,
  matches: (method, path) => method === "POST" && /^[^?]*\/responses\/?(\?|$)/.test(path),
  read(call) {
    const body = readBody(call, shape) ?? readText(call);
    if (!body) return undefined;
    const { fields, messages } = body;
    const codex = fieldsOf(parseJson(headerOf(call.headers, "x-codex-turn-metadata") ?? ""));
    const claims = claimsIn(call.headers, fields, codex);
    stored.set(call, fields["store"] !== false);
    return defined({
      api: responsesApi,
      call,
      kind: kindIn(body, codex, claims),
      claims,
      model: asName(fields["model"]),
      maxOutput: asCount(fields["max_output_tokens"]),
      isStream: fields["stream"] === true,
      system: asName(fields["instructions"]),
      tools: objectsOf(fields["tools"]).flatMap(definitionsOf),
      messages,
      fixed: fixedBy(call.headers, fields) ?? fixedItem(messages),
    }) satisfies WireRequest;
  },
  write(request, messages) {
    const kept = messages.filter((message) => !("made" in message) || Object.keys(message.made).length > 0);
    return writeText(request, kept) ?? writeBody(request, shape.list, kept);
  },
  reader: (_status, headers, { call }) => readAnswer(headers, new ResponsesAnswer(stored.get(call) ?? true)),
  isEcho: isSameItem,
  withoutReasoning: (item) => (typeOf(item) === "reasoning" ? nothing : item),
  isPrefixFault: (status, body) => isPrefixFault(status, body) || (status === 400 && saysAny(body, reasoningFaults)),
  isOverflow,
  fault: openaiFault,
};

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** Codex tells the purpose of its requests; of others it is told by their bodies. */
function kindIn({ fields, messages }: ReadBody, codex: JsonObject, { client }: Claims): RequestKind {
  const named = asName(codex["request_kind"]);
  if (named === "turn" || named === "compaction") return named;
  if (named !== undefined) return "side";
  const last = messages.at(-1)?.value;
  if (last && typeOf(last) === "compaction_trigger") return "compaction";
  const format = formatType(fieldsOf(fields["text"])["format"]);
  return kindOf({
    client,
    hasTools: hasItems(fields["tools"]),
    hasSchema: format === "json_schema" || format === "json_object",
    messageCount: messages.length,
    lastUserText: lastTextOf(last),
  });
}

/** Codex's agents beside the first have names, and threads of their own. */
function claimsIn(headers: IncomingHttpHeaders, fields: JsonObject, codex: JsonObject): Claims {
  const claims = claimsOf(headers, fields);
  const agent = asName(codex["agent_name"]);
  return defined({
    ...claims,
    session: claims.session ?? asName(codex["thread_id"]),
    agent: claims.agent ?? (agent === "/root" ? undefined : agent),
    parent: claims.parent ?? headerOf(headers, "x-codex-parent-thread-id") ?? asName(codex["parent_thread_id"]),
  });
}

function fixedItem(messages: readonly WireMessage[]): string | undefined {
  return messages.map(({ value }) => typeOf(value)).find((type) => fixing.has(type));
}

/** The definitions of a tool; a namespace holds several. Settings of a hosted tool are counted in the place of a schema. */
function definitionsOf(tool: JsonObject): readonly ToolDefinition[] {
  const name = asName(tool["name"]) ?? asName(tool["type"]);
  if (name === undefined) return [];
  const description = asName(tool["description"]);
  const inner = objectsOf(tool["tools"]);
  if (inner.length > 0) return [defined({ name, description }), ...inner.flatMap(definitionsOf)];
  const settings = without(tool, "type", "name", "description", "strict");
  const own: JsonValue | undefined = tool["parameters"] ?? tool["format"];
  const inputSchema = own ?? (Object.keys(settings).length > 0 ? settings : undefined);
  return [defined({ name, description, inputSchema })];
}
