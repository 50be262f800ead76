/** The windows of a session's calls, rebuilt: those of the newest epochs that were looked at are kept. */
import type { JsonObject } from "../../message/message.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { EpochReader } from "../../window/epoch/reader.ts";
import type { LineOrigin, Verified, ViewerWindow, WindowEntry } from "../viewer.ts";
import { besideTokens, cacheCard } from "./cache-card.ts";
import type { CachedCall } from "./cache-card.ts";
import { usageAt } from "./calls.ts";
import { entriesOf } from "./entries.ts";
import { epochAt } from "./epoch-index.ts";
import type { EpochIndex, EpochLine, Place } from "./epoch-index.ts";
import { fatesOf } from "./fates.ts";
import { Newest } from "./newest.ts";
import { KnownOrigins, originsOf } from "./origins.ts";
import { EpochWindows, sentWithEpoch } from "./rebuild.ts";
import type { Rebuilt } from "./rebuild.ts";
import { repairsIn } from "./repairs.ts";
import { configText, rebuildSettings } from "./settings.ts";
import { calledModel } from "../../message/record.ts";
import type { UsageLine } from "./usage-index.ts";
import { hasOtherTools, missingIn, rebuiltBlocks, verifiedOf } from "./window.ts";

/** Epochs whose messages are kept for the next window of theirs. */
const keptEpochs = 4;

/** Windows that are kept as they were made: that of a call is the earlier one of the next. */
const keptViews = 4;

/** Texts whose origins are kept. */
const keptOrigins = 64;

/** Calls that are looked back at for the one whose window a call's is compared with. */
const lookBack = 8;

/** The options of a window beside its call. */
export interface WindowQuestion {
  /** Whether it waits for the origins of all lines, however long they take to find. Default: it has those that are known. */
  readonly origins?: boolean;
}

/** The parts of a session that its windows are made of. */
export interface WindowParts {
  readonly place: Place;
  readonly config: JsonObject;
  readonly epochs: EpochIndex;
  readonly counter: TokenCounter;
  readonly reader: EpochReader;
}

/** A rebuilt window with what it belongs to. */
interface Viewed {
  readonly epoch: EpochLine | undefined;
  readonly rebuilt: Rebuilt;
  readonly windows: EpochWindows;
  readonly entries: readonly WindowEntry[];
}

/** Rebuilds windows of one session. */
export class StoredWindows {
  readonly #place: Place;
  readonly #config: JsonObject;
  readonly #epochs: EpochIndex;
  readonly #counter: TokenCounter;
  readonly #reader: EpochReader;
  readonly #windows = new Newest<string, Promise<EpochWindows>>(keptEpochs);
  readonly #views = new Newest<number, Promise<Viewed>>(keptViews);
  readonly #known = new KnownOrigins();
  readonly #origins = new Newest<string, Promise<readonly LineOrigin[]>>(keptOrigins);

  constructor({ place, config, epochs, counter, reader }: WindowParts) {
    this.#place = place;
    this.#config = config;
    this.#epochs = epochs;
    this.#counter = counter;
    this.#reader = reader;
  }

  /** The window of a recorded call. */
  async of(line: UsageLine, { origins = false }: WindowQuestion = {}): Promise<ViewerWindow> {
    const before = await this.#before(line);
    // The earlier window comes first: within an epoch the later one grows out of it.
    const earlier = before && { ...(await this.#cached(before)) };
    const viewed = await this.#view(line);
    const { epoch, rebuilt, entries } = viewed;
    const { window: recorded, seq } = line;
    const last = recorded?.last ?? 0;
    const { composed, sent } = rebuilt;
    const tokens = recorded?.tokens ?? composed.tokens;
    const missing = missingIn(rebuilt, epoch, recorded);
    return {
      call: seq,
      lastSeq: last,
      epoch: recorded?.epoch ?? null,
      tokens,
      budget: epoch?.budget ?? null,
      blocks: rebuiltBlocks(rebuilt, entries, tokens),
      verified: await this.#verified(line, viewed, missing),
      ...(sent.system !== undefined && { system: sent.system }),
      tools: sent.tools ?? [],
      missing,
      entries: await this.#withOrigins(entries, origins),
      fates: fatesOf(composed.state, last),
      cache: cacheCard(this.#call(line, viewed), earlier),
      repairs: repairsIn(rebuilt),
    };
  }

  /** The call before one whose record names a window and that served the same purpose. */
  async #before({ seq, purpose }: UsageLine): Promise<UsageLine | undefined> {
    for (let call = seq - 1; call >= Math.max(1, seq - lookBack); call--) {
      const line = await usageAt(this.#place, call);
      if (line?.window && line.purpose === purpose) return line;
    }
    return undefined;
  }

  async #cached(line: UsageLine): Promise<CachedCall> {
    return this.#call(line, await this.#view(line));
  }

  #call(line: UsageLine, { epoch, rebuilt, entries }: Viewed): CachedCall {
    const beside = besideTokens(rebuiltBlocks(rebuilt, entries, 0), entries);
    return { line, epoch, entries, beside, model: calledModel(this.#config, line) };
  }

  #view(line: UsageLine): Promise<Viewed> {
    const view = this.#views.get(line.seq, () => this.#made(line));
    void view.catch(() => this.#views.delete(line.seq));
    return view;
  }

  async #made(line: UsageLine): Promise<Viewed> {
    const { window: recorded, pos } = line;
    const epoch = recorded && (await this.#epochs.find(recorded.epoch, pos));
    const windows = await this.#windowsOf(epoch, pos, false);
    const rebuilt = await windows.window(recorded?.last ?? 0);
    return { epoch, windows, rebuilt, entries: entriesOf(rebuilt) };
  }

  async #verified(
    line: UsageLine,
    { epoch, rebuilt, windows }: Viewed,
    missing: ViewerWindow["missing"],
  ): Promise<Verified> {
    const { window: recorded, pos } = line;
    const isMasked = windows.isMasked || epoch?.isMasked === true;
    const isSame = recorded?.hash === rebuilt.composed.report.windowHash;
    let opened: string | undefined;
    if (isMasked && recorded && !isSame) {
      const originals = await (await this.#windowsOf(epoch, pos, true)).window(recorded.last);
      opened = originals.composed.report.windowHash;
    }
    return verifiedOf(rebuilt, recorded, {
      missing,
      isMasked,
      opened,
      hasEpoch: epoch !== undefined,
      counter: epoch?.counter,
      hasOtherTools: hasOtherTools(rebuilt, epoch),
    });
  }

  /** The windows of an epoch as it was at a place of the log. */
  #windowsOf(epoch: EpochLine | undefined, pos: number, originals: boolean): Promise<EpochWindows> {
    const inserts = epoch?.inserts.filter((insert) => insert.pos < pos).length ?? 0;
    const key = `${epoch?.seq ?? 0} ${inserts} ${originals}`;
    const windows = this.#windows.get(key, () => this.#opened(epoch, pos, originals));
    void windows.catch(() => this.#windows.delete(key));
    return windows;
  }

  async #opened(epoch: EpochLine | undefined, pos: number, originals: boolean): Promise<EpochWindows> {
    const under = epoch ?? {
      strategy: configText(this.#config, "strategy") ?? "none",
      profile: configText(this.#config, "profile") ?? "openai-chat",
      counter: this.#counter.name,
    };
    const settings = await rebuildSettings(this.#place.store, this.#config, under, this.#counter);
    const data = epoch && (await epochAt(this.#place, this.#reader, epoch, pos, originals));
    return new EpochWindows(this.#place, settings, data, await sentWithEpoch(this.#place, data), originals);
  }

  /** The entries with the origins of their digests' lines; without patience, of those that were asked for before. */
  async #withOrigins(entries: readonly WindowEntry[], isPatient: boolean): Promise<readonly WindowEntry[]> {
    const shown: WindowEntry[] = [];
    for (const entry of entries) {
      const [part] = entry.kind === "digest" || entry.kind === "summary" ? (entry.message?.parts ?? []) : [];
      if (part?.type !== "text") {
        shown.push(entry);
        continue;
      }
      const { key } = entry;
      const find = (): Promise<readonly LineOrigin[]> => originsOf(this.#place, part.text, this.#known);
      const finding = isPatient ? this.#origins.get(key, find) : this.#origins.peek(key);
      void finding?.catch(() => this.#origins.delete(key));
      const origins = await finding;
      shown.push(origins ? { ...entry, origins } : entry);
    }
    return shown;
  }
}
