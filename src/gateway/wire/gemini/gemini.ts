/** Gemini's API on the wire: `generateContent` and its stream. */
import type { Adapter } from "../../../adapter/adapter.ts";
import { geminiAdapter } from "../../../adapter/gemini/gemini.ts";
import { asCount, asName, asString, defined, fieldsOf, objectsOf } from "../../../message/json.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../../../message/message.ts";
import { gemini, inPlace } from "../../../window/provider/profile.ts";
import type { WireApi, WireRequest } from "../../gateway.ts";
import { readAnswer } from "../answer.ts";
import { readBody, writeBody } from "../body.ts";
import { claimsOf } from "../claims.ts";
import { saysSame } from "../echo.ts";
import { isOverflow, isPrefixFault, saysAny } from "../faults.ts";
import { fixedBy, hasItems, kindOf } from "../kind.ts";
import { GeminiAnswer } from "./answer.ts";
import { contentValue, partsOf, spokenContent, withoutThoughts } from "./value.ts";

const shape = { name: "gemini", list: "contents", value: contentValue };

const route = /^[^?]*\/models\/([^/:?]+):(streamGenerateContent|generateContent)(\?|$)/;

/** Names of errors by their status. */
const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** The Gemini API; the model and whether an answer is streamed stand in the path. */
export const geminiApi: WireApi = {
  name: "gemini",
  profile: inPlace(gemini),
  adapter: geminiAdapter as unknown as Adapter<JsonObject>,
  matches: (method, path) => method === "POST" && route.test(path),
  read(call) {
    const body = readBody(call, shape);
    if (!body) return undefined;
    const { fields, messages } = body;
    const claims = claimsOf(call.headers, fields);
    const [, model, action] = route.exec(call.path) ?? [];
    const config = fieldsOf(fields["generationConfig"] ?? fields["generation_config"]);
    const tools = toolsOf(fields["tools"]);
    const count = config["candidateCount"] ?? config["candidate_count"];
    return defined({
      api: geminiApi,
      call,
      kind: kindOf({
        client: claims.client,
        hasTools: hasItems(fields["tools"]),
        hasSchema: (config["responseMimeType"] ?? config["response_mime_type"]) === "application/json",
        messageCount: messages.length,
        lastUserText: lastText(messages.at(-1)?.value),
      }),
      claims,
      model: model === undefined ? undefined : decoded(model),
      maxOutput: asCount(config["maxOutputTokens"] ?? config["max_output_tokens"]),
      isStream: action === "streamGenerateContent",
      system: systemText(fields["systemInstruction"] ?? fields["system_instruction"]),
      tools,
      messages,
      fixed: fixedBy(call.headers, { ...fields, n: count ?? null }) ?? cachedBy(fields),
    }) satisfies WireRequest;
  },
  write: (request, messages) => writeBody(request, shape.list, messages),
  reader: (_status, headers) => readAnswer(headers, new GeminiAnswer()),
  isEcho: (sent, answer) => sent["role"] === "model" && saysSame(spokenContent(sent), spokenContent(answer)),
  withoutReasoning: withoutThoughts,
  isPrefixFault,
  isOverflow: (status, body) => isOverflow(status, body) || (status === 400 && saysAny(body, overflow)),
  fault: (status, message) => ({
    contentType: "application/json",
    body: JSON.stringify({ error: { code: status, message, status: statuses[status] ?? "UNKNOWN" } }),
  }),
};

/** The provider's own cache holds the beginning of such a request. */
function cachedBy({ cached_content: cached }: JsonObject): string | undefined {
  return asName(cached) && "cached_content";
}

const overflow = [/input token count .*exceeds the maximum/i];

function decoded(model: string): string {
  try {
    return decodeURIComponent(model);
  } catch {
    return model;
  }
}

/** The system instruction is a content, or a text in some clients. */
function systemText(system: JsonValue | undefined): string | undefined {
  if (typeof system === "string") return asName(system);
  const texts = partsOf(fieldsOf(system)).map(({ text }) => asString(text) ?? "");
  return asName(texts.filter((text) => text !== "").join("\n\n"));
}

/** The last text of a content of the user's. */
function lastText(content: JsonObject | undefined): string | undefined {
  if (!content || (content["role"] ?? "user") !== "user") return undefined;
  return asString(partsOf(content).findLast(({ text }) => typeof text === "string")?.["text"]);
}

function toolsOf(tools: JsonValue | undefined): readonly ToolDefinition[] {
  return objectsOf(tools).flatMap((tool) => {
    const declared = objectsOf(tool["functionDeclarations"] ?? tool["function_declarations"]);
    if (declared.length > 0) return declared.flatMap(definitionOf);
    // A tool of the provider's own is one member: `{ googleSearch: {} }`.
    return Object.keys(tool).map((name): ToolDefinition => ({ name }));
  });
}

function definitionOf(declared: JsonObject): readonly ToolDefinition[] {
  const name = asName(declared["name"]);
  if (name === undefined) return [];
  const inputSchema = declared["parametersJsonSchema"] ?? declared["parameters"];
  return [defined({ name, description: asName(declared["description"]), inputSchema })];
}
