/** Context editing as the Messages API does it: the field is checked, and old tool results leave before anything is counted. */
import type { IncomingHttpHeaders } from "node:http";
import { list, object, text } from "./json.ts";
import type { Json } from "./json.ts";

/** A request behind the provider's edits. */
export interface Edited {
  readonly body: Json;
  /** As the answer tells it. */
  readonly applied: readonly Json[];
  /** Why the request is refused. */
  readonly refusal?: string;
}

const beta = "context-management-2025-06-27";
const clearing = "clear_tool_uses_20250919";
const thinking = "clear_thinking_20251015";
const forbidden = "Extra inputs are not permitted";
const placeholder = "[Old tool result content cleared]";

/** @param count - tokens of a body */
export function edited(
  body: Json,
  headers: IncomingHttpHeaders,
  count: (body: string) => number,
  refuses: boolean,
): Edited {
  const settings = body["context_management"];
  if (settings === undefined || settings === null) return { body, applied: [] };
  const betas = text(headers["anthropic-beta"]).split(/\s*,\s*/);
  const told = refuses || !betas.includes(beta) ? `context_management: ${forbidden}` : faultOf(object(settings));
  if (told !== undefined) return { body, applied: [], refusal: told };
  const edit = list(object(settings)["edits"]).find(({ type }) => type === clearing);
  return edit ? cleared(body, edit, count) : { body, applied: [] };
}

/** What is wrong with the field; undefined where nothing is. */
function faultOf(settings: Json): string | undefined {
  const place = "context_management";
  const foreign = Object.keys(settings).find((name) => name !== "edits");
  if (foreign !== undefined) return `${place}.${foreign}: ${forbidden}`;
  const edits = settings["edits"] ?? [];
  if (!Array.isArray(edits)) return `${place}.edits: Input should be a valid list`;
  const types = list(edits).map(({ type }) => text(type));
  const unknown = types.find((type) => type !== clearing && type !== thinking);
  if (unknown !== undefined) return `${place}.edits: Input tag '${unknown}' found using 'type' does not match`;
  if (new Set(types).size < types.length) return `${place}.edits: each type may stand once`;
  if (types.indexOf(thinking) > 0) return `${place}.edits: \`${thinking}\` must be listed first`;
  const at = types.indexOf(clearing);
  return at < 0 ? undefined : clearingFault(list(edits)[at]!, `${place}.edits.${at}.${clearing}`);
}

const members: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: () => true,
  trigger: (value) => isCount(value, ["input_tokens", "tool_uses"], 1),
  keep: (value) => isCount(value, ["tool_uses"], 0),
  clear_at_least: (value) => value === null || isCount(value, ["input_tokens"], 0),
  exclude_tools: (value) => value === null || isNames(value),
  clear_tool_inputs: (value) => value === null || typeof value === "boolean" || isNames(value),
};

function clearingFault(edit: Json, place: string): string | undefined {
  for (const [name, value] of Object.entries(edit)) {
    const fits = members[name];
    if (!fits) return `${place}.${name}: ${forbidden}`;
    if (!fits(value)) return `${place}.${name}: Input should be valid`;
  }
  return undefined;
}

function isCount(value: unknown, types: readonly string[], least: number): boolean {
  const { type, value: number, ...more } = object(value);
  return (
    types.includes(text(type)) && Number.isInteger(number) && Number(number) >= least && Object.keys(more).length === 0
  );
}

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");

/** Above its trigger a request loses all results but those of the newest uses. Excluded tools are not among these. */
function cleared(body: Json, edit: Json, count: (body: string) => number): Edited {
  const trigger = object(edit["trigger"] ?? { type: "input_tokens", value: 100_000 });
  const keep = Number(object(edit["keep"] ?? { value: 3 })["value"]);
  const excluded = new Set((edit["exclude_tools"] ?? []) as readonly string[]);
  const messages = list(body["messages"]);
  const uses = messages
    .flatMap(({ content }) => list(content))
    .filter(({ type, name }) => type === "tool_use" && !excluded.has(text(name)))
    .map(({ id }) => text(id));
  const before = count(JSON.stringify(body));
  const size = trigger["type"] === "tool_uses" ? uses.length : before;
  const gone = new Set(size > Number(trigger["value"]) ? uses.slice(0, Math.max(0, uses.length - keep)) : []);
  if (gone.size === 0) return { body, applied: [] };
  const less = {
    ...body,
    messages: messages.map((message) => {
      if (!Array.isArray(message["content"])) return message;
      const content = list(message["content"]).map((block) =>
        block["type"] === "tool_result" && gone.has(text(block["tool_use_id"]))
          ? { ...block, content: placeholder }
          : block,
      );
      return { ...message, content };
    }),
  };
  const tokens = before - count(JSON.stringify(less));
  if (tokens < Number(object(edit["clear_at_least"])["value"] ?? 0)) return { body, applied: [] };
  return { body: less, applied: [{ type: clearing, cleared_tool_uses: gone.size, cleared_input_tokens: tokens }] };
}
