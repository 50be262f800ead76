/** The system prompts and tool definitions of a session: each distinct one is in the log once. */
import { defined } from "../message/json.ts";
import type { EditRecord, StoredRecord } from "../message/record.ts";
import type { EpochData } from "../window/epoch/record.ts";
import { sentOf, sentRecords } from "../window/sent.ts";
import type { SentBlocks } from "../window/sent.ts";
import type { WindowState } from "../window/window.ts";
import type { SessionContext } from "./context.ts";
import { recordsOf } from "./log.ts";
import type { SentPlaces } from "./log.ts";

/** Writes the blocks of a session's requests, each distinct one once. */
export class SentLog {
  readonly #context: SessionContext;
  /** The line of each block in the log, by its hash. */
  readonly #places = new Map<string, number>();
  /** Whether the log may hold lines that are not in `#places`: an earlier process may have written others. */
  #isUnread: boolean;

  constructor(context: SessionContext) {
    this.#context = context;
    this.#isUnread = context.composer.state !== undefined;
  }

  /** Takes over the lines that an epoch names. */
  known({ state, systemSeq, toolsSeq }: EpochData): void {
    if (systemSeq !== undefined) this.#places.set(state.systemHash, systemSeq);
    if (toolsSeq !== undefined) this.#places.set(state.toolsHash, toolsSeq);
  }

  /** Writes the blocks of a request that the log lacks, all at once. */
  async keep(blocks: SentBlocks, state: WindowState): Promise<void> {
    const given = sentRecords(state, blocks, this.#context.now().toISOString());
    const isMissing = ({ data }: EditRecord): boolean => !this.#places.has(data.hash as string);
    if (this.#isUnread && given.some(isMissing)) {
      this.#note(await recordsOf(this.#context, { kind: "edit" }));
      this.#isUnread = false;
    }
    const missing = given.filter(isMissing);
    if (missing.length > 0) this.#note(await this.#context.write(missing));
  }

  #note(records: readonly StoredRecord[]): void {
    for (const record of records) {
      const sent = record.kind === "edit" ? sentOf(record) : undefined;
      if (sent) this.#places.set(sent.hash, record.seq);
    }
  }

  /** The lines that keep the blocks of a window. */
  placesOf({ systemHash, toolsHash }: WindowState): SentPlaces {
    return defined({ systemSeq: this.#places.get(systemHash), toolsSeq: this.#places.get(toolsHash) });
  }
}
