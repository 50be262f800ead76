/** Context editing of the Messages API: the provider clears old tool results before its model reads a request. */
import { asName, objectsOf, parseJson } from "../../../message/json.ts";
import type { JsonObject } from "../../../message/message.ts";
import type { Clearing, ProviderEdits } from "../../gateway.ts";
import { writeMember } from "../body.ts";
import { saysAny } from "../../../shape/faults.ts";
import { bodyRanges } from "../json-ranges.ts";

const beta = "context-management-2025-06-27";

const clearing = "clear_tool_uses_20250919";

/** Types of edits that clear tool results; a request has one of them at most. */
const clears = /^clear_tool_uses/;

const refusals = [/context[_-]management/i, /clear_tool_uses/i, /invalid beta flag/i];

/** The provider's own edits. */
export const anthropicEdits: ProviderEdits = {
  ask({ call }, asked) {
    const edit = Buffer.from(JSON.stringify(editOf(asked)));
    const body = writeMember(call.body, "messages", "context_management", (settings) => settingsWith(settings, edit));
    if (!body) return undefined;
    const given = [call.headers["anthropic-beta"] ?? ""].flat().join(",");
    const hasBeta = given.split(",").some((name) => name.trim() === beta);
    return { body, ...(!hasBeta && { headers: { "anthropic-beta": beta } }) };
  },
  isRefusal: (status, body) => (status === 400 || status === 422) && saysAny(body, refusals),
};

function editOf({ trigger, keep, exclude }: Clearing): JsonObject {
  return {
    type: clearing,
    trigger: { type: "input_tokens", value: trigger },
    keep: { type: "tool_uses", value: keep },
    ...(exclude.length > 0 && { exclude_tools: [...exclude] }),
  };
}

/** The client's settings with one edit more, behind its own: clearing of thinking has to be the first. */
function settingsWith(settings: Buffer | undefined, edit: Buffer): Buffer | undefined {
  const fresh = (): Buffer => Buffer.concat([Buffer.from('{"edits":['), edit, Buffer.from("]}")]);
  if (!settings || settings.toString() === "null") return fresh();
  const list = (value: Buffer | undefined): Buffer | undefined => {
    const text = value?.toString() ?? "null";
    if (text === "null") return Buffer.concat([Buffer.from("["), edit, Buffer.from("]")]);
    const edits = parseJson(text);
    if (!Array.isArray(edits) || objectsOf(edits).some(({ type }) => clears.test(asName(type) ?? ""))) return undefined;
    const end = text.lastIndexOf("]");
    return Buffer.from(`${text.slice(0, end)}${edits.length > 0 ? "," : ""}${edit.toString()}${text.slice(end)}`);
  };
  return bodyRanges(settings, "edits") && writeMember(settings, "edits", "edits", list);
}
