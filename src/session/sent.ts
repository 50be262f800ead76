/** The system prompts and tool definitions of a session: each distinct one is in the log once, and read back by its hash. */
import type { EpochData } from "../window/epoch/record.ts";
import { noToolsHash, sentOf, sentRecord } from "../window/sent.ts";
import type { SentBlocks, SentType } from "../window/sent.ts";
import type { WindowState } from "../window/window.ts";
import type { SessionContext } from "./context.ts";

/** The lines of `edits.jsonl` that keep an epoch's blocks, by `seq`. */
type SentPlaces = Pick<EpochData, "systemSeq" | "toolsSeq">;

/** Writes the blocks of a session's requests, each distinct one once. */
export class SentLog {
  readonly #context: SessionContext;
  /** The line of each block in the log, by type and hash. */
  readonly #places = new Map<string, number>();
  /** Whether the log may hold lines that are not in `#places`. */
  #isUnread = false;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Takes over the lines that an epoch names; an earlier process may have written others. */
  resumed(epoch: EpochData): void {
    this.#isUnread = true;
    this.known(epoch);
  }

  /** Takes over the lines that an epoch names. */
  known({ state, systemSeq, toolsSeq }: EpochData): void {
    if (systemSeq !== undefined) this.#places.set(keyOf("system", state.systemHash), systemSeq);
    if (toolsSeq !== undefined) this.#places.set(keyOf("tools", state.toolsHash), toolsSeq);
  }

  /** Writes the blocks of a request that the log lacks, all at once. */
  async keep(blocks: SentBlocks, { systemHash, toolsHash }: WindowState): Promise<void> {
    const timestamp = this.#context.now().toISOString();
    const given = [["system", systemHash] as const, ["tools", toolsHash] as const].flatMap(([type, hash]) => {
      const record = sentRecord(type, hash, blocks, timestamp);
      return record ? [{ record, key: keyOf(type, hash) }] : [];
    });
    const isMissing = ({ key }: { readonly key: string }): boolean => !this.#places.has(key);
    if (!given.some(isMissing)) return;
    await this.#read();
    const missing = given.filter(isMissing);
    if (missing.length === 0) return;
    const stored = await this.#context.write(missing.map(({ record }) => record));
    for (const [place, { key }] of missing.entries()) {
      const { seq } = stored[place] ?? {};
      if (seq !== undefined) this.#places.set(key, seq);
    }
  }

  /** The lines that keep the blocks of a window. */
  placesOf({ systemHash, toolsHash }: WindowState): SentPlaces {
    const system = this.#places.get(keyOf("system", systemHash));
    const tools = this.#places.get(keyOf("tools", toolsHash));
    return { ...(system !== undefined && { systemSeq: system }), ...(tools !== undefined && { toolsSeq: tools }) };
  }

  async #read(): Promise<void> {
    if (!this.#isUnread) return;
    const { store, scope, id } = this.#context;
    for await (const record of store.read(scope, id, { kind: "edit" })) {
      const sent = sentOf(record);
      if (sent) this.#places.set(keyOf(record.type as SentType, sent.hash), record.seq);
    }
    this.#isUnread = false;
  }
}

function keyOf(type: SentType, hash: string): string {
  return `${type} ${hash}`;
}

/** The hashes of the blocks of an epoch's requests, and the lines of `edits.jsonl` that keep them. */
export type SentNames = SentPlaces & Pick<WindowState, "systemHash" | "toolsHash">;

/** The blocks of an epoch's requests, as far as they are in the log. Of an empty list of tools there is no line. */
export async function sentIn(
  { store, scope, id }: Pick<SessionContext, "store" | "scope" | "id">,
  { systemSeq, toolsSeq, systemHash, toolsHash }: SentNames,
): Promise<SentBlocks> {
  let found: SentBlocks = toolsHash === noToolsHash ? { tools: [] } : {};
  for (const [type, seq, hash] of [
    ["system", systemSeq, systemHash] as const,
    ["tools", toolsSeq, toolsHash] as const,
  ]) {
    if (seq === undefined) continue;
    for await (const record of store.read(scope, id, { kind: "edit", from: seq, to: seq })) {
      const sent = record.type === type ? sentOf(record) : undefined;
      if (sent?.hash === hash) found = { ...found, ...sent.blocks };
    }
  }
  return found;
}
