/** Which conversations begin with the tool `windrow_recall`: it never joins one that has begun, and never leaves one. */
import { asObject, asString, fieldsOf, parseJson } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";
import type { WireRequest } from "../gateway.ts";
import { bodyRanges } from "../wire/json-ranges.ts";
import { isJsonFormat } from "../wire/kind.ts";
import { recallShapes, toolName } from "./shapes.ts";

/** Clients that end a run at a call of a tool that they do not know, or make a call of another tool of it. */
const strictClients = /agents|^opencode$/i;

/** Values of `tool_choice`, and of Gemini's `mode`, that leave the model free to call it. */
const freeChoices: ReadonlySet<string> = new Set(["auto", "none", "AUTO", "NONE", "MODE_UNSPECIFIED"]);

/** Whether a conversation that begins with this request has the tool. */
export function beginsWithTool(request: WireRequest): boolean {
  const { api, call, kind, tools, fixed, claims } = request;
  if (kind !== "turn" || fixed !== undefined || call.headers["x-windrow-recall"] === "off") return false;
  if (tools.length === 0 || tools.some(({ name }) => name.endsWith(toolName))) return false;
  if (strictClients.test(claims.client)) return false;
  const members = bodyRanges(call.body, "tools")?.members;
  const member = (name: string): JsonValue | undefined => {
    const range = members?.get(name);
    return range && parseJson(call.body.toString("utf8", range.start, range.end));
  };
  // Where the provider keeps the answer, the next request may bring nothing but results.
  const isStored = api.name === "openai-responses" && member("store") !== false;
  return (
    !isStored && isFree(member) && !asksForJson(member) && recallShapes[api.name].withTool(call.body) !== undefined
  );
}

type Member = (name: string) => JsonValue | undefined;

/** Whether the model may call any tool. */
function isFree(member: Member): boolean {
  const choice = member("tool_choice");
  const calling = fieldsOf(member("toolConfig") ?? member("tool_config"));
  const { mode } = fieldsOf(calling["functionCallingConfig"] ?? calling["function_calling_config"]);
  const named = asString(choice) ?? asString(asObject(choice)?.["type"]) ?? asString(mode);
  return named === undefined || freeChoices.has(named);
}

/** Whether the answer is asked for in a shape of JSON. */
function asksForJson(member: Member): boolean {
  const config = fieldsOf(member("generationConfig") ?? member("generation_config"));
  if ((config["responseMimeType"] ?? config["response_mime_type"]) === "application/json") return true;
  if ((member("format") ?? "") !== "") return true;
  const formats = [fieldsOf(member("output_config"))["format"], fieldsOf(member("text"))["format"]];
  return [...formats, member("output_format"), member("response_format")].some(isJsonFormat);
}
