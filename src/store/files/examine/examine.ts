/**
 * The examination of a file store, after a crash, a full disk, another program or a hand. Nothing is changed unless
 * mending is asked for. Nothing is deleted: bytes that are taken out are copied beside their file or moved into
 * `aside/`.
 */
import { existsSync, statSync } from "node:fs";
import { chmod, readFile, readdir } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { WindrowError, isWindrowError } from "../../../errors.ts";
import type { Clock } from "../../shared/clock.ts";
import { timestamp } from "../../shared/clock.ts";
import { isFinal, isSessionId, ownerOf } from "../../shared/rules.ts";
import type { Examined, ExamineOptions, Finding } from "../../store.ts";
import { metadataFile, metadataIn, readState } from "../../format/documents.ts";
import { find, moveAside, noteAside } from "./examination.ts";
import type { Examination } from "./examination.ts";
import { examineDocuments } from "./documents.ts";
import { examineIndex } from "./index-lines.ts";
import { examineLogs } from "./logs.ts";
import type { Layout, Place } from "../layout.ts";
import { noteIn } from "../session/archived.ts";
import { lockFile } from "../../lock/owner-record.ts";
import { systemCode } from "../../../disk/safe-write.ts";
import { holdQuietly, holderOf } from "../../lock/lock.ts";
import { endMove } from "../session/move.ts";
import { examineDraft, isDraft } from "./draft.ts";
import { isFilesStore, noStoreIn } from "../there.ts";
import { trashFolder } from "../upkeep/trash.ts";

/**
 * Examines every session, and last the store around them.
 *
 * @throws WindrowError `store-unavailable` when there is no store in the folder; `aborted`
 */
export async function* examineFiles(
  layout: Layout,
  { mend = false }: ExamineOptions,
  clock: Clock,
  signal?: AbortSignal,
): AsyncGenerator<Examined> {
  if (!isFilesStore(layout.base)) throw noStoreIn(layout.base);
  const stamp = timestamp(clock).replaceAll(/[-:.]/g, "");
  const around: Finding[] = [];
  const ids = new Set<string>();
  for (const folder of [layout.running, layout.completed]) {
    for (const name of await namesIn(folder)) {
      if (isSessionId(name)) ids.add(name);
      else {
        const stranger = await unlessGone(() => examineStranger({ layout, mend, stamp }, join(folder, name)));
        if (stranger) around.push(stranger);
      }
    }
  }
  for (const id of [...ids].sort()) {
    if (signal?.aborted)
      throw new WindrowError("aborted", "The examination was aborted; what was mended stays mended.");
    const examined = await examineWhereItIs({ layout, mend, clock, stamp }, id);
    if (examined) yield examined;
  }
  for (const folder of [layout.base, layout.running, layout.completed]) {
    const examination = { layout, mend, clock, stamp, place: { id: "", folder, completed: false }, findings: [] };
    await examineMode(examination, folder, 0o700);
    around.push(...examination.findings.map(({ sessionId: _none, ...finding }: Finding) => finding));
  }
  around.push(...(await examineIndex(layout, mend)), ...(await examineTrash(layout)));
  yield { records: 0, goodBytes: 0, badBytes: 0, findings: around };
}

/** Something in running/ or completed/ that is no session: what a cut-short restore or move left, or another's. */
async function examineStranger(
  { layout, mend, stamp }: Pick<Examination, "layout" | "mend" | "stamp">,
  path: string,
): Promise<Finding> {
  const file = relative(layout.base, path);
  const id = /^\.(?:restore|moving)-(.+)$/.exec(basename(path))?.[1];
  if (id === undefined) {
    const message = "This is no session: its name is no UUID. Windrow leaves it alone.";
    return { problem: "foreign", severity: "notice", file, message, mended: false };
  }
  const atWork = [path, join(layout.running, id)].some((folder) => holderOf(folder).state === "held");
  const mended = mend && !atWork;
  const keptAs = mended ? await moveAside({ layout, stamp }, path) : undefined;
  const message = "The beginning of a session that a restore or a move left when it was cut short. It is moved aside.";
  const severity = atWork ? "notice" : "damage";
  const kept = keptAs === undefined ? {} : { keptAs };
  return { problem: "draft", severity, file, message, mended, ...kept };
}

/** Sessions in the trash whose owner cannot be read: no clean-up takes them. */
async function examineTrash(layout: Layout): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const id of await namesIn(join(layout.base, trashFolder))) {
    const folder = join(layout.base, trashFolder, id);
    if (!isSessionId(id) || metadataIn(folder, id)) continue;
    // One that came back, or was erased, meanwhile.
    if (!existsSync(folder)) continue;
    const message =
      "Its metadata is missing or unreadable, so no clean-up takes it from the trash, and its owner cannot bring it back. " +
      `Whoever asks for no user and no tenant erases it: \`windrow erase ${id}\`.`;
    const about = { sessionId: id, file: join(relative(layout.base, folder), metadataFile), message, mended: false };
    findings.push({ problem: "trash-unreadable", severity: "damage", ...about, remedy: "hand" });
  }
  return findings;
}

/** How often a session is looked for again that was moved while it was examined. */
const mostLooks = 5;

type Common = Pick<Examination, "layout" | "mend" | "clock" | "stamp">;

/**
 * Examines a session that other processes may move, compress, trash or erase meanwhile: it is looked at again where it is
 * then. One that cannot be read is a finding, and hides no other.
 *
 * @returns undefined for a session that is gone
 */
async function examineWhereItIs(common: Common, id: string): Promise<Examined | undefined> {
  for (let looks = 1; ; looks += 1) {
    const before = foldersOf(common.layout, id);
    if (before.length === 0) return undefined;
    try {
      const examined = await examineSession(common, id);
      const after = foldersOf(common.layout, id);
      const stayed = before.join() === after.join() || looks === mostLooks || isMended(examined);
      if (stayed && examined) return examined;
      if (after.length === 0) return undefined;
    } catch (error) {
      if (!isWindrowError(error) && systemCode(error) === undefined) throw error;
      if (systemCode(error) === "ENOENT" && looks < mostLooks) continue;
      return { sessionId: id, records: 0, goodBytes: 0, badBytes: 0, findings: [unreadable(common.layout, id, error)] };
    }
  }
}

function isMended(examined: Examined | undefined): boolean {
  return examined?.findings.some(({ mended }) => mended) === true;
}

function foldersOf(layout: Layout, id: string): readonly string[] {
  return [join(layout.running, id), join(layout.completed, id)].filter((folder) => existsSync(folder));
}

function unreadable(layout: Layout, id: string, error: unknown): Finding {
  const path = error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : undefined;
  const file = relative(layout.base, path ?? foldersOf(layout, id)[0] ?? join(layout.running, id));
  const reason = isWindrowError(error) ? error.message : (systemCode(error) ?? String(error));
  const message = `The session cannot be read: ${reason}. Everything else was examined.`;
  const about = { sessionId: id, file, message, mended: false, remedy: "hand" } as const;
  return { problem: "unreadable", severity: "damage", ...about };
}

/** The result of the work; undefined where its session was moved or removed meanwhile. */
async function unlessGone<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function examineSession(common: Common, id: string): Promise<Examined | undefined> {
  const places = [
    { id, folder: join(common.layout.running, id), completed: false },
    { id, folder: join(common.layout.completed, id), completed: true },
  ].filter(({ folder }) => existsSync(folder));
  const place = places.length === 2 ? await richer(places) : places[0];
  if (!place) return undefined;
  const findings: Finding[] = [];
  if (places.length === 1 && isDraft(common.layout, place)) return examineDraft({ ...common, place, findings });
  const hold = quietHold(place, common.mend);
  const examination: Examination = { ...common, mend: common.mend && hold !== "busy", place, findings };
  try {
    for (const other of places) if (other !== place) await examineTwin(examination, other);
    await examineEntries(examination);
    const metadata = await examineDocuments(examination);
    if (examination.mend) await noteAside(examination, metadata);
    // The records of an archived session are the archive's; logs beside its note are a cut-short move's.
    const { mark } = noteIn(place.folder);
    const none = { records: 0, goodBytes: 0, badBytes: 0 };
    const logs = mark ? none : await examineLogs(examination, hold === "busy");
    if (hold !== "busy") examineHolder(examination);
    const archived = mark && { archived: { mark, owner: ownerOf(metadata) } };
    return { sessionId: id, ...logs, findings, ...archived };
  } finally {
    if (typeof hold === "object") hold.release();
    if (hold !== "busy") await examineMove(examination);
  }
}

/** Keeps writers away while a session is mended; `busy` when one is at work. */
function quietHold(place: Place, mend: boolean): { release(): void } | "busy" | "free" {
  if (!mend) return !place.completed && holderOf(place.folder).state === "held" ? "busy" : "free";
  try {
    return holdQuietly(place.folder, !place.completed) ?? "busy";
  } catch (error) {
    if (systemCode(error) === "ENOENT") return "free";
    throw error;
  }
}

/** The copy of a session whose logs are longer; of equal copies the finished one. */
async function richer(places: readonly Place[]): Promise<Place | undefined> {
  const [running, completed] = places;
  if (!running || !completed) return running ?? completed;
  return (await logBytes(running.folder)) > (await logBytes(completed.folder)) ? running : completed;
}

async function logBytes(folder: string): Promise<number> {
  const logs = (await namesIn(folder)).filter((name) => name.endsWith(".jsonl"));
  return logs.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

async function examineTwin(examination: Examination, other: Place): Promise<void> {
  const problem = "in-both-folders";
  if (!(await isContained(other.folder, examination.place.folder))) {
    const message =
      "The session lies in running/ and in completed/, and each copy has records that the other lacks. Compare their " +
      "logs and move one away by hand.";
    return find(examination, other.folder, { problem, message, mended: false, remedy: "hand" });
  }
  const kept = relative(examination.layout.base, examination.place.folder);
  const message = `The session lies in both folders; ${kept} has all of it. The other copy is moved aside.`;
  const keptAs = examination.mend ? await moveAside(examination, other.folder) : undefined;
  find(examination, other.folder, { problem, message, mended: examination.mend, ...(keptAs && { keptAs }) });
}

/** Whether every log of one folder is the beginning of the same log of the other. */
async function isContained(folder: string, other: string): Promise<boolean> {
  for (const name of (await namesIn(folder)).filter((one) => one.endsWith(".jsonl"))) {
    const part = await readFile(join(folder, name));
    if (part.length === 0) continue;
    if (!existsSync(join(other, name))) return false;
    const whole = await readFile(join(other, name));
    if (whole.length < part.length || !whole.subarray(0, part.length).equals(part)) return false;
  }
  return true;
}

/** The modes of a session's files, and drafts that a crash left. */
async function examineEntries(examination: Examination): Promise<void> {
  const { folder } = examination.place;
  await examineMode(examination, folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await examineMode(examination, path, 0o700);
    else if (/^\..+\.tmp$/.test(entry.name)) {
      if (isAtWork(entry.name)) continue;
      const keptAs = examination.mend ? await moveAside(examination, path) : undefined;
      const message = "A draft that a crash left; it is no part of the session. It is moved aside.";
      find(examination, path, { problem: "draft", message, mended: examination.mend, ...(keptAs && { keptAs }) });
    } else if (entry.isFile()) await examineMode(examination, path, 0o600);
  }
}

/** Whether the process that made a draft lives: it is about to give the draft its name. */
function isAtWork(draft: string): boolean {
  const processId = Number(/\.(\d+)\.\d+\.tmp$/.exec(draft)?.[1] ?? 0);
  try {
    return processId > 0 && process.kill(processId, 0);
  } catch {
    return false;
  }
}

async function examineMode(examination: Examination, path: string, wanted: number): Promise<void> {
  const found = process.platform === "win32" ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!found) return;
  const mode = found.mode & 0o777;
  if (mode === wanted) return;
  if (examination.mend) await chmod(path, wanted);
  const message = `Its mode is 0${mode.toString(8)}; 0${wanted.toString(8)} keeps other users of the machine out.`;
  find(examination, path, { problem: "bad-mode", message, mended: examination.mend });
}

function examineHolder(examination: Examination): void {
  const { folder, completed } = examination.place;
  if (completed) return;
  const { state, owner } = existsSync(join(folder, lockFile)) ? holderNow(examination) : { state: "none" as const };
  const status = readState(folder)?.status;
  if (state !== "gone" || (status !== undefined && isFinal(status))) return;
  const who = owner ? `Process ${owner.processId} on ${owner.hostname}` : "The process";
  const message =
    `${who} that wrote it is gone and did not let go (last seen ${owner?.heartbeatAt ?? "never"}). Resume the session, ` +
    "or let `windrow monitor` end it.";
  find(examination, join(folder, lockFile), { problem: "holder-gone", severity: "notice", message, mended: false });
}

/** While this examination holds the kernel's lock, nobody else does. */
function holderNow({ place, mend }: Examination): ReturnType<typeof holderOf> {
  const found = holderOf(place.folder);
  return mend && found.state === "held" ? { ...found, state: "gone" } : found;
}

/** A session that ended and was not moved, or not to the end. */
async function examineMove(examination: Examination): Promise<void> {
  const { layout, place, clock, mend } = examination;
  const state = readState(place.folder);
  const halfMoved = place.completed
    ? existsSync(join(place.folder, lockFile))
    : state !== undefined && isFinal(state.status);
  if (!halfMoved) return;
  const now = mend ? await endMove(layout, place, clock) : place;
  const mended = now.completed && !existsSync(join(now.folder, lockFile));
  const message = place.completed
    ? "A `.lock` stayed behind when the session was moved to completed/. The move is ended."
    : `The session has ended (${state?.status}) and still lies in running/. It is moved to completed/.`;
  find(examination, place.folder, { problem: "half-moved", message, mended });
}

/** The names in a folder; none where it does not exist. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}
