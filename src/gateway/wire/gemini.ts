/** Gemini's API on the wire: `generateContent` and its stream. */
import { asCount, asName, asString, defined, fieldsOf, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../../message/message.ts";
import { geminiShape } from "../../shape/gemini/gemini.ts";
import { partsOf } from "../../shape/gemini/value.ts";
import { gemini } from "../../window/provider/profile.ts";
import { wireApi } from "./api.ts";
import { fixedBy } from "./kind.ts";

const route = /^[^?]*\/models\/([^/:?]+):(?:streamGenerateContent|generateContent)(?:\?|$)/;

/** The Gemini API; the model stands in the path. */
export const geminiApi = wireApi({
  name: "gemini",
  shape: geminiShape,
  profile: gemini,
  route,
  facts({ fields, messages }, { path }) {
    const [, model] = route.exec(path) ?? [];
    const config = fieldsOf(fields["generationConfig"] ?? fields["generation_config"]);
    const count = config["candidateCount"] ?? config["candidate_count"];
    return {
      hasSchema: (config["responseMimeType"] ?? config["response_mime_type"]) === "application/json",
      lastUserText: lastText(messages.at(-1)?.value),
      model: model === undefined ? undefined : decoded(model),
      maxOutput: asCount(config["maxOutputTokens"] ?? config["max_output_tokens"]),
      system: systemText(fields["systemInstruction"] ?? fields["system_instruction"]),
      tools: toolsOf(fields["tools"]),
      fixed: fixedBy({}, { n: count ?? null }) ?? cachedBy(fields),
    };
  },
});

/** The provider's own cache holds the beginning of such a request. */
function cachedBy({ cached_content: cached }: JsonObject): string | undefined {
  return asName(cached) && "cached_content";
}

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
