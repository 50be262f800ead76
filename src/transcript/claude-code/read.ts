/** Sessions of Claude Code: JSONL, a tree by uuid and parentUuid, one line a block of an assistant message. */
import type { JsonObject, JsonValue, Message, Part } from "../../message/message.ts";
import { branchOfLastLeaf } from "../branch.ts";
import { contentParts } from "../../shape/anthropic/parts.ts";
import { anthropicUsage } from "../../shape/anthropic/usage.ts";
import { claudeCodeBlocks, claudeCodeFlags as flags } from "./blocks.ts";
import { head, TranscriptBuilder } from "../builder.ts";
import { asName, asObject, asString, defined, isoTime, objectsOf, restOf } from "../../message/json.ts";
import type { Transcript, TranscriptDecoder, TranscriptSource } from "../transcript.ts";

const format = "claude-code";

const messageFields: ReadonlySet<string> = new Set([
  "id",
  "type",
  "role",
  "content",
  "model",
  "usage",
  "stop_reason",
  "stop_sequence",
]);

/**
 * Reads Claude Code sessions. Lines of one assistant message become one message; tool results become messages of role
 * `tool`; the branch of the last message is the session, and earlier retries are counted in `meta.abandoned`. The
 * summary of a compaction is in `meta.compactions`, because the messages it stands for are all there. Sub-agents are
 * sessions of their own, behind the main one, with `meta.sidechain`.
 */
export const claudeCode: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const rows = head(source.entries).map((entry) => asObject(entry.value) ?? {});
    const spoken = rows.filter(isSpoken).filter((row) => "uuid" in row || "sessionId" in row);
    if (spoken.length > 0) return 0.95;
    return rows.some((row) => "parentUuid" in row && "isSidechain" in row) ? 0.6 : 0;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const problems: { line: number; problem: string }[] = [];
    const main: Row[] = [];
    const side: Row[] = [];
    for (const { line, value } of source.entries) {
      const row = asObject(value);
      if (row && asName(row["type"]) !== undefined)
        (row["isSidechain"] === true ? side : main).push({ line, row: legacyRow(row) });
      else problems.push({ line, problem: "no Claude Code line: it has no type" });
    }
    const id = newest(main, "sessionId");
    const groups = [...sidechains(side)].map(([agent, rows]) => session(`${id ?? source.name}/${agent}`, rows, agent));
    const first = session(id ?? source.name, main);
    const all = first.messages.length === 0 && groups.length > 0 ? groups : [first, ...groups];
    return all.map((one, index) => (index === 0 ? { ...one, problems: [...problems, ...one.problems] } : one));
  },
};

interface Row {
  readonly line: number;
  readonly row: JsonObject;
}

function isSpoken(row: JsonObject): boolean {
  return (row["type"] === "user" || row["type"] === "assistant") && "content" in (asObject(row["message"]) ?? {});
}

/** Reads a line of early versions, which wrote calls and results as lines of their own. */
function legacyRow(row: JsonObject): JsonObject {
  const { type, name } = row;
  const block =
    type === "tool_use"
      ? { type, name, input: row["input"] }
      : { type, name, content: row["output"] ?? row["content"] };
  if (type === "tool_use")
    return { ...row, type: "assistant", message: { role: "assistant", content: [defined(block)] } } as JsonObject;
  if (type === "tool_result")
    return { ...row, type: "user", message: { role: "user", content: [defined(block)] } } as JsonObject;
  return row;
}

/** Lines of sub-agents, by agent where the line names one, else by the chain they belong to. */
function sidechains(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  const groupOf = new Map<string, string>();
  let last: string | undefined;
  for (const entry of rows) {
    const agent = asName(entry.row["agentId"]);
    const parent = entry.row["parentUuid"];
    const chain = typeof parent === "string" ? (groupOf.get(parent) ?? last) : undefined;
    const group: string = agent !== undefined ? `agent-${agent}` : (chain ?? `sidechain-${groups.size + 1}`);
    const members = groups.get(group);
    if (members) members.push(entry);
    else groups.set(group, [entry]);
    const uuid = asName(entry.row["uuid"]);
    if (uuid !== undefined) groupOf.set(uuid, group);
    last = group;
  }
  return groups;
}

function session(id: string, rows: readonly Row[], agent?: string): Transcript {
  const builder = new TranscriptBuilder();
  const tree = rows.filter(({ row }) => "uuid" in row || isSpoken(row));
  const leaf = tree.findLastIndex(({ row }) => isSpoken(row));
  const branch = branchWithResults(tree.slice(0, leaf + 1));
  const compactions: JsonValue[] = [];
  const [assembly, aside] = [new Assembly(builder), new TranscriptBuilder()];
  const left = new Assembly(aside);
  let abandoned = 0;
  tree.forEach(({ row }, index) => {
    const boundary = row["type"] === "system" && row["subtype"] === "compact_boundary";
    if (boundary) compactions.push(compaction(row, builder.messages.length));
    else if (row["isCompactSummary"] === true) noteSummary(compactions, row, builder.messages.length);
    else if (branch.has(index)) assembly.add(row);
    else {
      left.add(row);
      if (isSpoken(row)) abandoned++;
    }
  });
  builder.leaveOut(aside.messages);
  const meta = defined({
    cwd: newest(rows, "cwd"),
    version: newest(rows, "version"),
    gitBranch: newest(rows, "gitBranch"),
    title: newest(rows, "customTitle") ?? newest(rows, "aiTitle") ?? newest(rows, "summary"),
    sidechain: agent,
    compactions: compactions.length === 0 ? undefined : compactions,
    abandoned: abandoned === 0 ? undefined : abandoned,
  }) as JsonObject;
  return builder.build(id, format, { meta });
}

function newest(rows: readonly Row[], field: string): string | undefined {
  return asName(rows.findLast(({ row }) => asName(row[field]) !== undefined)?.row[field]);
}

/**
 * The branch of the last message, with the results of parallel calls and the remaining blocks of its messages, which
 * hang beside the branch.
 */
function branchWithResults(tree: readonly Row[]): ReadonlySet<number> {
  const branch = new Set(branchOfLastLeaf(tree.map(({ row }) => ({ id: asName(row["uuid"]), parent: parentOf(row) }))));
  const messageIds = new Set<string>();
  for (const index of branch) {
    const id = messageId(tree[index]?.row);
    if (id !== undefined) messageIds.add(id);
  }
  const calls = new Set<string>();
  tree.forEach(({ row }, index) => {
    if (messageIds.has(messageId(row) ?? "")) branch.add(index);
    if (branch.has(index)) for (const block of blocksOf(row, "tool_use")) calls.add(asString(block["id"]) ?? "");
  });
  tree.forEach(({ row }, index) => {
    if (blocksOf(row, "tool_result").some((block) => calls.has(asName(block["tool_use_id"]) ?? "none")))
      branch.add(index);
  });
  return branch;
}

/**
 * The parent of a line. A null parent begins the session only on a message; a bookkeeping line continues the line
 * before.
 */
function parentOf(row: JsonObject): string | null | undefined {
  const parent = row["parentUuid"];
  if (typeof parent === "string") return parent;
  return asName(row["logicalParentUuid"]) ?? (parent === null && isSpoken(row) ? null : undefined);
}

function messageId(row: JsonObject | undefined): string | undefined {
  return row?.["type"] === "assistant" ? asName(asObject(row["message"])?.["id"]) : undefined;
}

function blocksOf(row: JsonObject, type: string): readonly JsonObject[] {
  return objectsOf(asObject(row["message"])?.["content"]).filter((block) => block["type"] === type);
}

/** Assembles messages from lines. */
class Assembly {
  readonly #builder: TranscriptBuilder;
  /** The assistant messages by their host's ids: the place of each, and its blocks. Words that a user queued part no answer. */
  readonly #answers = new Map<string, { readonly index: number; readonly blocks: Set<string> }>();

  constructor(builder: TranscriptBuilder) {
    this.#builder = builder;
  }

  add(row: JsonObject): void {
    const queued = asObject(row["attachment"]);
    if (row["type"] === "assistant") this.#assistant(row);
    else if (row["type"] === "user") this.#user(row, asObject(row["message"])?.["content"]);
    else if (queued?.["type"] === "queued_command") this.#user(row, queued["prompt"]);
  }

  #assistant(row: JsonObject): void {
    const message = asObject(row["message"]) ?? {};
    const id = asName(message["id"]);
    const open = this.#answers.get(id ?? "");
    const content = open
      ? objectsOf(message["content"]).filter((block) => !open.blocks.has(JSON.stringify(block)))
      : message["content"];
    const parts = contentParts(content, this.#builder.calls, claudeCodeBlocks);
    const usage = anthropicUsage(message["usage"]);
    if (open) {
      for (const block of objectsOf(content)) open.blocks.add(JSON.stringify(block));
      this.#change(open.index, (old) => ({ ...old, parts: [...old.parts, ...parts], ...defined({ usage }) }));
      return;
    }
    const model = asName(message["model"]);
    const index = this.#builder.add(
      defined({
        id: asName(row["uuid"]),
        role: "assistant" as const,
        parts,
        timestamp: isoTime(row["timestamp"]),
        model: model === "<synthetic>" ? undefined : model,
        usage,
        extra: extraOf(row, { ...restOf(message, messageFields), ...defined({ messageId: id }) }),
      }),
    );
    const blocks = new Set(objectsOf(message["content"]).map((block) => JSON.stringify(block)));
    if (id !== undefined) this.#answers.set(id, { index, blocks });
  }

  #user(row: JsonObject, content: JsonValue | undefined): void {
    const parts = contentParts(content, this.#builder.calls, claudeCodeBlocks);
    const id = asName(row["uuid"]);
    const extra = extraOf(row, restOf(asObject(row["message"]) ?? {}, messageFields));
    if (isInterruption(parts)) this.#markInterrupted();
    this.#builder.addUser(
      defined({ id, timestamp: isoTime(row["timestamp"]), extra }),
      parts,
      id === undefined ? undefined : `${id}/text`,
    );
  }

  #markInterrupted(): void {
    const index = this.#builder.messages.length - 1;
    if (this.#builder.messages[index]?.role === "assistant")
      this.#change(index, (old) => ({ ...old, status: "interrupted" }));
  }

  #change(index: number, change: (old: Message) => Message): void {
    const old = this.#builder.messages[index];
    if (old) this.#builder.messages[index] = change(old);
  }
}

function isInterruption(parts: readonly Part[]): boolean {
  const [first] = parts;
  return first?.type === "text" && first.text === "[Request interrupted by user]";
}

function extraOf(row: JsonObject, fields: JsonObject | undefined): JsonObject | undefined {
  const set = Object.fromEntries(
    flags.filter((flag) => row[flag] !== undefined && row[flag] !== false).map((flag) => [flag, row[flag]]),
  );
  const extra = { ...fields, ...set } as JsonObject;
  return Object.keys(extra).length === 0 ? undefined : extra;
}

function compaction(row: JsonObject, after: number): JsonObject {
  return { after, ...asObject(row["compactMetadata"]) };
}

function noteSummary(compactions: JsonValue[], row: JsonObject, after: number): void {
  const content = asObject(row["message"])?.["content"];
  const text =
    asString(content) ??
    objectsOf(content)
      .map((block) => asString(block["text"]) ?? "")
      .join("\n");
  const last = asObject(compactions.at(-1));
  if (last?.["after"] === after && last["summary"] === undefined) compactions.splice(-1, 1, { ...last, summary: text });
  else compactions.push({ after, summary: text });
}
