/**
 * The scripts that append to sessions in Redis: each checks generation and place of its sessions before it writes. The
 * sessions of a batch share a few scripts, so that the server syncs once for many.
 */
import { encodeState } from "../format/documents.ts";
import { logNames } from "../format/logs.ts";
import type { Outcome, Part, SendBatch, Writable } from "../shared/group-writer.ts";
import type { Taker } from "../shared/holder.ts";
import { isUnknownOutcome, unknownOutcome } from "../shared/remote.ts";
import { sealOf } from "../shared/session-log.ts";
import { WindrowError } from "../../errors.ts";
import { refusalOf } from "./client.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import type { SessionKeys } from "./keys.ts";
import { logKey } from "./log.ts";
import { appendScript } from "./scripts.ts";

/** Sessions in one script, at most: the server does nothing else while it runs one. */
const mostSessions = 64;

/** A session that a store writes. */
export interface Held extends Writable {
  readonly keys: SessionKeys;
  readonly holder: Taker;
}

/** Sends batches to a server. */
export function appendTo(place: RedisPlace): SendBatch<Held> {
  return async (parts) => {
    await place.durability.assured();
    const outcomes = new Map<Held, Outcome>();
    const scripts: (readonly Part<Held>[])[] = [];
    const size = place.sender.isCluster ? 1 : mostSessions;
    for (let at = 0; at < parts.length; at += size) scripts.push(parts.slice(at, at + size));
    const sent = await Promise.allSettled(scripts.map(async (some) => sendScript(place, some)));
    for (const [index, one] of sent.entries()) {
      if (one.status === "fulfilled") for (const [held, outcome] of one.value) outcomes.set(held, outcome);
      else if (!(one.reason instanceof WindrowError) || isUnknownOutcome(one.reason)) throw one.reason;
      else for (const { held } of scripts[index] ?? []) outcomes.set(held, one.reason);
    }
    const kept = parts.filter(({ held }) => outcomes.get(held) === "kept");
    if (kept.length > 0) {
      const areThere = async (): Promise<boolean> =>
        (await Promise.all(kept.map(async (part) => isKept(place, part)))).every(Boolean);
      await place.durability.safe(areThere);
    }
    return outcomes;
  };
}

async function sendScript(place: RedisPlace, parts: readonly Part<Held>[]): Promise<ReadonlyMap<Held, Outcome>> {
  const [keys, values]: [string[], (string | number)[]] = [[], []];
  for (const { held, lines, after, state } of parts) {
    const logs = logNames.filter((log) => lines.some((line) => line.log === log));
    keys.push(held.keys.session, ...logs.map((log) => logKey(held.keys, log)));
    values.push(held.holder.generation, held.holder.taking, held.counters.pos, held.revision, after.pos);
    values.push(...(state ? [encodeState(state, {}, sealOf(after)), state.status] : ["", ""]));
    values.push(logs.length, lines.length);
    for (const { log, seq, line } of lines) values.push(logs.indexOf(log) + 1, `${seq}-0`, line);
  }
  const answers = (await run(place, appendScript, keys, values)) as readonly string[];
  const outcomes = new Map<Held, Outcome>();
  try {
    for (const [index, part] of parts.entries()) {
      outcomes.set(part.held, await outcomeOf(place, part, answers[2 * index], answers[2 * index + 1] ?? ""));
    }
  } catch (error) {
    // The script ran: other parts are written.
    throw unknownOutcome(error);
  }
  return outcomes;
}

async function outcomeOf(
  place: RedisPlace,
  part: Part<Held>,
  answer: string | undefined,
  told: string,
): Promise<Outcome> {
  if (answer === "kept") return "kept";
  if (answer === "error") return refusalOf(told, place.location);
  const [head, revision] = told.split(" ").map(Number);
  if (await isThere(place, part, head ?? 0)) return "kept";
  // A state without lines is known by the revision alone, which another holder goes on with.
  if (answer === "moved" && part.lines.length === 0 && revision === part.held.revision + 1) return "kept";
  return answer === "fenced" ? "fenced" : "elsewhere";
}

/** Whether the server has a part that it kept. */
async function isKept(place: RedisPlace, part: Part<Held>): Promise<boolean> {
  const { keys, holder, revision } = part.held;
  const names = ["generation", "taking", "head", "revision"];
  const found = (await place.sender.send("HMGET", keys.session, ...names)) as readonly (string | null)[];
  const wanted = [holder.generation, holder.taking, part.after.pos, revision + 1];
  if (wanted.every((value, at) => found[at] === String(value))) return true;
  // Another holder may have gone on since.
  return isThere(place, part, Number(found[2] ?? 0));
}

/** Whether an earlier sending of the same lines was carried out. */
async function isThere({ sender }: RedisPlace, { held, lines, after }: Part<Held>, head: number): Promise<boolean> {
  const last = lines.at(-1);
  if (!last || !(head >= after.pos)) return false;
  const reply = await sender.send("XRANGE", logKey(held.keys, last.log), `${last.seq}-0`, `${last.seq}-0`);
  const [entry] = reply as readonly (readonly [string, readonly string[]])[];
  return entry?.[1][1] === last.line;
}
