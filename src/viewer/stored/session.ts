/** One session as a page looks at it: its index and its newest rebuilt windows are kept while it is looked at. */
import { WindrowError } from "../../errors.ts";
import { spentBy } from "../../ops/look/spent.ts";
import { placeOf as damagedPlace } from "../../ops/look/unreadable.ts";
import type { SessionInfo } from "../../store/store.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { CallPage, EpochRow, ViewerSession, ViewerWindow } from "../viewer.ts";
import { callRows, FixedCounts, newestSeq, usageAt } from "./calls.ts";
import type { CallParts, UsageLine } from "./calls.ts";
import { entriesOf } from "./entries.ts";
import { epochAt, EpochIndex } from "./epoch-index.ts";
import type { EpochLine, Place } from "./epoch-index.ts";
import { fatesOf } from "./fates.ts";
import { Newest } from "./newest.ts";
import { EpochWindows, sentWithEpoch, toolsOf } from "./rebuild.ts";
import type { Rebuilt } from "./rebuild.ts";
import { configText, rebuildSettings, sessionCounter } from "./settings.ts";
import { listed } from "./sessions.ts";
import { rebuiltBlocks, verifiedOf } from "./window.ts";

/** Epochs whose messages are kept for the next window of theirs. */
const keptEpochs = 3;

/** Most calls of one answer. */
const mostCalls = 5_000;

/** A session that is looked at. */
export class StoredSession {
  readonly place: Place;
  readonly #parts: CallParts;
  readonly #counter: TokenCounter;
  readonly #windows = new Newest<string, Promise<EpochWindows>>(keptEpochs);

  private constructor(place: Place, info: SessionInfo, counter: TokenCounter) {
    this.place = place;
    this.#counter = counter;
    const { config } = info.metadata;
    this.#parts = { place, config, epochs: new EpochIndex(place, counter), fixed: new FixedCounts(place, counter) };
  }

  /** Opens one. */
  static async open(place: Place): Promise<StoredSession> {
    const info = await place.store.info(place.scope, place.id);
    return new StoredSession(place, info, await sessionCounter(info.metadata.config));
  }

  /** The session's head. */
  async head(): Promise<ViewerSession> {
    const { store, scope, id } = this.place;
    const info = await store.info(scope, id);
    const { config, taskKey } = info.metadata;
    const { budget } = config;
    await this.#parts.epochs.grow();
    const messages = await newestSeq(this.place, "message");
    const calls = await newestSeq(this.place, "usage");
    return {
      ...(await listed(store, scope, info)),
      dollars: (await spentBy(store, scope, info)).dollars,
      taskKey,
      profile: configText(config, "profile") ?? null,
      counter: configText(config, "counter") ?? null,
      budget: typeof budget === "number" ? budget : null,
      completedAt: info.state.completedAt,
      calls,
      messages,
      historyTokens: await this.#historyTokens(messages),
      isLive: (await store.holding?.holder(scope, id))?.state === "held",
      damage: (await store.recovery(scope, id)).map(damagedPlace),
      windows: (await this.#isRecorded(calls)) ? "recorded" : "none",
    };
  }

  async #isRecorded(calls: number): Promise<boolean> {
    if (calls === 0) return this.#parts.epochs.lines.length > 0;
    const { store, scope, id } = this.place;
    for await (const { window } of store.read(scope, id, { kind: "usage", last: 64 })) if (window) return true;
    return false;
  }

  async #historyTokens(last: number): Promise<number> {
    const { store, scope, id } = this.place;
    const { opened = 0, historyTokens = 0 } = this.#parts.epochs.lines.at(-1) ?? {};
    let tokens = historyTokens;
    const query = { kind: "message", from: opened + 1, to: last } as const;
    for await (const { tokenCount } of store.read(scope, id, query)) tokens += tokenCount;
    return tokens;
  }

  /** The calls from one number to another. */
  async calls(from: number, to: number): Promise<CallPage> {
    await this.#parts.epochs.grow();
    const total = await newestSeq(this.place, "usage");
    const first = Math.max(1, from);
    return { total, calls: await callRows(this.#parts, first, Math.min(to, total, first + mostCalls - 1)) };
  }

  /** The epochs, oldest first. */
  async epochs(): Promise<readonly EpochRow[]> {
    const { epochs } = this.#parts;
    await epochs.grow();
    const rows: EpochRow[] = [];
    for (const line of epochs.lines) {
      const data = await epochAt(this.place, line, 0);
      const { epoch, reason, timestamp, opened, tokensBefore, tokensAfter, budget } = line;
      const fates = fatesOf(data?.state.edits ?? [], opened);
      rows.push({ epoch, reason, timestamp, opened, tokensBefore, tokensAfter, budget, firstCall: null, fates });
    }
    return rows;
  }

  /**
   * The window of a call.
   *
   * @throws WindrowError `not-found`
   */
  async window(call: number): Promise<ViewerWindow> {
    const { epochs } = this.#parts;
    await epochs.grow();
    const line = await usageAt(this.place, call);
    if (!line) throw this.#noCall(call);
    const recorded = line.window;
    const epoch = recorded && epochs.lineAt(recorded.epoch, line.pos);
    const last = recorded?.last ?? 0;
    const windows = await this.#windowsOf(epoch, line);
    const rebuilt = await windows.window(last);
    return this.#viewed(line, epoch, rebuilt, windows.isMasked);
  }

  #viewed(line: UsageLine, epoch: EpochLine | undefined, rebuilt: Rebuilt, isMasked: boolean): ViewerWindow {
    const { window: recorded, seq } = line;
    const entries = entriesOf(rebuilt);
    const { composed, sent, shown } = rebuilt;
    const last = recorded?.last ?? 0;
    const tokens = recorded?.tokens ?? composed.tokens;
    const isOther = (name: "systemHash" | "toolsHash"): boolean =>
      epoch !== undefined && epoch[name] !== composed.state[name];
    const missing = [
      ...(isOther("systemHash") && sent.system === undefined ? (["system"] as const) : []),
      ...(isOther("toolsHash") && sent.tools === undefined ? (["tools"] as const) : []),
    ];
    return {
      call: seq,
      lastSeq: last,
      epoch: recorded?.epoch ?? null,
      tokens,
      budget: epoch?.budget ?? null,
      blocks: rebuiltBlocks(rebuilt, entries, tokens),
      verified: verifiedOf(rebuilt, recorded, { isMasked, missing }),
      ...(sent.system !== undefined && { system: sent.system }),
      tools: toolsOf(sent),
      missing,
      entries,
      fates: fatesOf(composed.state.edits, last),
      cache: null,
      repairs: shown.repairs.map(({ seq: at, kind }) => ({ seq: at, kind, reason: kind })),
    };
  }

  async #windowsOf(epoch: EpochLine | undefined, { pos }: UsageLine, originals = false): Promise<EpochWindows> {
    const inserts = epoch?.inserts.filter((insert) => insert.pos < pos).length ?? 0;
    const key = `${epoch?.seq ?? 0} ${inserts} ${originals}`;
    return this.#windows.get(key, async () => {
      const { store } = this.place;
      const { config } = this.#parts;
      const under = epoch ?? {
        strategy: configText(config, "strategy") ?? "none",
        profile: configText(config, "profile") ?? "openai-chat",
        counter: this.#counter.name,
      };
      const settings = await rebuildSettings(store, config, under, this.#counter);
      const data = epoch && (await epochAt(this.place, epoch, pos, originals));
      return new EpochWindows(this.place, settings, data, await sentWithEpoch(this.place, data), originals);
    });
  }

  #noCall(call: number): WindrowError {
    const { id } = this.place;
    return new WindrowError("not-found", `Session ${id} has no call ${call}.`, { id, call });
  }
}
