/**
 * The blocks that a request carries beside its messages, the system prompt and the tool definitions: as lines of
 * `edits.jsonl`, one for each distinct text, and how two of them differ.
 */
import { jsonFault, isObject, sameJson } from "../message/json.ts";
import { hashName, hashText } from "../message/hash.ts";
import type { JsonObject, JsonValue, ToolDefinition } from "../message/message.ts";
import type { EditRecord } from "../message/record.ts";
import type { WindowState } from "./window.ts";

/** The types of the lines that keep a system prompt and a list of tool definitions. */
export const sentTypes = ["system", "tools"] as const;

/** A block of a request that has lines of its own. */
type SentType = (typeof sentTypes)[number];

/** The blocks of a request beside its messages, as they were sent. */
export interface SentBlocks {
  /** The system prompt; absent where the log's own system messages were sent, or the text is not on disk. */
  readonly system?: string;
  /** The tool definitions; absent where they are not on disk. */
  readonly tools?: readonly ToolDefinition[];
}

/** The lines of a text that became others: all between the lines that both texts begin and end with. */
export interface TextChange {
  /** The number of the first line that differs, from 1. */
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** The differences between the blocks of two requests. */
export interface SentChange {
  readonly system?: TextChange;
  /** The tools by name; `changed` have another description or schema. */
  readonly tools?: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  };
}

/** The hash of no system prompt, which has no line: a chain of no messages is its seed. */
const noSystemHash = hashName(0);

/** The hash of an empty list of tools, which has no line. */
export const noToolsHash = hashName(hashText("[]"));

/**
 * The lines that keep the blocks of a request: none for an absent one, and for tools that JSON cannot carry.
 *
 * @param hashes - of the blocks as they were sent, before any mask
 */
export function sentRecords(
  { systemHash, toolsHash }: SentHashes,
  { system, tools = [] }: SentBlocks,
  timestamp: string,
): readonly EditRecord[] {
  // Definitions may carry what JSON leaves out, such as functions of a host.
  const definitions = JSON.parse(JSON.stringify(tools)) as JsonValue;
  const isCarried = tools.length > 0 && jsonFault(definitions) === undefined;
  return [
    ...(system === undefined ? [] : [record("system", { hash: systemHash, text: system }, timestamp)]),
    ...(isCarried ? [record("tools", { hash: toolsHash, definitions }, timestamp)] : []),
  ];
}

function record(type: SentType, data: JsonObject, timestamp: string): EditRecord {
  return { kind: "edit", type, data, timestamp };
}

/** The block that a line keeps, with its hash; undefined for a line of another type. */
export function sentOf({ type, data }: EditRecord): { readonly hash: string; readonly blocks: SentBlocks } | undefined {
  const { hash, text, definitions } = data;
  if (typeof hash !== "string") return undefined;
  if (type === "system" && typeof text === "string") return { hash, blocks: { system: text } };
  if (type !== "tools" || !Array.isArray(definitions)) return undefined;
  return { hash, blocks: { tools: (definitions as readonly JsonValue[]).filter(isTool) } };
}

function isTool(value: JsonValue): value is JsonValue & ToolDefinition {
  return isObject(value) && typeof value["name"] === "string";
}

/** The hashes of a request's blocks. */
export type SentHashes = Pick<WindowState, "systemHash" | "toolsHash">;

/** The blocks of a request as they are compared: a prompt that came or went is one that was or became empty. */
export function comparedBlocks({ systemHash }: Pick<WindowState, "systemHash">, blocks: SentBlocks): SentBlocks {
  return systemHash === noSystemHash ? { ...blocks, system: "" } : blocks;
}

/** The differences between two requests' blocks, as far as both are known; undefined where there is none. */
export function sentChange(before: SentBlocks, after: SentBlocks): SentChange | undefined {
  const system = before.system !== undefined && after.system !== undefined && textChange(before.system, after.system);
  const tools = before.tools && after.tools && toolsChange(before.tools, after.tools);
  return system || tools ? { ...(system && { system }), ...(tools && { tools }) } : undefined;
}

function textChange(before: string, after: string): TextChange | undefined {
  if (before === after) return undefined;
  const [old, now] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  return { line: start + 1, removed: old.slice(start, old.length - end), added: now.slice(start, now.length - end) };
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}

function toolsChange(before: readonly ToolDefinition[], after: readonly ToolDefinition[]): SentChange["tools"] {
  const [old, now] = [byName(before), byName(after)];
  const added = [...now.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !now.has(name));
  const changed = [...now].flatMap(([name, tool]) => {
    const earlier = old.get(name);
    return earlier && !sameJson(asJson(earlier), asJson(tool)) ? [name] : [];
  });
  return added.length + removed.length + changed.length > 0 ? { added, removed, changed } : undefined;
}

function asJson(tool: ToolDefinition): JsonValue {
  return tool as unknown as JsonValue;
}

function byName(tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** Follows the blocks of a session's epochs through its edits, oldest first. */
export class SentReader {
  readonly #blocks = new Map<string, SentBlocks>([[noToolsHash, { tools: [] }]]);
  #before: { readonly hashes: string; readonly blocks: SentBlocks; readonly compared: SentBlocks } | undefined;

  /** The blocks of the newest epoch, as far as they are known. */
  get blocks(): SentBlocks {
    return this.#before?.blocks ?? {};
  }

  /** Reads a line that may keep a block. */
  take(record: EditRecord): undefined {
    const sent = sentOf(record);
    if (sent) this.#blocks.set(sent.hash, sent.blocks);
  }

  /** Goes on to an epoch; the difference between its blocks and those of the epoch read before. */
  change({ state: { systemHash, toolsHash } }: { readonly state: SentHashes }): SentChange | undefined {
    const before = this.#before;
    const hashes = `${systemHash} ${toolsHash}`;
    if (before?.hashes === hashes) return undefined;
    const blocks = { ...this.#blocks.get(systemHash), ...this.#blocks.get(toolsHash) };
    const compared = comparedBlocks({ systemHash }, blocks);
    this.#before = { hashes, blocks, compared };
    return before && sentChange(before.compared, compared);
  }
}
