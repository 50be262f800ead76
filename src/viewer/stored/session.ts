/** One session as a page looks at it: its indexes and its newest windows are kept while it is looked at. */
import { WindrowError } from "../../errors.ts";
import { placeOf as damagedPlace } from "../../ops/look/unreadable.ts";
import type { JsonObject } from "../../message/message.ts";
import type { SessionInfo } from "../../store/store.ts";
import { standingOf } from "../../ops/look/standing.ts";
import { newestOutline } from "../../session/log.ts";
import { Turns } from "../../turns.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { EpochReader } from "../../window/epoch/reader.ts";
import type { CallPage, CallRow, EpochRow, LiveEvent, RecallRow, ViewerSession, ViewerWindow } from "../viewer.ts";
import type { RequestPage } from "../requests.ts";
import { answeredRows, FixedCounts, newestSeq, recordedRows, usageAt } from "./calls.ts";
import type { CallParts } from "./calls.ts";
import { EpochIndex } from "./epoch-index.ts";
import type { Place } from "./epoch-index.ts";
import { epochFigures, epochRows } from "./epoch-rows.ts";
import { insteadWindow } from "./instead.ts";
import { LogColumns } from "./log-columns.ts";
import { logWindow, unknownWindow } from "./log-window.ts";
import { recallRows } from "./recalls.ts";
import { sentWithEpoch } from "./rebuild.ts";
import { epochAt } from "./epoch-index.ts";
import { gatewayLine, requestRows } from "./requests.ts";
import { configText, sessionCounter } from "./settings.ts";
import { listed } from "./sessions.ts";
import { UsageIndex } from "./usage-index.ts";
import { StoredWindows } from "./windows.ts";

/** Most calls of one answer. */
const mostCalls = 5_000;

/** The question for one window. */
export interface WindowOptions {
  readonly strategy?: string;
  readonly budget?: number;
  readonly origins?: boolean;
}

/** A session that is looked at. */
export class StoredSession {
  readonly #place: Place;
  readonly #config: JsonObject;
  readonly #counter: TokenCounter;
  readonly #epochs: EpochIndex;
  readonly #usage: UsageIndex;
  readonly #columns: LogColumns;
  readonly #parts: CallParts;
  readonly #reader: EpochReader;
  readonly #windows: StoredWindows;
  #rows: { readonly read: number; readonly calls: number; readonly rows: readonly EpochRow[] } | undefined;
  /** Tokens of the messages up to one, behind the newest epoch. */
  #history = { opened: 0, to: 0, tokens: 0 };
  /** The newest line of `edits.jsonl` that was looked at, and the newest epoch by then. */
  #newest = { edits: 0, epoch: 0 };
  /** Whether a call was seen that names its window: no later one takes that back. */
  #isRecorded = false;

  private constructor(place: Place, { metadata: { config } }: SessionInfo, counter: TokenCounter) {
    this.#place = place;
    this.#config = config;
    this.#counter = counter;
    this.#epochs = new EpochIndex(place, counter);
    this.#usage = new UsageIndex(place, config);
    this.#columns = new LogColumns(place);
    this.#parts = { place, config, epochs: this.#epochs, fixed: new FixedCounts(place, counter) };
    this.#reader = new EpochReader(place.store, place.scope, place.id);
    this.#windows = new StoredWindows({ place, config, epochs: this.#epochs, counter, reader: this.#reader });
  }

  /** Opens one for reading. */
  static async open(place: Place): Promise<StoredSession> {
    const info = await place.store.info(place.scope, place.id);
    return new StoredSession(place, info, await sessionCounter(info.metadata.config));
  }

  /** The session's head. */
  async head(): Promise<ViewerSession> {
    const { store, scope, id } = this.#place;
    const info = await store.info(scope, id);
    const { taskKey } = info.metadata;
    const { budget } = this.#config;
    const isRecorded = await this.#recorded();
    await this.#usage.grow();
    const messages = await newestSeq(this.#place, "message");
    return {
      ...(await listed(store, scope, info)),
      dollars: this.#usage.dollars,
      taskKey,
      profile: configText(this.#config, "profile") ?? null,
      counter: configText(this.#config, "counter") ?? null,
      budget: typeof budget === "number" ? budget : null,
      completedAt: info.state.completedAt,
      calls: await this.#callCount(isRecorded),
      messages,
      historyTokens: await this.#historyTokens(messages),
      isLive: (await store.holding.holder(scope, id)).state === "held",
      damage: (await store.recovery(scope, id)).map(damagedPlace),
      windows: isRecorded ? "recorded" : "none",
    };
  }

  /** How much there is of the session now. */
  async counts(): Promise<LiveEvent> {
    const { store, scope, id } = this.#place;
    const isRecorded = await this.#recorded();
    const info = await store.info(scope, id);
    const edits = await newestSeq(this.#place, "edit");
    if (edits !== this.#newest.edits) {
      this.#newest = { edits, epoch: (await newestOutline(this.#place))?.state.epoch ?? 0 };
    }
    return {
      messages: await newestSeq(this.#place, "message"),
      calls: await this.#callCount(isRecorded),
      epochs: this.#newest.epoch,
      status: info.state.status,
      standing: await standingOf(store, scope, info),
      ...(gatewayLine(info.metadata.taskKey) && { requests: await this.#requestCount() }),
    };
  }

  async #requestCount(): Promise<number> {
    await this.#epochs.grow();
    return this.#epochs.requests.length;
  }

  /** Whether any call names its window. */
  async #recorded(): Promise<boolean> {
    if (this.#isRecorded) return true;
    const { store, scope, id } = this.#place;
    let last = 0;
    for await (const { seq, window } of store.read(scope, id, { kind: "usage", last: 16 })) {
      if (window) this.#isRecorded = true;
      last = seq;
    }
    if (this.#isRecorded || last <= 16) return this.#isRecorded;
    await this.#usage.grow();
    return (this.#isRecorded = this.#usage.recorded > 0);
  }

  async #callCount(isRecorded: boolean): Promise<number> {
    if (isRecorded) return newestSeq(this.#place, "usage");
    await this.#columns.grow();
    return this.#columns.calls.length;
  }

  async #historyTokens(last: number): Promise<number> {
    if (this.#columns.read >= last) return this.#columns.total;
    const { store, scope, id } = this.#place;
    const epoch = await newestOutline(this.#place);
    const opened = epoch?.through ?? epoch?.state.opened ?? 0;
    if (this.#history.opened < opened) this.#history = { opened, to: opened, tokens: epoch?.historyTokens ?? 0 };
    let { to, tokens } = this.#history;
    const turns = new Turns();
    for await (const { seq, tokenCount } of store.read(scope, id, { kind: "message", from: to + 1, to: last })) {
      tokens += tokenCount;
      to = seq;
      await turns.turn();
    }
    this.#history = { opened, to, tokens };
    return tokens;
  }

  /** The calls from one number to another. */
  async calls(from: number, to: number): Promise<CallPage> {
    const isRecorded = await this.#recorded();
    const total = await this.#callCount(isRecorded);
    const first = Math.max(1, from);
    const last = Math.min(to, total, first + mostCalls - 1);
    if (last < first) return { total, calls: [] };
    if (!isRecorded) return { total, calls: this.#answered(first, last) };
    await this.#epochs.grow();
    return { total, calls: await recordedRows(this.#parts, first, last) };
  }

  #answered(first: number, last: number): readonly CallRow[] {
    const { calls } = this.#columns;
    return answeredRows(this.#config, calls.slice(first - 1, last), first, calls[first - 2]);
  }

  /** The epochs, oldest first. */
  async epochs(withFates: boolean): Promise<readonly EpochRow[]> {
    await Promise.all([this.#epochs.grow(), this.#usage.grow()]);
    if (!withFates) return epochFigures(this.#epochs, this.#usage);
    const [read, calls] = [this.#epochs.read, this.#usage.read];
    if (this.#rows?.read !== read || this.#rows.calls !== calls) {
      this.#rows = { read, calls, rows: await epochRows(this.#place, this.#epochs, this.#usage) };
    }
    return this.#rows.rows;
  }

  /** The recalls on record, oldest first. */
  async recalls(): Promise<readonly RecallRow[]> {
    await Promise.all([this.#epochs.grow(), this.#usage.grow()]);
    return recallRows(this.#place, this.#epochs, this.#usage);
  }

  /** The requests of a gateway from one number to another. */
  async requests(from: number, to: number): Promise<RequestPage> {
    const isRecorded = await this.#recorded();
    await this.#epochs.grow();
    if (!isRecorded) await this.#columns.grow();
    return requestRows(this.#place, this.#epochs, { from, to }, isRecorded ? undefined : this.#columns.calls);
  }

  /**
   * The window of a call, or what other settings would have made of it.
   *
   * @throws WindrowError `not-found`; what {@link insteadWindow} throws
   */
  async window(call: number, options: WindowOptions = {}): Promise<ViewerWindow> {
    const { strategy, budget } = options;
    const isInstead = strategy !== undefined || budget !== undefined;
    if (!(await this.#recorded())) {
      await this.#columns.grow();
      const [row] = this.#columns.calls[call - 1] ? this.#answered(call, call) : [];
      if (!row) throw this.#noCall(call);
      return isInstead ? this.#instead(call, row.lastSeq, undefined, options) : logWindow(row, this.#columns);
    }
    const line = await usageAt(this.#place, call);
    if (!line) throw this.#noCall(call);
    const { window: recorded, pos } = line;
    if (recorded && !isInstead) return this.#windows.of(line, options);
    await this.#epochs.grow();
    if (isInstead) {
      const [row] = await recordedRows(this.#parts, call, call);
      const epoch = recorded && this.#epochs.lineAt(recorded.epoch, pos);
      return this.#instead(call, row?.lastSeq ?? 0, epoch, options);
    }
    const [row] = await recordedRows(this.#parts, call, call);
    if (!row) throw this.#noCall(call);
    if (line.purpose !== "turn") return unknownWindow(row);
    await this.#columns.grow();
    return logWindow(row, this.#columns);
  }

  async #instead(
    call: number,
    lastSeq: number,
    epoch: EpochIndex["lines"][number] | undefined,
    { strategy, budget }: WindowOptions,
  ): Promise<ViewerWindow> {
    const data = epoch && (await epochAt(this.#place, this.#reader, epoch, 0));
    const sent = await sentWithEpoch(this.#place, data);
    const { config, counter } = { config: this.#config, counter: this.#counter };
    const profile = epoch?.profile ?? configText(config, "profile") ?? "openai-chat";
    const own = typeof config["budget"] === "number" ? config["budget"] : null;
    const ownBudget = epoch?.budget ?? own;
    return insteadWindow(this.#place, { strategy, budget, config, profile, counter, sent, ownBudget, call, lastSeq });
  }

  #noCall(call: number): WindrowError {
    const { id } = this.#place;
    return new WindrowError("not-found", `Session ${id} has no call ${call}.`, { id, call });
  }
}
