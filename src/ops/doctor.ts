/**
 * The doctor: reads everything in a store and says what is wrong with it. It changes nothing unless it is asked to mend,
 * deletes nothing even then, and looks again afterwards to see that nothing was lost.
 */
import { WindrowError } from "../errors.ts";
import type { Examined, Finding, Store } from "../store/store.ts";
import { diskTrouble, runningTrouble, summaryTrouble } from "./doctor-trouble.ts";
import type { FreeBytes } from "./doctor-trouble.ts";

/** What a store holds, in numbers. */
export interface StoreCount {
  readonly sessions: number;
  /** Records that can be read, of all kinds. */
  readonly records: number;
  /** Bytes of the logs that hold records. */
  readonly goodBytes: number;
  /** Bytes of the logs that hold none. */
  readonly badBytes: number;
}

/** What the doctor found. */
export interface Diagnosis {
  readonly findings: readonly Finding[];
  /** Damage that was not mended, because it was not asked for or cannot be. */
  readonly open: number;
  readonly before: StoreCount;
  /** Counted again after mending; absent where nothing was to be mended. */
  readonly after?: StoreCount;
  /**
   * Whether before and after agree: the same sessions, the same records, and every bad byte either still there or kept
   * aside. True where nothing was mended.
   */
  readonly addsUp: boolean;
}

/** What the doctor may do. */
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
 * @throws WindrowError `bad-option` when the store cannot be examined, `store-unavailable`, `aborted`
 */
export async function doctor(store: Store, options: DoctorOptions = {}, signal?: AbortSignal): Promise<Diagnosis> {
  const first = await examineAll(store, options.mend === true, options, signal);
  const { findings } = first;
  const open = findings.filter(({ severity, mended }) => severity === "damage" && !mended).length;
  if (!findings.some(({ mended }) => mended)) return { findings, open, before: first.count, addsUp: true };
  const { count: after } = await examineAll(store, false, options, signal);
  return { findings, open, before: first.count, after, addsUp: addsUp(first.count, after, findings) };
}

async function examineAll(
  store: Store,
  mend: boolean,
  { folder, freeBytes, onProgress, now = () => new Date() }: DoctorOptions,
  signal: AbortSignal | undefined,
): Promise<{ readonly findings: readonly Finding[]; readonly count: StoreCount }> {
  if (!store.examine) {
    const message = `The ${store.name} store cannot be examined: it has no Store.examine, as stores of files have.`;
    throw new WindrowError("bad-option", message, { store: store.name });
  }
  const findings: Finding[] = folder === undefined ? [] : [...(await diskTrouble(store, folder, freeBytes))];
  const count = { sessions: 0, records: 0, goodBytes: 0, badBytes: 0 };
  for await (const examined of store.examine({ mend }, signal)) {
    findings.push(...examined.findings);
    if (examined.sessionId !== undefined) findings.push(...(await summaryTrouble(store, examined.sessionId)));
    add(count, examined);
    onProgress?.(count.sessions);
  }
  findings.push(...(await runningTrouble(store, now())));
  return { findings, count };
}

function add(count: { -readonly [name in keyof StoreCount]: number }, examined: Examined): void {
  if (examined.sessionId !== undefined) count.sessions += 1;
  count.records += examined.records;
  count.goodBytes += examined.goodBytes;
  count.badBytes += examined.badBytes;
}

/** A torn end is cut off and kept aside; every other byte stays where it is. */
function addsUp(before: StoreCount, after: StoreCount, findings: readonly Finding[]): boolean {
  const cut = findings.filter(({ problem, mended }) => problem === "torn-tail" && mended);
  const aside = cut.reduce((sum, { length = 0 }) => sum + length, 0);
  return (
    after.sessions === before.sessions &&
    after.records === before.records &&
    after.badBytes + aside === before.badBytes &&
    after.goodBytes >= before.goodBytes
  );
}
