/** The turn of calls that a request ends in: to the Messages API one turn of the model's, which begins with its thinking. */
import { asArray, objectsOf } from "../../../message/json.ts";
import type { JsonObject } from "../../../message/message.ts";
import type { WireRequest, Written } from "../../gateway.ts";
import { leadingThinking } from "./value.ts";

/**
 * The messages, the newest turn of calls with the thinking that it began with. A model may think once in a turn; where that
 * answer left the window, the turn's first message that is left carries it.
 */
export function opened({ messages }: WireRequest, list: readonly Written[]): readonly Written[] {
  const values = list.map((message) => ("made" in message ? message.made : message.value));
  const [first, begun] = [beginOf(values), beginOf(messages.map(({ value }) => value))];
  const [value, beginning] = [values[first], messages[begun]?.value];
  if (!value || !beginning || leadingThinking(value).length > 0) return list;
  const thinking = leadingThinking(beginning);
  if (thinking.length === 0) return list;
  const { content = "" } = value;
  const blocks = asArray(content) ?? [{ type: "text", text: content }];
  return list.with(first, { made: { ...value, content: [...thinking, ...blocks] } });
}

/** The place where the turn begins that results end; -1 where none do. */
function beginOf(values: readonly JsonObject[]): number {
  let first = -1;
  const last = values.findLast(({ role }) => role !== "system");
  if (!last || !hasResults(last)) return first;
  for (let place = values.length - 1; place >= 0; place--) {
    const value = values[place] as JsonObject;
    if (value["role"] === "assistant") first = place;
    else if (value["role"] !== "system" && !hasResults(value)) break;
  }
  return first;
}

function hasResults({ role, content }: JsonObject): boolean {
  return role === "user" && objectsOf(content).some(({ type }) => type === "tool_result");
}
