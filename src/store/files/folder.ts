/** The content of a session's folder without its lines: the documents, and the number that grows with each change. */
import { basename, dirname, join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import { replaceFile, syncFolder, systemCode } from "../../disk/safe-write.ts";
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Documents, Head, Listing, PlacedLine } from "../engine.ts";
import { noBlobs } from "../format/blobs.ts";
import { decodeMetadata, decodeState, encodeState, initialState, metadataFile, page } from "../format/documents.ts";
import { parseDocument, stateFile } from "../format/documents.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { encodeMark, listingOf, markFrom, markListing } from "../shared/mark.ts";
import type { Mark } from "../shared/mark.ts";
import { countedIn } from "../shared/recount.ts";
import { isFinal } from "../shared/rules.ts";
import type { LogName, SessionState } from "../store.ts";
import { entryOf } from "./index-file.ts";
import type { IndexEntry } from "./index-file.ts";
import type { Leases, LockLook } from "../lock/lock.ts";
import type { Place } from "./layout.ts";
import { finishedEnd, readPage } from "./log/page.ts";
import { withFile } from "../../disk/read.ts";

/** What the index of a store says of a session. */
export interface Index {
  entryOf(id: string): Promise<IndexEntry | undefined>;
}

/** What a session is listed by, and whether its own documents say so. */
export type Looked = IndexEntry & { readonly isBroken?: true };

/** What upkeep noted on a session, and the number of its changes; absent before the first. */
export const markFile = "mark.json";

/** A lock counts for more than all bytes that are written under it, and an end for more than every lock. */
const [ofLock, ofEnd] = [2 ** 36, 2 ** 51];

/** The content of mark.json. */
export interface MarkFile {
  readonly mark: Mark;
  /** How often somebody changed the session without its lock, or removed its lines. */
  readonly steps: number;
  /** The revision with which its lines began, where it was emptied. */
  readonly origin?: number | undefined;
  /** What it is listed by, where its documents are gone. */
  readonly listing?: Listing | undefined;
}

/** Reads mark.json. */
export function readMark(folder: string, disk: Disk): MarkFile {
  // Most sessions have none.
  const text = disk.exists(join(folder, markFile)) ? textOf(join(folder, markFile), disk) : "";
  const { mark, steps, origin, listing } = parseDocument(text) ?? {};
  const isHidingPlace = ["trash", "aside"].includes(basename(dirname(folder)));
  return {
    mark: text !== "" || isHidingPlace ? markFrom(mark) : {},
    steps: isWhole(steps) ? steps : 0,
    ...(isWhole(origin) && { origin }),
    ...(isListing(listing) && { listing: listing as unknown as Listing }),
  };
}

function isListing(value: JsonValue | undefined): boolean {
  if (!isObject(value)) return false;
  const { tenant = "", user = "", status, createdMs } = value;
  return [tenant, user, status].every((one) => typeof one === "string") && isWhole(createdMs) && createdMs < 8e15;
}

function isWhole(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Writes mark.json, whole and durable. */
export async function writeMark(folder: string, content: MarkFile, disk: Disk): Promise<void> {
  const { mark, steps, origin } = content;
  const path = join(folder, markFile);
  const isNothing = steps === 0 && origin === undefined && Object.keys(mark).length === 0;
  if (!isNothing) return replaceFile(path, page(content as unknown as JsonObject), true, disk);
  if (disk.exists(path)) disk.unlink(path);
  await syncFolder(folder, disk);
}

/** The numbers of a session. */
export type Numbers = Pick<Head, "made" | "revision" | "origin">;

/** The numbers of a session as its folder has them. */
export function numbersIn({ folder, parent }: Place, lock: LockLook, { steps, origin }: MarkFile, disk: Disk): Numbers {
  const made = madeIn(folder, disk);
  const written = lock.holder ? bytesIn(folder, disk) : 0;
  const held = lock.generation * ofLock + written + (parent === "running" ? 0 : ofEnd);
  return { made, revision: made + steps + held, origin: origin ?? made };
}

/** The look at a session that nobody holds. */
export const noLock: LockLook = { generation: 0, holder: undefined, isAlive: undefined, silentMs: 0 };

/** Bytes of a session's logs. */
export function bytesIn(folder: string, disk: Disk): number {
  return logNames.reduce((sum, log) => sum + sizeOf(join(folder, `${log}.jsonl`), disk), 0);
}

/** What lists show of the session in a folder; undefined where they do not show it. */
export function lookedIn({ id, folder, parent }: Place, disk: Disk): Looked | undefined {
  if (markListing(readMark(folder, disk).mark).isHidden) return undefined;
  const metadata = decodeMetadata(parseDocument(textOf(join(folder, metadataFile), disk)), id);
  if (!metadata) return disk.exists(folder) ? { id, created: 0, isBroken: true } : undefined;
  const status =
    parent === "completed" ? decodeState(parseDocument(textOf(join(folder, stateFile), disk)))?.status : undefined;
  return { ...entryOf(id, metadata), ...(status !== undefined && isFinal(status) ? { status } : {}) };
}

/** Which file the metadata is: it goes with the folder, and a session that is made anew under the id has another, later one. */
function madeIn(folder: string, disk: Disk): number {
  try {
    const { ino, mtimeMs } = disk.statPath(join(folder, metadataFile));
    return Math.floor(mtimeMs) * 1024 + (ino % 1024);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return 0;
    throw error;
  }
}

/** A session as its folder says; undefined where there is nothing of one. */
export async function headIn(
  place: Place,
  { leases, disk, catalogue }: { readonly leases: Leases; readonly disk: Disk; readonly catalogue: Index },
): Promise<Head | undefined> {
  const { id, folder } = place;
  const lock = leases.look(folder, disk);
  const markThere = readMark(folder, disk);
  // The numbers come first: who changes the session later finds that they are old.
  const numbers = numbersIn(place, lock, markThere, disk);
  const metadata = textOf(join(folder, metadataFile), disk);
  let text = textOf(join(folder, stateFile), disk);
  const { mark, listing } = markThere;
  const known = decodeMetadata(parseDocument(metadata), id);
  let state = decodeState(parseDocument(text));
  if (known && !state && !mark.isErasing) {
    text = encodeState(await rebuiltState(place, known.createdAt, catalogue, disk));
    state = decodeState(parseDocument(text));
  }
  const markText = encodeMark(mark);
  const hasLog = (): boolean => logNames.some((log) => disk.exists(join(folder, `${log}.jsonl`)));
  if (metadata === "" && text === "" && markText === "" && !hasLog()) return undefined;
  const decoded = known && state && { metadata: known, state };
  return {
    id,
    documents: { metadata, state: text, mark: markText },
    decoded,
    listing: {
      ...(decoded ? listingOf(decoded.metadata, decoded.state, mark) : (listing ?? (await listedAs(place, catalogue)))),
      ...markListing(mark),
    },
    ...numbers,
    generation: lock.generation,
    holder: lock.holder,
    ...(lock.isAlive !== undefined && { isAlive: lock.isAlive }),
    silentMs: lock.silentMs,
  };
}

/** What the index says of a session whose documents do not. */
async function listedAs({ id, parent }: Place, catalogue: Index): Promise<Omit<Listing, "isHidden">> {
  const { created = 0, user, tenant, status } = (await catalogue.entryOf(id)) ?? {};
  const owner = { ...(user !== undefined && { user }), ...(tenant !== undefined && { tenant }) };
  return { ...owner, status: status ?? (parent === "running" ? "processing" : "completed"), createdMs: created };
}

/** The state of a session, counted again from its logs where a power cut took state.json. */
async function rebuiltState(
  { id, folder, parent }: Place,
  createdAt: string,
  catalogue: Index,
  disk: Disk,
): Promise<SessionState> {
  const whole = { from: 0, to: Number.MAX_SAFE_INTEGER, most: Number.POSITIVE_INFINITY };
  const linesOf = async (log: LogName): Promise<readonly PlacedLine[]> => {
    const found = await withFile(join(folder, `${log}.jsonl`), disk, async (file) =>
      readPage({ kind: logKinds[log], file, end: finishedEnd(file, disk), fetch: noBlobs }, whole, disk),
    );
    return found ?? [];
  };
  const { numbers, ended } = await countedIn(createdAt, linesOf);
  const rebuilt = { ...initialState(createdAt), ...numbers, lastActivity: "state_rebuilt" };
  if (parent === "running") return { ...rebuilt, status: "processing" };
  const status = (await catalogue.entryOf(id))?.status ?? ended?.status ?? "completed";
  const error = ended?.status === status ? ended.error : null;
  return { ...rebuilt, status, error, completedAt: numbers.updatedAt };
}

/** A document's text; empty where there is no file. */
export function textOf(path: string, disk: Disk): string {
  try {
    return disk.readFile(path).toString("utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return "";
    throw error;
  }
}

function sizeOf(path: string, disk: Disk): number {
  try {
    return disk.statPath(path).size;
  } catch {
    return 0;
  }
}

/** Writes documents: a text that is empty takes its file away. */
export async function writeDocuments(
  folder: string,
  { metadata, state }: Partial<Documents>,
  isDurable: boolean,
  disk: Disk,
  mayReplace?: () => void,
): Promise<void> {
  for (const [name, text] of [
    [metadataFile, metadata],
    [stateFile, state],
  ] as const) {
    const path = join(folder, name);
    if (text === "") {
      if (disk.exists(path)) disk.unlink(path);
    } else if (text !== undefined) await replaceFile(path, text, isDurable, disk, mayReplace);
  }
}
