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
import type { Scope } from "../scope.ts";
import { putAside } from "./aside.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { logKey, readCounters, rowsOf } from "./log.ts";
import { dropStagedScript, mendScript } from "./scripts.ts";
import { holderOf, readHash } from "./session.ts";
import type { SessionHash } from "./session.ts";

/** Keys that a node is asked for at once. */
const pageKeys = 512;

/** One session under examination. */
interface ExaminedSession extends LinesUnderExamination {
  readonly place: RedisPlace;
  readonly mend: boolean;
  /** For the list `aside`: when this examination began. */
  readonly time: string;
  readonly hash: SessionHash;
  /** Its owner, as far as that is known. */
  readonly owner: Scope;
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
    const hash = await readHash(place, place.keys.of(id).session);
    const holder = await holderOf(place, hash);
    const isAtWork = heldBy(holder) !== undefined;
    const examined = await underExamination(place, id, { hash, time, mend: mend && !isAtWork });
    if (hash.restoring) {
      await examineDraft(examined, isAtWork);
      drafts.push(...examined.findings);
      continue;
    }
    const logs = await examineLines(examined);
    examineLosses(examined, place.keys.of(id).session);
    await examineHash(examined);
    if (holder.holder && !isAtWork) {
      const message = `Its process ${holder.holder.processId} died without letting go. Resume it, or let the monitor end it.`;
      addFinding(examined, { problem: "holder-gone", severity: "notice", message });
    }
    yield { sessionId: id, ...logs, findings: examined.findings };
  }
  yield { records: 0, goodBytes: 0, badBytes: 0, findings: drafts };
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

/** The keys of all nodes that begin with a text. */
async function* keysWith({ sender }: RedisPlace, prefix: string): AsyncGenerator<string> {
  const pattern = `${prefix.replaceAll(/[\\[\]?*]/g, String.raw`\$&`)}*`;
  for (const send of await sender.masters()) {
    let cursor = "0";
    do {
      const [next, page] = (await send("SCAN", cursor, "MATCH", pattern, "COUNT", pageKeys)) as [string, string[]];
      cursor = next;
      yield* page;
    } while (cursor !== "0");
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
  const owner = ownerOf(decodeMetadata(parseDocument(hash.metadata ?? ""), id) ?? (await salvaged(place, id, time)));
  const aside = async (log: LogName, seq: number, line: string): Promise<void> =>
    putAsideOnce({ place, id, hash, owner }, { time, log, seq, line });
  return {
    ...{ place, id, hash, owner, time, mend, check, findings: [], inDamage: new Set() },
    count: new StateCount(decodeMetadata(parseDocument(hash.metadata ?? ""), id)?.createdAt ?? time),
    putAside: mend ? aside : undefined,
    linesOf: (log) => rowsOf(place, logKey(keys, log)),
    placeOf: (log) => logKey(keys, log),
  };
}

/** Puts a text aside, the same one once, unless the session was taken or erased meanwhile. */
async function putAsideOnce(
  { place, id, hash, owner }: Pick<ExaminedSession, "place" | "id" | "hash" | "owner">,
  one: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { generation = "", taking = "" } = hash;
  const text = JSON.stringify({ ...one, time: undefined });
  const there = (await place.sender.send("LRANGE", place.keys.of(id).aside(owner), 0, -1)) as readonly string[];
  if (there.some((other) => JSON.stringify({ ...parseDocument(other), time: undefined }) === text)) return;
  await putAside(place, id, owner, [generation, taking], JSON.stringify(one));
}

/** The documents, and the list that a session is found by. */
async function examineHash(examined: ExaminedSession): Promise<void> {
  const { place, id, hash, mend, time } = examined;
  const { session, logs } = place.keys.of(id);
  const found = {
    metadata: decodeMetadata(parseDocument(hash.metadata ?? ""), id),
    state: decodeState(parseDocument(hash.state ?? "")),
  };
  const metadata = found.metadata ?? (await salvaged(place, id, time));
  const state = found.state ?? countedState(examined, metadata);
  for (const [name, text, from] of [
    [
      "metadata",
      found.metadata ? undefined : encodeMetadata(metadata),
      "the list that names it; its user is not known",
    ],
    ["state", found.state ? undefined : encodeState(state), "the usage and tool calls, which are counted again"],
  ] as const) {
    if (text === undefined) continue;
    const message = `The ${name} cannot be read. It is written anew from ${from}; the old text goes aside.`;
    addFinding(examined, { problem: `${name}-unreadable`, file: session, message, mended: mend });
    if (!mend) continue;
    await putAsideOnce(examined, { time, [name]: hash[name] ?? null });
    const head = (await readCounters(place, place.keys.of(id))).pos;
    const { generation = "", taking = "" } = hash;
    await run(place, mendScript, [session, ...logs], [generation, taking, name, text, state.status, head]);
  }
  const score = await place.sender.send("ZSCORE", place.keys.sessions(metadata), id);
  if (score !== null && Number(score) === -(Date.parse(metadata.createdAt) || 0)) return;
  if (mend) await list(place, metadata);
  const message = "The list of sessions does not name it, or names it at another time. It is listed anew.";
  addFinding(examined, { problem: "stale-index", file: place.keys.sessions(metadata), message, mended: mend });
}

async function list({ sender, keys }: RedisPlace, metadata: SessionMetadata): Promise<void> {
  await sender.send("ZADD", keys.sessions(metadata), -(Date.parse(metadata.createdAt) || 0), metadata.uuid);
}

/** Metadata in the place of one that cannot be read: time and tenant are those of the list that names the session. */
async function salvaged(place: RedisPlace, id: string, time: string): Promise<SessionMetadata> {
  const lists = place.keys.sessions({});
  for await (const key of keysWith(place, lists)) {
    const score = await place.sender.send("ZSCORE", key, id);
    if (score === null) continue;
    const tenant = key.slice(lists.length + 1);
    return { ...bare(id, new Date(-Number(score)).toISOString()), ...(tenant !== "" && { tenant }) };
  }
  return bare(id, time);
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
