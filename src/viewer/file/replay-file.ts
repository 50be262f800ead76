/** A replay as one file: the recorded session, and the windows, figures and misses of each strategy. */
import { openStore } from "../../access/open.ts";
import { createMask, maskJson } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject, JsonValue, Message } from "../../message/message.ts";
import { transcriptDump } from "../../ops/exchange/import-transcript.ts";
import { callsOf } from "../../replay/measure.ts";
import { replay } from "../../replay/replay.ts";
import type { ReplayedSession, ReplayOptions, ReplayResult } from "../../replay/replay.ts";
import type { Store } from "../../store/store.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import { originsOf } from "../stored/origins.ts";
import { storedSource } from "../stored-source.ts";
import type { CallRow, ReplayRow, ViewerSession } from "../viewer.ts";
import { fileVersion } from "./data.ts";
import type { FileData, FileEntry, FileMessage, FilePool, FileRow, FileSession } from "./data.ts";
import { encodeLog } from "./encode.ts";
import { fileHtml } from "./html.ts";
import { WindowPacker } from "./pack.ts";
import { ReplayWindows } from "./replay-windows.ts";

/** The settings of a replay that goes into a file. */
export interface ReplayFileOptions extends ReplayOptions {
  /** Goes before everything in the file. Default: secrets of a known form. */
  readonly mask?: Mask;
}

/** A replayed session, for a file and for a table. */
export interface EncodedReplay {
  readonly file: FileSession;
  readonly replayed: ReplayedSession;
}

/**
 * Replays a session for a file. The session is masked first, so that nothing that a window shows, cut or quoted, holds a
 * secret; all figures are of the masked session.
 *
 * @throws WindrowError as `replay` does
 */
export async function encodeReplay(
  transcript: Transcript,
  { mask = createMask(), ...options }: ReplayFileOptions,
  signal?: AbortSignal,
): Promise<EncodedReplay> {
  const store = await openStore("ram:", { mask });
  try {
    const dump = transcriptDump(transcript, { scope: {}, finished: true, time: new Date(0).toISOString() });
    await store.transfer.restore({}, dump);
    const source = storedSource(store, {});
    const log = await encodeLog(source, dump.id, { mask });
    const kept = await keptMessages(store, dump.id);
    const messages = kept.map((message, index) => timed(message, transcript.messages[index]));
    const masked = maskedTranscript(transcript, messages, mask);
    const { rows, packer, replayed } = await replayRows(masked, options, signal);
    const { dollars: _, ...head } = log.session;
    const times = transcript.messages.flatMap(({ timestamp }) => timestamp ?? []);
    const session: ViewerSession = {
      ...head,
      startedAt: times[0] ?? "",
      updatedAt: times.at(-1) ?? "",
      completedAt: null,
      windows: "replayed",
      budget: null,
      calls: replayed.calls,
    };
    const pool = await withOrigins(packer.pool(), store, dump.id);
    const shown = log.messages.map((line): FileMessage => {
      return { ...line, message: timed(line.message, transcript.messages[line.message.seq - 1]) };
    });
    return { file: { ...log, session, messages: shown, rows, pool }, replayed };
  } finally {
    await store.close();
  }
}

/**
 * Makes the text of a file of replayed sessions.
 *
 * @throws WindrowError `input-too-large` for more than a browser can open, `package-missing` where the page is not built
 */
export function replayFile(sessions: readonly FileSession[], title: string, pages?: string): Promise<string> {
  const data: FileData = { version: fileVersion, sessions };
  return fileHtml(data, { title, ...(pages !== undefined && { pages }) });
}

/** A message with its time in the transcript: where that names none it has none, whenever it was read. */
function timed<T extends { readonly timestamp?: string }>(message: T, original: Message | undefined): T {
  const { timestamp: _, ...rest } = message;
  const own = original?.timestamp;
  return { ...rest, ...(own !== undefined && { timestamp: own }) } as T;
}

/** The pool with the origin of each line that a digest or a summary quotes. */
async function withOrigins(pool: FilePool, store: Store, id: string): Promise<FilePool> {
  const entries: FileEntry[] = [];
  for (const entry of pool.entries) {
    const quotes = entry.kind === "digest" || entry.kind === "summary";
    const [part] = quotes ? (pool.shown[entry.shown ?? -1]?.parts ?? []) : [];
    const lines = part?.type === "text" ? await originsOf({ store, scope: {}, id }, part.text) : [];
    const origins = lines.flatMap(({ line, seq, at }) => [line, seq, at]);
    entries.push(origins.length === 0 ? entry : { ...entry, origins });
  }
  return { ...pool, entries };
}

async function keptMessages(store: Store, id: string): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const { message } of store.read({}, id, { kind: "message" })) messages.push(message);
  return messages;
}

function maskedTranscript(transcript: Transcript, messages: readonly Message[], mask: Mask): Transcript {
  const { sent } = transcript;
  if (!sent) return { ...transcript, messages };
  return { ...transcript, messages, sent: maskJson(mask, sent as unknown as JsonValue) as unknown as typeof sent };
}

interface ReplayedRows {
  readonly rows: readonly FileRow[];
  readonly packer: WindowPacker;
  readonly replayed: ReplayedSession;
}

async function replayRows(
  transcript: Transcript,
  options: ReplayOptions,
  signal: AbortSignal | undefined,
): Promise<ReplayedRows> {
  const { profile, counter } = options;
  const packer = new WindowPacker();
  const asked = callsOf(transcript.messages);
  const calls = recordedCalls(transcript, asked);
  const log = { transcript, calls, profile, counter, packer };
  const found = new Map<string, ReplayWindows>();
  const windowsOf = (strategy: string, budget: number): ReplayWindows => {
    const key = `${strategy} ${budget}`;
    const windows = found.get(key) ?? new ReplayWindows(log, asked);
    found.set(key, windows);
    return windows;
  };
  const replayed = await replay(
    transcript,
    {
      ...options,
      onWindow(window) {
        windowsOf(window.strategy, window.budget).add(window);
        options.onWindow?.(window);
      },
      onMiss(miss) {
        windowsOf(miss.strategy, miss.budget).miss(miss);
        options.onMiss?.(miss);
      },
    },
    signal,
  );
  const rows = [...found].flatMap(([key, windows]): readonly FileRow[] => {
    const limited = replayed.results.find((one) => key === `${one.strategy} ${one.budget}`);
    // A strategy without a limit has one row, and a result for each budget that it is compared with.
    const shown = limited ?? replayed.results.find((one) => key === `${one.strategy} Infinity`);
    if (!shown) return [];
    windows.end();
    const replay: ReplayRow = {
      name: shown.strategy,
      budget: limited ? limited.budget : null,
      figures: figuresOf(shown),
      hasWindows: true,
      misses: windows.misses,
    };
    return [{ replay, calls: windows.calls, epochs: windows.epochs, windows: windows.windows }];
  });
  return { rows: [recordedRow(replayed, calls), ...rows], packer, replayed };
}

/** The calls as they were recorded; `asked` are the messages that answered them. */
function recordedCalls({ messages, model }: Transcript, asked: readonly number[]): readonly CallRow[] {
  let before = Number.NaN;
  return asked.map((index, place) => {
    const message = messages[index];
    const { timestamp = "", usage = null } = message ?? {};
    const time = Date.parse(timestamp);
    const idle = time - before;
    before = time;
    return {
      call: place + 1,
      purpose: "turn",
      timestamp,
      model: message?.model ?? model ?? null,
      lastSeq: index,
      epoch: null,
      tokens: null,
      blocks: null,
      predictedCached: null,
      usage,
      dollars: null,
      idleMs: Number.isNaN(idle) ? null : Math.max(0, idle),
    };
  });
}

/** The row of the session as it was: its usage alone is known. */
function recordedRow({ recorded, compactions }: ReplayedSession, calls: readonly CallRow[]): FileRow {
  const figures: JsonObject = {
    ...(recorded && {
      tokensAverage: recorded.tokens.average,
      tokensPeak: recorded.tokens.peak,
      cachedShare: recorded.cachedShare,
      dollars: recorded.cost.dollars,
    }),
    ...(compactions !== undefined && { compactions }),
  };
  const replay: ReplayRow = { name: "as recorded", budget: null, figures, hasWindows: false, misses: [] };
  return { replay, calls, epochs: [], windows: [] };
}

/** The figures of a row, flat, with shares from 0 to 1. */
function figuresOf({ tokens, cost, lookback, ...result }: ReplayResult): JsonObject {
  const share = (percent: number | null): number | null => (percent === null ? null : percent / 100);
  return {
    tokensAverage: tokens.average,
    tokensPeak: tokens.peak,
    cachedShare: result.cachedShare,
    dollars: cost.dollars,
    epochs: result.epochs,
    recallRate: share(lookback.all),
    farRecallRate: share(lookback.far),
    oneHopRate: share(lookback.oneHop),
    overBudget: result.overBudget,
    refused: result.refused,
    broken: result.broken,
  };
}
