/**
 * The examination of a Redis store: each session's documents and every line, whether it is listed or not. Nothing is
 * changed unless mending is asked for, and nothing is deleted but the copies that a restore left.
 */
import { WindrowError } from "../../errors.ts";
import { decodeMetadata, decodeState, encodeMetadata, encodeState, parseDocument } from "../format/documents.ts";
import { sealIn } from "../format/seal.ts";
import { addFinding, countedState, examineLines, examineLosses } from "../shared/examine-lines.ts";
import type { LinesUnderExamination } from "../shared/examine-lines.ts";
import { LossCheck } from "../shared/losses.ts";
import { heldBy } from "../shared/remote.ts";
import { formatVersion, ownerOf } from "../shared/rules.ts";
import { StateCount } from "../shared/state-count.ts";
import type { Examined, ExamineOptions, Finding, LogName, SessionMetadata } from "../store.ts";
import { putAside } from "./aside.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { logKey, readCounters, rowsOf } from "./log.ts";
import { keysWith, salvaged } from "./owner.ts";
import type { Salvaged } from "./owner.ts";
import { dropStagedScript, mendScript } from "./scripts.ts";
import { holderOf, readHash } from "./session.ts";
import type { SessionHash } from "./session.ts";

/** One session under examination. */
interface ExaminedSession extends LinesUnderExamination {
  readonly place: RedisPlace;
  readonly mend: boolean;
  /** For the list `aside`: when this examination began. */
  readonly time: string;
  readonly hash: SessionHash;
  /** Its owner, and the time by the list that names it; undefined where nobody can say whose it is. */
  readonly whose: Salvaged | undefined;
}

/**
 * Examines every session, and last what restores left.
 *
 * @param time - when it begins
 * @throws WindrowError `aborted`, `store-unavailable`
 */
export async function* examineRedis(
  place: RedisPlace,
  time: string,
  { mend = false }: ExamineOptions,
  signal?: AbortSignal,
): AsyncGenerator<Examined> {
  const drafts: Finding[] = [];
  for await (const id of sessionIds(place)) {
    if (signal?.aborted) {
      throw new WindrowError("aborted", "The examination was aborted; what was mended stays mended.");
    }
    const found = await examineWhileThere(place, id, time, mend);
    if (!found) continue;
    const { isDraft, ...examined } = found;
    if (isDraft) drafts.push(...examined.findings);
    else yield examined;
  }
  yield { records: 0, goodBytes: 0, badBytes: 0, findings: drafts };
}

/** How often a session is looked at again that was taken, moved or made anew while it was examined. */
const mostLooks = 5;

/** One session, and whether it is what a restore left. */
interface ExaminedOne extends Examined {
  readonly isDraft: boolean;
}

/**
 * Examines a session that others may make, trash or erase meanwhile: what is found is told of one that is still the same, and
 * only that is mended.
 *
 * @returns undefined for one that is gone
 */
async function examineWhileThere(
  place: RedisPlace,
  id: string,
  time: string,
  mend: boolean,
): Promise<ExaminedOne | undefined> {
  const { session, logs } = place.keys.of(id);
  for (let looks = 1; ; looks += 1) {
    const hash = await readHash(place, session);
    let examined = await examineOne(place, id, { hash, time, mend: false });
    if (examined.findings.length === 0) return examined;
    if (Number(await place.sender.send("EXISTS", session, ...logs)) === 0) return undefined;
    if (looks < mostLooks && !isSame(hash, await readHash(place, session))) continue;
    if (!mend) return examined;
    examined = await examineOne(place, id, { hash, time, mend });
    return Number(await place.sender.send("EXISTS", session, ...logs)) > 0 || examined.isDraft ? examined : undefined;
  }
}

function isSame(one: SessionHash, other: SessionHash): boolean {
  return (["made", "generation", "taking", "restoring"] as const).every((name) => one[name] === other[name]);
}

async function examineOne(
  place: RedisPlace,
  id: string,
  { hash, time, mend }: Pick<ExaminedSession, "hash" | "time" | "mend">,
): Promise<ExaminedOne> {
  const holder = await holderOf(place, hash);
  const isAtWork = heldBy(holder) !== undefined;
  const examined = await underExamination(place, id, { hash, time, mend: mend && !isAtWork });
  if (hash.restoring) {
    await examineDraft(examined, isAtWork);
    return { records: 0, goodBytes: 0, badBytes: 0, findings: examined.findings, isDraft: true };
  }
  const logs = await examineLines(examined);
  examineLosses(examined, place.keys.of(id).session);
  await examineHash(examined);
  if (holder.holder && !isAtWork) {
    const message = `Its process ${holder.holder.processId} died without letting go. Resume it, or let the monitor end it.`;
    addFinding(examined, { problem: "holder-gone", severity: "notice", message });
  }
  return { sessionId: id, ...logs, findings: examined.findings, isDraft: false };
}

/**
 * Lists every session anew that can be read.
 *
 * @returns how many sessions there are
 */
export async function relist(place: RedisPlace): Promise<number> {
  let count = 0;
  for await (const id of sessionIds(place)) {
    const { metadata: text } = await readHash(place, place.keys.of(id).session);
    const metadata = decodeMetadata(parseDocument(text ?? ""), id);
    if (!metadata) continue;
    await list(place, metadata);
    count += 1;
  }
  return count;
}

/** The ids of all sessions: of the hashes, and of logs whose hash is gone. */
async function* sessionIds(place: RedisPlace): AsyncGenerator<string> {
  const mark = "\n";
  const [before = "", after = ""] = place.keys.of(mark).session.split(mark);
  const seen = new Set<string>();
  for await (const key of keysWith(place, before)) {
    const id = key.slice(before.length, key.indexOf(after, before.length));
    if (seen.has(id)) continue;
    seen.add(id);
    yield id;
  }
}

async function underExamination(
  place: RedisPlace,
  id: string,
  { hash, time, mend }: Pick<ExaminedSession, "hash" | "time" | "mend">,
): Promise<ExaminedSession> {
  const keys = place.keys.of(id);
  const fields = parseDocument(hash.state ?? "");
  // The newest place is read now: a writer may add records while the logs are read.
  const check = new LossCheck(sealIn(fields), (await readCounters(place, keys)).pos);
  const state = decodeState(fields);
  if (state && state.llmCallCount + state.toolCallCount > 0) check.imply(1);
  const metadata = decodeMetadata(parseDocument(hash.metadata ?? ""), id);
  const whose = metadata ? { owner: ownerOf(metadata), createdAt: undefined } : await salvaged(place, id, hash);
  const aside = async (log: LogName, seq: number, line: string): Promise<void> =>
    putAsideOnce({ place, id, hash, whose }, { time, log, seq, line });
  return {
    ...{ place, id, hash, whose, time, mend: mend && whose !== undefined, check, findings: [], inDamage: new Set() },
    count: new StateCount(metadata?.createdAt ?? time),
    putAside: mend && whose ? aside : undefined,
    linesOf: (log) => rowsOf(place, logKey(keys, log)),
    placeOf: (log) => logKey(keys, log),
  };
}

/** Puts a text aside, the same one once, unless the session was taken or erased meanwhile. */
async function putAsideOnce(
  { place, id, hash, whose }: Pick<ExaminedSession, "place" | "id" | "hash" | "whose">,
  one: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { generation = "", taking = "" } = hash;
  const owner = whose?.owner ?? {};
  const text = JSON.stringify({ ...one, time: undefined });
  const there = (await place.sender.send("LRANGE", place.keys.of(id).aside(owner), 0, -1)) as readonly string[];
  if (there.some((other) => JSON.stringify({ ...parseDocument(other), time: undefined }) === text)) return;
  await putAside(place, id, owner, [generation, taking], JSON.stringify(one));
}

/** The documents, and the list that a session is found by. */
async function examineHash(examined: ExaminedSession): Promise<void> {
  const { place, id, hash, mend, time, whose } = examined;
  const { session, logs } = place.keys.of(id);
  const found = {
    metadata: decodeMetadata(parseDocument(hash.metadata ?? ""), id),
    state: decodeState(parseDocument(hash.state ?? "")),
  };
  const metadata = found.metadata ?? { ...bare(id, whose?.createdAt ?? time), ...whose?.owner };
  const state = found.state ?? countedState(examined, metadata);
  for (const [name, text, from] of [
    [
      "metadata",
      found.metadata ? undefined : encodeMetadata(metadata),
      hash.owner === undefined
        ? "the list that names it; its user is not known"
        : "its owner and the list that names it",
    ],
    ["state", found.state ? undefined : encodeState(state), "the usage and tool calls, which are counted again"],
  ] as const) {
    if (text === undefined) continue;
    const message = whose
      ? `The ${name} cannot be read. It is written anew from ${from}; the old text goes aside.`
      : `The ${name} cannot be read, and the lists of several tenants name the session: nothing says whose it is, so it stays as it is.`;
    const remedy = whose ? "mend" : "hand";
    addFinding(examined, { problem: `${name}-unreadable`, file: session, message, mended: mend, remedy });
    if (!mend) continue;
    await putAsideOnce(examined, { time, [name]: hash[name] ?? null });
    const head = (await readCounters(place, place.keys.of(id))).pos;
    const { generation = "", taking = "" } = hash;
    await run(place, mendScript, [session, ...logs], [generation, taking, name, text, state.status, head]);
  }
  if (!whose) return;
  const score = await place.sender.send("ZSCORE", place.keys.sessions(metadata), id);
  if (score !== null && Number(score) === -(Date.parse(metadata.createdAt) || 0)) return;
  if (mend) await list(place, metadata);
  const message = "The list of sessions does not name it, or names it at another time. It is listed anew.";
  addFinding(examined, { problem: "stale-index", file: place.keys.sessions(metadata), message, mended: mend });
}

async function list({ sender, keys }: RedisPlace, metadata: SessionMetadata): Promise<void> {
  await sender.send("ZADD", keys.sessions(metadata), -(Date.parse(metadata.createdAt) || 0), metadata.uuid);
}

function bare(id: string, createdAt: string): SessionMetadata {
  return { uuid: id, taskKey: {}, createdAt, processId: 0, hostname: "", config: {}, format: formatVersion };
}

/** Examines the keys that a restore left when it was cut short. */
async function examineDraft(examined: ExaminedSession, isAtWork: boolean): Promise<void> {
  const { place, id, hash, mend } = examined;
  const { session, logs } = place.keys.of(id);
  if (mend) await run(place, dropStagedScript, [session, ...logs], [hash.restoring ?? ""]);
  const severity = isAtWork ? "notice" : "damage";
  const message =
    "The beginning of a session that a restore left when it was cut short. It is taken away: it was a copy.";
  addFinding(examined, { problem: "draft", severity, file: session, message, mended: mend });
}
