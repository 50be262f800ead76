/**
 * The doctor: reads everything in a store and says what is wrong with it. It changes nothing unless it is asked to mend,
 * deletes nothing even then, and looks again afterwards to see that nothing was lost.
 */
import type { Examined, Finding, Store } from "../../store/store.ts";
import { addTo } from "../look/sum.ts";
import { diskTrouble, runningTrouble, offloadTrouble, summaryTrouble } from "./trouble.ts";
import type { FreeBytes } from "./trouble.ts";

/** The contents of a store, in numbers. */
export interface StoreCount {
  readonly sessions: number;
  /** Records that can be read, of all kinds. */
  readonly records: number;
  /** Bytes of the logs that hold records. */
  readonly goodBytes: number;
  /** Bytes of the logs that hold none. */
  readonly badBytes: number;
}

/** The findings of the doctor. */
export interface Diagnosis {
  readonly findings: readonly Finding[];
  /** Damage that was not mended, because it was not asked for or cannot be: `toMend`, `toRestore` and `byHand` together. */
  readonly open: number;
  /** Open damage that mending mends. After mending: of sessions that a live process writes. */
  readonly toMend: number;
  /** Open damage that only a backup helps against. */
  readonly toRestore: number;
  /** Open damage that somebody has to look at; its message says what to do. */
  readonly byHand: number;
  /** Sessions with damage that only a backup helps against. */
  readonly restore: readonly string[];
  /** Records that are lost, as far as they could be counted. */
  readonly lost: number;
  readonly before: StoreCount;
  /** Counted again after mending; absent where nothing was to be mended. */
  readonly after?: StoreCount;
  /**
   * Whether mending took nothing away: each session that was mended and is still there has the same records, and every bad
   * byte is either still there or kept aside. True where nothing was mended.
   */
  readonly addsUp: boolean;
}

/** Options of the doctor: what it may do. */
export interface DoctorOptions {
  /** Mend what can be mended. Default false: nothing is changed. */
  readonly mend?: boolean;
  /** A folder on the store's disk, to see whether there is room. Default: not looked at. */
  readonly folder?: string;
  /** Asks the system for the free bytes of a folder's disk. Default: `statfs`. */
  readonly freeBytes?: FreeBytes;
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
  /** Told after each session: how many were examined. */
  readonly onProgress?: (done: number) => void;
}

/**
 * Examines a store, whoever its sessions belong to.
 *
 * @throws WindrowError `bad-option` if the store cannot be examined; `store-unavailable`, `aborted`
 */
export async function doctor(store: Store, options: DoctorOptions = {}, signal?: AbortSignal): Promise<Diagnosis> {
  const { mend = false, folder, freeBytes, onProgress, now = () => new Date() } = options;
  const checkup = store.checkup;
  const findings: Finding[] = folder === undefined ? [] : [...(await diskTrouble(store, folder, freeBytes))];
  const before = noCount();
  const mended = new Map<string, Examined>();
  for await (const examined of checkup.examine({ mend }, signal)) {
    findings.push(...examined.findings);
    const { sessionId: id } = examined;
    // An archived session has ended, and its object may be far away.
    if (id !== undefined && !examined.archived) findings.push(...(await summaryTrouble(store, id)));
    if (id !== undefined && examined.findings.some((one) => one.mended)) mended.set(id, examined);
    count(before, examined);
    onProgress?.(before.sessions);
  }
  findings.push(...(await runningTrouble(store, now())), ...(await offloadTrouble(store)));
  const told = { findings, ...triage(findings), before };
  if (!findings.some((one) => one.mended)) return { ...told, addsUp: true };
  const after = noCount();
  let addsUp = true;
  for await (const examined of checkup.examine({}, signal)) {
    count(after, examined);
    const was = mended.get(examined.sessionId ?? "");
    if (was && !isWhole(was, examined)) addsUp = false;
  }
  return { ...told, after, addsUp };
}

const noCount = () => ({ sessions: 0, records: 0, goodBytes: 0, badBytes: 0 });

function count(sums: ReturnType<typeof noCount>, examined: Examined): void {
  addTo(sums, { ...examined, sessions: examined.sessionId === undefined ? 0 : 1 });
}

/** A torn end is cut off and kept aside; every other byte stays in its place. The writer of a session may add to it. */
function isWhole(was: Examined, is: Examined): boolean {
  const torn = was.findings.filter(({ problem, mended }) => problem === "torn-tail" && mended);
  const bad = torn.reduce((left, { length = 0 }) => left - length, was.badBytes);
  return is.records >= was.records && is.badBytes === bad && is.goodBytes >= was.goodBytes;
}

/** The open findings, grouped by what helps against them. */
function triage(
  findings: readonly Finding[],
): Pick<Diagnosis, "open" | "toMend" | "toRestore" | "byHand" | "restore" | "lost"> {
  const open = findings.filter(({ severity, mended }) => severity === "damage" && !mended);
  const count = (wanted: Finding["remedy"]): number => open.filter(({ remedy = "mend" }) => remedy === wanted).length;
  const restore = open.flatMap(({ remedy, sessionId }) =>
    remedy === "backup" && sessionId !== undefined ? [sessionId] : [],
  );
  return {
    open: open.length,
    toMend: count("mend"),
    toRestore: count("backup"),
    byHand: count("hand"),
    restore: [...new Set(restore)],
    lost: open.reduce((sum, { records = 0 }) => sum + records, 0),
  };
}
