/**
 * Items of the OpenAI Agents SDK (`AgentInputItem`, the Responses API's items in camelCase) as messages and back.
 * One answer of the model is several items and one message; {@link groupItems} puts these items together.
 */
import { parseJson, isObject, without, sameJson } from "../../message/json.ts";
import { WindrowError } from "../../errors.ts";
import type { JsonObject, JsonValue, Message, Part } from "../../message/message.ts";
import { asName, asString } from "../../message/json.ts";
import type { Adapter } from "../adapter.ts";
import { badMessage, hostMessages, keep, keptOf, Originals, standIn } from "../../shape/host-fields.ts";
import { results, resultPart, resultItem } from "./results.ts";
import { name, inputPart, inputBlock } from "./blocks.ts";

/** An item of the SDK: the fields Windrow reads of every item. */
export interface AgentItem {
  /**
   * `message`, `function_call`, `function_call_result`, `reasoning`, `compaction` … Absent: a message, which has a
   * role.
   */
  readonly type?: string | undefined;
}

/** The items of one message: those of one answer of the model, or one of any other. */
export type AgentItems = readonly AgentItem[];
const calls: ReadonlySet<string> = new Set(Object.values(results));

/** An item's kind: its `type`, or `message` for what has only a role. */
export function kindOf(item: AgentItem): string {
  return asName(item.type) ?? "message";
}

function isResult(kind: string): boolean {
  return Object.hasOwn(results, kind);
}

/** The id of the call that an item makes or answers; undefined for other items. */
export function callOf(item: AgentItem): { readonly callId: string; readonly answers: boolean } | undefined {
  const { callId } = item as { readonly callId?: unknown };
  const kind = kindOf(item);
  if (typeof callId !== "string" || callId === "") return undefined;
  return calls.has(kind) || isResult(kind) ? { callId, answers: isResult(kind) } : undefined;
}

/** Whether an item is part of what a model answered. */
function isAnswer(item: AgentItem): boolean {
  const kind = kindOf(item);
  return kind === "message" ? (item as { readonly role?: unknown }).role === "assistant" : !isResult(kind);
}

/** Items in groups of one message each: neighbours that a model answered are together, each other item is alone. */
export function groupItems<Item extends AgentItem>(items: readonly Item[]): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  let open: Item[] | undefined;
  for (const item of items) {
    const answered = typeof item === "object" && item !== null && isAnswer(item);
    if (answered && open) open.push(item);
    else groups.push((open = [item]));
    if (!answered) open = undefined;
  }
  return groups;
}

const originals = new Originals<AgentItems>();

/**
 * The SDK's items in and out, in the groups of {@link groupItems}. `encode` gives back the very group `decode` was
 * given
 * for a message that nothing changed; from disk, a deeply equal one.
 */
export const openaiAgentsAdapter: Adapter<AgentItems> = {
  name,
  decode(groups) {
    return hostMessages(groups, "openaiAgentsAdapter.decode").map((group, index) => {
      if (!Array.isArray(group) || group.length === 0) throw badMessage(index, "it is no group of items");
      const items = (group as readonly unknown[]).map((item) => {
        if (isObject(item) && (typeof item.type === "string" || typeof item.role === "string")) return item;
        throw badMessage(index, "an item needs a type or a role");
      });
      return originals.note({ id: `m${index + 1}`, ...messageOf(items) }, group);
    });
  },
  encode(messages) {
    return messages.map((message) => originals.of(message) ?? itemsOf(message));
  },
};

function messageOf(items: readonly JsonObject[]): Omit<Message, "id"> {
  const [first] = items;
  if (!first) throw new WindrowError("bad-message", "A group of items is empty.");
  if (items.length > 1 || isAnswer(first as AgentItem)) return { role: "assistant", parts: items.flatMap(answerParts) };
  if (isResult(kindOf(first as AgentItem))) return { role: "tool", parts: [resultPart(first)] };
  const role = first.role === "system" ? "system" : "user";
  const fields = without(first, "role", "content");
  const { content } = first;
  const kept = typeof content === "string" ? fields : { ...fields, list: true };
  const parts: readonly Part[] =
    typeof content === "string"
      ? content === ""
        ? []
        : [{ type: "text", text: content }]
      : Array.isArray(content)
        ? content.map((block: JsonValue) => inputPart(block))
        : [{ type: "opaque", kind: `${name}/content`, data: content ?? null }];
  const plain = typeof content === "string" && sameJson(fields, { type: "message" });
  return { role, parts, ...(!plain && { extra: { [name]: kept } }) };
}

/** The parts of one item of an answer; the first carries the item's own fields, a further one says that it is. */
function answerParts(item: JsonObject): readonly Part[] {
  const kind = kindOf(item as AgentItem);
  const whole: Part = { type: "opaque", kind: `${name}/${kind}`, data: item };
  const { content, callId } = item;
  if (kind === "message" && Array.isArray(content) && content.length > 0) {
    return content.map((block: JsonValue, index): Part => {
      const own = index === 0 ? { item: without(item, "content") } : { more: true };
      if (!isObject(block) || block.type !== "output_text" || typeof block.text !== "string") {
        return { type: "opaque", kind: `${name}/content`, data: { ...own, block } };
      }
      return { type: "text", text: block.text, ...keep(name, { ...own, block: without(block, "type", "text") }, true) };
    });
  }
  if (kind === "reasoning" && Array.isArray(content)) {
    const [only] = content as readonly JsonValue[];
    const plain = content.length === 1 && isObject(only) && only.type === "input_text" && typeof only.text === "string";
    const bare = plain && Object.keys(only as JsonObject).length === 2;
    const text = content.flatMap((block: JsonValue) =>
      isObject(block) && typeof block.text === "string" ? [block.text] : [],
    );
    const fields = bare ? without(item, "type", "content") : without(item, "type");
    return [{ type: "reasoning", text: text.join("\n"), ...keep(name, fields, true) }];
  }
  if (typeof callId !== "string" || callId === "" || !calls.has(kind)) return [whole];
  if (kind !== "function_call") {
    const fields = without(item, "callId");
    return [{ type: "tool-call", callId, name: kind, args: fields, ...keep(name, { kind }) }];
  }
  const { name: tool, arguments: given } = item;
  if (typeof tool !== "string" || typeof given !== "string") return [whole];
  const fields = without(item, "type", "callId", "name", "arguments");
  return [{ type: "tool-call", callId, name: tool, ...argumentsOf(given), ...keep(name, fields, true) }];
}

function argumentsOf(text: string): { readonly args: JsonValue; readonly argsText?: string } {
  const args = parseJson(text);
  if (args === undefined) return { args: {}, argsText: text };
  return JSON.stringify(args) === text ? { args } : { args, argsText: text };
}

function itemsOf(message: Message): AgentItems {
  if (message.role === "assistant") return answerItems(message.parts);
  const answers = message.parts.flatMap((part) => (part.type === "tool-result" ? [resultItem(part)] : []));
  if (answers.length > 0) return answers;
  const kept = keptOf(name, message.extra?.[name] === undefined ? undefined : message.extra);
  const { list, ...fields } = kept ?? { type: "message" };
  const [only] = message.parts;
  const bare = message.parts.length === 1 && only?.type === "text" && only.opaque === undefined;
  const role = message.role === "system" ? "system" : "user";
  if (only?.type === "opaque" && only.kind === `${name}/content`) {
    return [{ ...fields, role, ...(only.data !== null && { content: only.data }) } as AgentItem];
  }
  const text = message.parts.map((part) =>
    part.type === "text" ? part.text : (asString(standIn(part)["text"]) ?? ""),
  );
  const asText = list !== true && (bare || message.parts.length === 0 || role === "system");
  return [{ ...fields, role, content: asText ? text.join("\n") : message.parts.map(inputBlock) } as AgentItem];
}

function answerItems(parts: readonly Part[]): AgentItems {
  const items: JsonObject[] = [];
  let open: JsonValue[] | undefined;
  const say = (block: JsonValue, own: JsonObject | undefined): void => {
    if (!open || own?.["more"] !== true) {
      open = [];
      const fields = isObject(own?.["item"])
        ? own["item"]
        : { type: "message", role: "assistant", status: "completed" };
      items.push({ ...fields, content: open });
    }
    open.push(block);
  };
  for (const part of parts) {
    const kept = "opaque" in part ? keptOf(name, part.opaque) : undefined;
    if (part.type === "text") {
      const block = isObject(kept?.["block"]) ? kept["block"] : {};
      say({ type: "output_text", text: part.text, ...block }, kept);
    } else if (part.type === "opaque" && part.kind === `${name}/content` && isObject(part.data)) {
      say(part.data["block"] ?? null, part.data);
    } else {
      open = undefined;
      items.push(answerItem(part, kept));
    }
  }
  return items as AgentItems;
}

function answerItem(part: Part, kept: JsonObject | undefined): JsonObject {
  if (part.type === "opaque" && part.kind.startsWith(`${name}/`) && isObject(part.data)) return part.data;
  if (part.type === "reasoning")
    return { type: "reasoning", content: [{ type: "input_text", text: part.text }], ...kept };
  if (part.type === "tool-call") {
    const { callId, args } = part;
    if (kept?.["kind"] !== undefined && isObject(args)) return { ...args, callId };
    return {
      type: "function_call",
      callId,
      name: part.name,
      arguments: part.argsText ?? JSON.stringify(args),
      ...kept,
    };
  }
  const { text } = standIn(part);
  return {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: text ?? "" }],
  };
}
