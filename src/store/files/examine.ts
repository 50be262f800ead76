/**
 * A store of files, examined: what a crash, a full disk, another program or a hand has done to it. Nothing is changed
 * unless mending was asked for; nothing is ever deleted: what is taken out is copied beside its file or moved into the
 * folder `aside/`.
 */
import { existsSync, statSync } from "node:fs";
import { chmod, readFile, readdir } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { WindrowError } from "../../errors.ts";
import type { Clock } from "../clock.ts";
import { timestamp } from "../clock.ts";
import { isFinal, isSessionId } from "../rules.ts";
import type { Examined, ExamineOptions, Finding } from "../store.ts";
import { readState } from "./documents.ts";
import { find, moveAside } from "./examination.ts";
import type { Examination } from "./examination.ts";
import { examineDocuments } from "./examine-documents.ts";
import { examineIndex } from "./examine-index.ts";
import { examineLogs } from "./examine-logs.ts";
import type { Layout, Place } from "./layout.ts";
import { lockFile, systemCode } from "./layout.ts";
import { holdQuietly, holderOf } from "./lock.ts";
import { endMove } from "./move.ts";

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
  if (!existsSync(layout.running) && !existsSync(layout.completed)) {
    throw new WindrowError(
      "store-unavailable",
      `There is no store in ${layout.base}: it has neither a folder "running" nor "completed". Check the path.`,
      { path: layout.base },
    );
  }
  const stamp = timestamp(clock).replaceAll(/[-:.]/g, "");
  const around: Finding[] = [];
  const ids = new Set<string>();
  for (const folder of [layout.running, layout.completed]) {
    for (const name of await namesIn(folder)) {
      if (isSessionId(name)) ids.add(name);
      else around.push(await examineStranger({ layout, mend, stamp }, join(folder, name)));
    }
  }
  for (const id of [...ids].sort()) {
    if (signal?.aborted)
      throw new WindrowError("aborted", "The examination was aborted; what was mended stays mended.");
    yield await examineSession({ layout, mend, clock, stamp }, id);
  }
  for (const folder of [layout.base, layout.running, layout.completed]) {
    const examination = { layout, mend, clock, stamp, place: { id: "", folder, completed: false }, findings: [] };
    await examineMode(examination, folder, 0o700);
    around.push(...examination.findings.map(({ sessionId: _none, ...finding }: Finding) => finding));
  }
  around.push(...(await examineIndex(layout, mend)));
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
  return { problem: "draft", severity, file, message, mended, ...(keptAs === undefined ? {} : { keptAs }) };
}

async function examineSession(
  common: Pick<Examination, "layout" | "mend" | "clock" | "stamp">,
  id: string,
): Promise<Examined> {
  const places = [
    { id, folder: join(common.layout.running, id), completed: false },
    { id, folder: join(common.layout.completed, id), completed: true },
  ].filter(({ folder }) => existsSync(folder));
  const place = places.length === 2 ? await richer(places) : places[0];
  if (!place) return { sessionId: id, records: 0, goodBytes: 0, badBytes: 0, findings: [] };
  const hold = quietHold(place, common.mend);
  const findings: Finding[] = [];
  const examination: Examination = { ...common, mend: common.mend && hold !== "busy", place, findings };
  try {
    for (const other of places) if (other !== place) await examineTwin(examination, other);
    await examineEntries(examination);
    await examineDocuments(examination);
    const logs = await examineLogs(examination, hold === "busy");
    if (hold !== "busy") examineHolder(examination);
    return { sessionId: id, ...logs, findings };
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

/** Of two copies of a session, the one whose logs are longer; of equals the finished one. */
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
    return find(examination, other.folder, { problem, message, mended: false });
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
      const keptAs = examination.mend ? await moveAside(examination, path) : undefined;
      const message = "A draft that a crash left; it is no part of the session. It is moved aside.";
      find(examination, path, { problem: "draft", message, mended: examination.mend, ...(keptAs && { keptAs }) });
    } else if (entry.isFile()) await examineMode(examination, path, 0o600);
  }
}

async function examineMode(examination: Examination, path: string, wanted: number): Promise<void> {
  if (process.platform === "win32" || !existsSync(path)) return;
  const mode = statSync(path).mode & 0o777;
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
