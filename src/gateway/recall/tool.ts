/** The tool `windrow_recall` in a request: when a line begins with it, and how it gets into the body. */
import { recallDeclaration } from "../../adapter/host/recall-tool.ts";
import { asObject, fieldsOf, parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { WireRequest } from "../gateway.ts";
import { bodyRanges } from "../wire/json-ranges.ts";
import { toolName } from "./shape.ts";
import type { RecallShape } from "./shape.ts";

/** The tool's words for the model, the same for every API. */
export const declaration: { readonly description: string; readonly schema: JsonObject } = {
  description: recallDeclaration.description,
  schema: recallDeclaration.inputSchema,
};

/** Clients that end a run where a call of a tool that they do not know reaches them. */
const strictClients = /agents/i;

/** The members of a body that say whether a line may begin with the tool. */
const members = ["tool_choice", "store", "n", "response_format", "output_config", "output_format", "text"];

/** Whether a line that begins with this request may have the tool. */
export function mayBegin(request: WireRequest, shape: RecallShape): boolean {
  const { kind, tools, fixed, claims, call } = request;
  if (kind !== "turn" || fixed !== undefined || tools.length === 0 || strictClients.test(claims.client)) return false;
  if (tools.some(({ name }) => name.endsWith(toolName))) return false;
  const ranges = bodyRanges(call.body, "tools");
  if (!ranges?.list) return false;
  const entries = members.flatMap((name): [string, JsonValue][] => {
    const range = ranges.members.get(name);
    const value = range && parseJson(call.body.toString("utf8", range.start, range.end));
    return value === undefined || value === null ? [] : [[name, value]];
  });
  const fields = Object.fromEntries(entries);
  return mayChoose(fields["tool_choice"]) && shape.mayBegin(fields);
}

/** A choice that forces one of the client's tools leaves no room for another one. */
function mayChoose(choice: JsonValue | undefined): boolean {
  const name = typeof choice === "string" ? choice : (fieldsOf(choice)["type"] ?? "auto");
  return name === "auto" || name === "none";
}

/** Whether a member such as `text` or `response_format` asks for an answer in a shape of JSON. */
export function asksForJson(value: JsonValue | undefined): boolean {
  const type = asObject(value)?.["type"];
  return type === "json_schema" || type === "json_object";
}

/** The body with the tool behind the client's own; undefined where the client sends no tools. */
export function withTool(body: Buffer, { tool }: RecallShape): Buffer | undefined {
  const ranges = bodyRanges(body, "tools");
  const last = ranges?.elements.at(-1);
  if (!last) return undefined;
  return Buffer.concat([body.subarray(0, last.end), Buffer.from(`,${JSON.stringify(tool)}`), body.subarray(last.end)]);
}
