/** OpenAI's Responses API on the wire. */
import type { IncomingHttpHeaders } from "node:http";
import { asCount, asName, defined, fieldsOf, objectsOf, parseJson, without } from "../../../message/json.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../../../message/message.ts";
import { responsesShape } from "../../../shape/responses/responses.ts";
import { typeOf } from "../../../shape/responses/value.ts";
import { openaiResponses } from "../../../window/provider/profile.ts";
import type { Claims, RequestKind, WireCall, WireMessage } from "../../gateway.ts";
import { readAnswer } from "../answer.ts";
import { wireApi } from "../api.ts";
import { writeBody } from "../body.ts";
import { isJsonFormat } from "../kind.ts";
import { readText, writeText } from "./text-input.ts";

/** Items that name what only the provider holds, or ask it to shorten the history. */
const fixing: ReadonlySet<string | undefined> = new Set(["item_reference", "compaction_trigger"]);

/** Whether the provider keeps the answer to a request. */
const stored = new WeakMap<WireCall, boolean>();

/** The Responses API over HTTP. A message is one item, and an answer several. */
export const responsesApi = wireApi({
  name: "openai-responses",
  shape: responsesShape,
  profile: openaiResponses,
  route: /^[^?]*\/responses\/?(\?|$)/,
  readOther: readText,
  facts({ fields, messages }, call, claims) {
    const codex = fieldsOf(parseJson(headerOf(call.headers, "x-codex-turn-metadata") ?? ""));
    stored.set(call, fields["store"] !== false);
    return {
      hasSchema: isJsonFormat(fieldsOf(fields["text"])["format"]),
      kind: kindIn(messages, codex),
      claims: claimsIn(call.headers, claims, codex),
      model: asName(fields["model"]),
      maxOutput: asCount(fields["max_output_tokens"]),
      system: asName(fields["instructions"]),
      tools: objectsOf(fields["tools"]).flatMap(definitionsOf),
      fixed: messages.map(({ value }) => typeOf(value)).find((type) => fixing.has(type)),
    };
  },
  write(request, messages) {
    const kept = messages.filter((message) => !("made" in message) || Object.keys(message.made).length > 0);
    return writeText(request, kept) ?? writeBody(request, responsesShape.list, kept);
  },
  reader: ({ call }) => readAnswer(responsesShape.answer(stored.get(call))),
});

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** Codex tells the purpose of its requests; of others it is told by their bodies. */
function kindIn(messages: readonly WireMessage[], codex: JsonObject): RequestKind | undefined {
  const named = asName(codex["request_kind"]);
  if (named !== undefined) return named === "turn" || named === "compaction" ? named : "side";
  const last = messages.at(-1)?.value;
  return last && typeOf(last) === "compaction_trigger" ? "compaction" : undefined;
}

/** Codex's agents beside the first have names, and threads of their own. */
function claimsIn(headers: IncomingHttpHeaders, claims: Claims, codex: JsonObject): Claims {
  const agent = asName(codex["agent_name"]);
  return defined({
    ...claims,
    session: claims.session ?? asName(codex["thread_id"]),
    agent: claims.agent ?? (agent === "/root" ? undefined : agent),
    parent: claims.parent ?? headerOf(headers, "x-codex-parent-thread-id") ?? asName(codex["parent_thread_id"]),
  });
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
