/** One message of pi as a Message and back: what has no place in a message is kept beside it, so that nothing is lost. */
import type { JsonObject, JsonValue, Message, Part, ToolResultPart } from "../../message/message.ts";
import { asArray, asName, asObject, asString, defined, isoTime } from "../../message/json.ts";
import { usageBesideCache } from "../../message/parts.ts";
import { restOf } from "../../message/json.ts";
import { commandLabel, summaryLabel } from "../../transcript/pi/labels.ts";
import { plain, contentParts, plainText, resultItem, contentOf, blockOf } from "./blocks.ts";

/**
 * A message of pi's transcript, in every version: the fields Windrow reads. Messages of a host application's own roles
 * pass through as they are.
 */
export interface PiMessage {
  readonly role: string;
}

/** The label of a system message where a profile takes none in the middle (src/window/view.ts). */
const systemLabel = "[System message]";

/** Content that was a string and not an array of blocks. */
const asText = "text";

/** Fields of `extra` of the adapter's own: a message carried whole, the shape of its content, its role in pi. */
const whole = "pi:message";
const shape = "pi:content";
const hostRole = "pi:role";

/** Whether pi leaves the message out of every request: the answer broke off, and its calls were never run. */
export function isCutOff(message: PiMessage): boolean {
  const { stopReason } = message as { readonly stopReason?: unknown };
  return message.role === "assistant" && (stopReason === "error" || stopReason === "aborted");
}

/** The usage that a message of pi reported; undefined where it reported none. */
export function piUsage(message: PiMessage): Message["usage"] {
  const usage = asObject((message as { readonly usage?: unknown }).usage);
  return usage && usageBesideCache(usage["input"], usage["output"], usage["cacheRead"], usage["cacheWrite"]);
}

/** A message of pi, without an id; undefined where the value is none. */
export function fromPi(host: PiMessage): Omit<Message, "id"> | undefined {
  const value = asObject(host);
  const role = value && asName(value["role"]);
  if (!value || role === undefined) return undefined;
  const decoded = isCutOff(host) ? undefined : knownMessage(role, value);
  return decoded ?? carried(value, host);
}

function knownMessage(role: string, value: JsonObject): Omit<Message, "id"> | undefined {
  const content = contentParts(value["content"]);
  if (!content) return undefined;
  const text = typeof value["content"] === "string" ? { [shape]: asText } : undefined;
  const { timestamp, fields } = timeOf(value);
  switch (role) {
    case "user":
      return message("user", content, timestamp, { ...rest(value, ["role", "content", ...fields]), ...text });
    case "system":
      return message("system", [...content, ...systemParts(value)], timestamp, {
        ...rest(value, ["role", "content", "sections", "toolsAdded", "toolsRemoved", ...fields]),
        ...text,
        [hostRole]: role,
      });
    case "assistant": {
      const model = asName(value["model"]);
      const extra = {
        ...rest(value, ["role", "content", ...(model === undefined ? [] : ["model"]), ...fields]),
        ...text,
      };
      const usage = piUsage(value as unknown as PiMessage);
      return { ...message("assistant", content, timestamp, extra), ...defined({ model, usage }) };
    }
    case "toolResult": {
      const callId = asName(value["toolCallId"]);
      const name = asName(value["toolName"]);
      if (callId === undefined) return undefined;
      const isError = value["isError"];
      const read = ["role", "content", "toolCallId", ...(name === undefined ? [] : ["toolName"]), ...fields];
      const part: ToolResultPart = {
        type: "tool-result",
        callId,
        ...defined({ name }),
        content: plainText(value["content"]) ?? content.map(resultItem),
        ...(isError === true && { isError }),
      };
      const known = isError === true ? [...read, "isError"] : read;
      return message("tool", [part], timestamp, { ...rest(value, known), ...text });
    }
    default:
      return undefined;
  }
}

/** A message that Windrow reads the words of and hands back whole: another role, or an answer that broke off. */
function carried(value: JsonObject, host: PiMessage): Omit<Message, "id"> | undefined {
  const copy = plain(value);
  if (copy === undefined) return undefined;
  const words = wordsOf(value) || JSON.stringify(copy);
  const broken = isCutOff(host);
  const text: Part[] = broken && asArray(value["content"])?.length === 0 ? [] : [{ type: "text", text: words }];
  return {
    ...message(broken ? "assistant" : "user", text, timeOf(value).timestamp, { [whole]: copy }),
    ...(broken && { status: "interrupted" as const }),
    // A command's output is shown in the user's role: it must not pass for the user's words.
    ...(value["role"] === "bashExecution" && { status: "synthetic" as const }),
  };
}

/** The words of pi's own further roles, and of a host application's under the role's name: no user said them. */
function wordsOf(value: JsonObject): string {
  const { command, output = "", summary } = value;
  if (asName(command)) return `${commandLabel}\nRan \`${asName(command)}\`\n${asString(output) ?? ""}`;
  if (asName(summary)) return `${summaryLabel}\n${asName(summary)}`;
  const blocks = (asArray(value["content"]) ?? []).map((block) => asObject(block) ?? {});
  const words = blocks.map((block) => asString(block["text"]) ?? asString(block["name"]) ?? "");
  const content = asString(value["content"]) ?? words.filter((text) => text !== "").join("\n");
  return content === "" ? "" : `[${asString(value["role"]) ?? ""}]\n${content}`;
}

function message(
  role: Message["role"],
  parts: readonly Part[],
  timestamp: string | undefined,
  extra: JsonObject,
): Omit<Message, "id"> {
  return { role, parts, ...defined({ timestamp }), ...(Object.keys(extra).length > 0 && { extra }) };
}

/** The time, where milliseconds say it exactly; the fields that are then read. */
function timeOf(value: JsonObject): { readonly timestamp: string | undefined; readonly fields: readonly string[] } {
  const given = value["timestamp"];
  const timestamp = typeof given === "number" ? isoTime(given) : undefined;
  const exact = timestamp !== undefined && Date.parse(timestamp) === given;
  return { timestamp: exact ? timestamp : undefined, fields: exact ? ["timestamp"] : [] };
}

function rest(value: JsonObject, known: readonly string[]): JsonObject {
  const fields = Object.entries(restOf(value, new Set(known)) ?? {}).map(
    ([name, field]) => [name, plain(field)] as const,
  );
  return defined(Object.fromEntries(fields)) as JsonObject;
}

/** Prompt sections and tool declarations that a system message carries since pi 0.86. */
function systemParts(value: JsonObject): readonly Part[] {
  const parts: Part[] = [];
  const sections = asObject(value["sections"]);
  for (const [name, text] of Object.entries(sections ?? {})) {
    if (asName(text) !== undefined && typeof text === "string")
      parts.push({ type: "text", text, opaque: { section: name } });
    else parts.push({ type: "opaque", kind: "pi/section", data: { section: name, value: plain(text) ?? null } });
  }
  for (const field of ["toolsAdded", "toolsRemoved"]) {
    const data = value[field] === undefined ? undefined : plain(value[field]);
    if (data !== undefined) parts.push({ type: "opaque", kind: `pi/${field}`, data });
  }
  if (sections && Object.keys(sections).length === 0) parts.push({ type: "opaque", kind: "pi/sections", data: {} });
  return parts;
}

/** A message in pi's shape. */
export function toPi(given: Message): PiMessage {
  const { [whole]: copy, [shape]: content, [hostRole]: kept, ...extra } = given.extra ?? {};
  if (asObject(copy)) return copy as unknown as PiMessage;
  const time = Date.parse(given.timestamp ?? "");
  // A message that Windrow wrote itself has no time of its own, and the same window must give the same bytes.
  const own = given.status === "synthetic" ? { timestamp: 0 } : {};
  const stamp = "timestamp" in extra ? {} : Number.isNaN(time) ? own : { timestamp: time };
  const result = given.parts.find((part) => part.type === "tool-result");
  if (given.role === "tool" && result)
    return { ...resultFields(result, given, content === asText), ...extra, ...stamp } as PiMessage;
  if (kept === "system") {
    const parts = given.parts.filter((part) => part.type !== "text" || part.text !== systemLabel);
    return { ...systemFields(parts, content === asText), ...extra, ...stamp } as PiMessage;
  }
  return {
    role: given.role === "tool" ? "user" : given.role,
    content: contentOf(given.parts, content === asText),
    ...defined({ model: given.model }),
    ...extra,
    ...stamp,
  } as object as PiMessage;
}

function resultFields(part: ToolResultPart, { extra }: Message, text: boolean): object {
  const blocks =
    typeof part.content === "string"
      ? [{ type: "text", text: part.content }]
      : part.content.map((item) => blockOf(item));
  return {
    role: "toolResult",
    toolCallId: part.callId,
    ...defined({ toolName: part.name }),
    content: text && typeof part.content === "string" ? part.content : blocks,
    ...((part.isError === true || !extra) && { isError: part.isError ?? false }),
  };
}

function systemFields(parts: readonly Part[], text: boolean): object {
  const sections: Record<string, JsonValue> = {};
  const declared: Record<string, JsonValue> = {};
  let sectioned = false;
  const content: Part[] = [];
  for (const part of parts) {
    const section = part.type === "text" ? asName(asObject(part.opaque)?.["section"]) : undefined;
    if (part.type === "text" && section !== undefined) sections[section] = part.text;
    else if (part.type !== "opaque") content.push(part);
    else if (part.kind === "pi/section") {
      const { section: name, value } = (asObject(part.data) ?? {}) as { section?: string; value?: JsonValue };
      sections[name ?? ""] = value ?? null;
    } else if (part.kind === "pi/sections") sectioned = true;
    else if (part.kind.startsWith("pi/tools")) declared[part.kind.slice("pi/".length)] = part.data;
    else content.push(part);
  }
  return {
    role: "system",
    content: contentOf(content, text),
    ...((sectioned || Object.keys(sections).length > 0) && { sections }),
    ...declared,
  };
}
