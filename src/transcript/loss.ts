/** Losses of a session in another format: its messages before and after, compared by content. */
import type { JsonValue, Message, Part, ToolResultPart } from "../message/message.ts";

/** The kinds of losses on the way through a format. */
export const lossKinds = {
  "system": "system messages",
  "text": "text",
  "reasoning": "reasoning (its text, or how it was split)",
  "signature": "signatures of reasoning",
  "image": "images",
  "file": "files",
  "tool-call": "tool calls",
  "arguments": "the raw text of arguments that are no JSON",
  "tool-result": "tool results",
  "error": "that a tool result is an error",
  "media": "what is not text in tool results",
  "opaque-part": "parts of other providers",
  "opaque": "fields of other providers on parts",
  "id": "ids of messages",
  "timestamp": "times of messages",
  "model": "the model of each answer",
  "usage": "token usage, or some of its counts",
  "status": "that an answer was interrupted, or is synthetic",
  "extra": "fields of other hosts on messages",
} as const;

/** One of the keys of {@link lossKinds}. */
export type LossKind = keyof typeof lossKinds;

/** The number of losses of one kind. */
export interface Loss {
  readonly kind: LossKind;
  readonly count: number;
}

/**
 * The losses between two histories. Order and additions do not count: a format may split a message, and give ids and
 * times to messages without.
 */
export function lossBetween(before: readonly Message[], after: readonly Message[]): readonly Loss[] {
  const counts = new Map<string, number>();
  for (const [kind, value] of after.flatMap(holdings)) {
    const key = `${kind} ${value}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const lost = new Map<LossKind, number>();
  for (const [kind, value] of before.flatMap(holdings)) {
    const key = `${kind} ${value}`;
    const left = counts.get(key) ?? 0;
    if (left > 0) counts.set(key, left - 1);
    else lost.set(kind, (lost.get(kind) ?? 0) + 1);
  }
  return (Object.keys(lossKinds) as LossKind[]).flatMap((kind) => {
    const count = lost.get(kind);
    return count === undefined ? [] : [{ kind, count }];
  });
}

type Holding = readonly [kind: LossKind, value: string];

function holdings(message: Message): readonly Holding[] {
  const { role, parts, id, timestamp, model, usage, status, extra } = message;
  const about: readonly (readonly [LossKind, unknown])[] = [
    ["id", id],
    ["timestamp", timestamp],
    ["model", model],
    ["usage", usage && sorted(usage)],
    ["status", status === "complete" ? undefined : status],
  ];
  // A format without system messages loses their ids and times with them.
  if (role === "system") {
    return parts.flatMap((part): readonly Holding[] =>
      part.type === "text" ? [["system", part.text]] : partHoldings(part),
    );
  }
  return [
    ...parts.flatMap(partHoldings),
    ...about.flatMap(([kind, value]): Holding[] => (value === undefined ? [] : [[kind, JSON.stringify(value)]])),
    ...Object.entries(extra ?? {}).map(([name, value]): Holding => [
      "extra",
      `${name} ${JSON.stringify(sorted(value))}`,
    ]),
  ];
}

function partHoldings(part: Part): readonly Holding[] {
  const opaque: readonly Holding[] =
    "opaque" in part && part.opaque !== undefined ? [["opaque", JSON.stringify(sorted(part.opaque))]] : [];
  switch (part.type) {
    case "text":
      return part.text === "" ? opaque : [["text", part.text], ...opaque];
    case "reasoning":
      return [
        ...(part.text === "" ? [] : ([["reasoning", part.text]] as const)),
        ...(part.signature === undefined ? [] : ([["signature", part.signature]] as const)),
        ...opaque,
      ];
    case "image":
    case "file":
      return [[part.type, mediaOf(part)], ...opaque];
    case "tool-call":
      return [
        ["tool-call", JSON.stringify([part.callId, part.name, sorted(part.args)])],
        ...(part.argsText === undefined ? [] : ([["arguments", part.argsText]] as const)),
        ...opaque,
      ];
    case "tool-result":
      return [...resultHoldings(part), ...opaque];
    case "opaque":
      return [["opaque-part", JSON.stringify([part.kind, sorted(part.data)])]];
  }
}

function resultHoldings({ callId, content, isError }: ToolResultPart): readonly Holding[] {
  const items = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const text = items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
  return [
    ["tool-result", JSON.stringify([callId, text])],
    ...(isError === true ? ([["error", callId]] as const) : []),
    ...items.flatMap((item): Holding[] =>
      item.type === "text"
        ? []
        : [["media", item.type === "opaque" ? JSON.stringify(sorted(item.data)) : mediaOf(item)]],
    ),
  ];
}

function mediaOf(part: Extract<Part, { type: "image" | "file" }>): string {
  const name = part.type === "file" ? part.name : undefined;
  return JSON.stringify([part.data ?? part.url, part.data === undefined ? "" : part.mediaType, name ?? ""]);
}

/** The value with object fields in one order. */
function sorted(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}
