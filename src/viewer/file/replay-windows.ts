/** The windows of a replay as a file holds them, packed as they are composed. */
import type { Message } from "../../message/message.ts";
import type { ReplayedMiss, ReplayedWindow } from "../../replay/replay.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import { EditIndex } from "../../window/edits.ts";
import { profileOf } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { Composed } from "../../window/window.ts";
import { strategyOf } from "../../window/by-name.ts";
import { besideTokens } from "../stored/cache-card.ts";
import { entriesOf } from "../stored/entries.ts";
import { fatesOf } from "../stored/fates.ts";
import type { Rebuilt } from "../stored/rebuild.ts";
import { repairsIn } from "../stored/repairs.ts";
import { rebuiltBlocks } from "../stored/window.ts";
import type { CacheCard, CallRow, EpochRow, MissRow, ViewerWindow, WindowEntry } from "../viewer.ts";
import type { FileWindow } from "./data.ts";
import type { WindowPacker } from "./pack.ts";

/** The most characters of a missed text that a table shows. */
const missedText = 300;

/** The facts that all rows of a replay share. */
export interface ReplayLog {
  readonly transcript: Transcript;
  /** The calls as they were recorded, one for each request. */
  readonly calls: readonly CallRow[];
  readonly profile: string | Profile;
  readonly counter: TokenCounter;
  readonly packer: WindowPacker;
}

/** The window of the call before. */
interface Before {
  readonly entries: readonly WindowEntry[];
  readonly state: Composed["state"];
  readonly beside: number;
}

/** The windows of one strategy at one budget. */
export class ReplayWindows {
  readonly calls: CallRow[] = [];
  readonly epochs: EpochRow[] = [];
  readonly windows: (FileWindow | null)[] = [];
  readonly misses: MissRow[] = [];
  readonly #log: ReplayLog;
  readonly #logged: ReadonlyMap<number, Message>;
  readonly #numbers: ReadonlyMap<number, number>;
  #before: Before | undefined;
  #sentAt = 0;

  /** @param indices - of the messages that answered, in the order of the calls */
  constructor(log: ReplayLog, indices: readonly number[]) {
    this.#log = log;
    this.#logged = new Map(log.transcript.messages.map((message, index) => [index + 1, message]));
    this.#numbers = new Map(indices.map((index, place) => [index, place + 1]));
    log.packer.begin();
  }

  /** Takes the next window. */
  add({ index, composed, shown, budget }: ReplayedWindow): void {
    const call = this.#numbers.get(index) ?? 0;
    this.#refusedUntil(call);
    const { report, state } = composed;
    const rebuilt = this.#rebuilt({ index, composed, shown });
    const entries = entriesOf(rebuilt);
    const blocks = rebuiltBlocks(rebuilt, entries, composed.tokens);
    const limit = Number.isFinite(budget) ? budget : null;
    if (report.opened) {
      const { reason, tokensBefore, tokensAfter } = report.opened;
      const about = { epoch: report.epoch, reason, tokensBefore, tokensAfter, opened: state.opened, budget: limit };
      const fates = fatesOf(state, state.opened);
      this.epochs.push({ ...about, timestamp: this.#recorded(call).timestamp, firstCall: call, fates });
    }
    const row = this.#row(call, {
      lastSeq: index,
      epoch: report.epoch,
      tokens: composed.tokens,
      blocks,
      predictedCached: report.cost.cached,
    });
    const { system, tools = [] } = rebuilt.sent;
    const window: ViewerWindow = {
      call,
      lastSeq: index,
      epoch: report.epoch,
      tokens: composed.tokens,
      budget: limit,
      blocks,
      verified: { isVerified: true, recorded: null, rebuilt: report.windowHash.slice(0, 16) },
      ...(system !== undefined && { system }),
      tools,
      missing: [],
      entries,
      fates: fatesOf(state, index),
      cache: this.#card(entries, composed, besideTokens(blocks, entries)),
      repairs: repairsIn(rebuilt),
    };
    this.calls.push(row);
    this.windows.push(this.#log.packer.pack(window, row, this.epochs.at(-1)));
    this.#before = { entries, state, beside: besideTokens(blocks, entries) };
  }

  /** Takes a reference that the newest window lacks. */
  miss({ index, source, text, recall }: ReplayedMiss): void {
    this.misses.push({
      call: this.#numbers.get(index) ?? 0,
      seq: index + 1,
      source: source + 1,
      text: text.length > missedText ? `${text.slice(0, missedText).toWellFormed()}…` : text,
      recall: recall === undefined ? null : (recall.id ?? recall.query ?? null),
    });
  }

  /** Ends the row: calls behind the last window had none. */
  end(): void {
    this.#refusedUntil(this.#log.calls.length + 1);
  }

  #rebuilt({ index, composed, shown }: Pick<ReplayedWindow, "index" | "composed" | "shown">): Rebuilt {
    const { transcript, profile, counter } = this.#log;
    const { sent = [] } = transcript;
    while ((sent[this.#sentAt + 1]?.at ?? Infinity) <= index) this.#sentAt += 1;
    const { system, tools } = sent[this.#sentAt] ?? {};
    return {
      composed,
      shown: shown(),
      logged: this.#logged,
      edits: new EditIndex(composed.state.edits),
      sent: { ...(system !== undefined && { system }), ...(tools && { tools }) },
      settings: {
        strategy: strategyOf("none"),
        profile: profileOf(profile),
        counter,
        mask: (text) => text,
        ingestCap: Infinity,
      },
    };
  }

  /** A row for each call before `call` that got no window. */
  #refusedUntil(call: number): void {
    while (this.calls.length < call - 1) {
      const number = this.calls.length + 1;
      const { lastSeq } = this.#recorded(number);
      this.calls.push(this.#row(number, { lastSeq, epoch: null, tokens: null, blocks: null, predictedCached: null }));
      this.windows.push(null);
    }
  }

  #recorded(call: number): Pick<CallRow, "timestamp" | "model" | "lastSeq" | "idleMs"> {
    return this.#log.calls[call - 1] ?? { timestamp: "", model: null, lastSeq: 0, idleMs: null };
  }

  #row(call: number, own: Pick<CallRow, "lastSeq" | "epoch" | "tokens" | "blocks" | "predictedCached">): CallRow {
    const { timestamp, model, idleMs } = this.#recorded(call);
    return { call, purpose: "turn", timestamp, model, ...own, usage: null, dollars: null, idleMs };
  }

  #card(entries: readonly WindowEntry[], { report, state }: Composed, beside: number): CacheCard {
    const before = this.#before;
    const differs = entries.findIndex(({ key }, place) => key !== before?.entries[place]?.key);
    const common = differs === -1 ? entries.length : differs;
    const grew = before === undefined || common >= before.entries.length;
    const seq = entries[common]?.seq;
    const block =
      before && before.state.toolsHash !== state.toolsHash
        ? "tools"
        : before && before.state.systemHash !== state.systemHash
          ? "system"
          : grew
            ? "none"
            : "message";
    const isSame = before !== undefined && (block === "none" || block === "message");
    return {
      predicted: report.cost.cached,
      reported: null,
      written: null,
      commonEntries: before ? common : 0,
      commonTokens: entries
        .slice(0, before ? common : 0)
        .reduce((sum, { tokens }) => sum + tokens, isSame ? Math.min(beside, before.beside) : 0),
      divergence: {
        block,
        ...(block === "message" && { entry: common, ...(seq !== undefined && { seq }) }),
      },
      cause: causeOf(report, before === undefined, grew),
      isHit: null,
    };
  }
}

function causeOf({ epoch, opened }: ReplayedWindow["composed"]["report"], isFirst: boolean, grew: boolean): string {
  if (isFirst) return "the first call";
  if (opened) return `epoch ${epoch}, ${opened.reason}`;
  return grew ? "the window only grew" : "a message in the window changed";
}
