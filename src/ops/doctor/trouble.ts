/**
 * Trouble that is no damage: the disk is full, a lock lingers, summaries fail, a window outgrows its
 * budget. Each is a notice with what to do; nothing is changed.
 */
import { statfs } from "node:fs/promises";
import { isWindrowError } from "../../errors.ts";
import { systemCode } from "../../disk/safe-write.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { Finding, SessionInfo, Store } from "../../store/store.ts";
import { enginesDue } from "../look/offloads.ts";
import { measureHealth } from "../monitor/metrics.ts";
import { conversations } from "../../store/memory-logs.ts";

/** Summaries that failed in a row; fewer are no news. */
const leastFailures = 3;

/** Milliseconds without a heartbeat after which a live holder seems to hang; one comes every 30 seconds. */
const silentMs = 300_000;

/** Bytes that are free: fewer are little, or none to speak of. */
const [lowBytes, fullBytes] = [1e9, 1e8];

/** Free bytes of the disk that a folder is on, as who writes there may use them. */
export type FreeBytes = (folder: string) => Promise<number>;

/** A disk with little room. */
export async function diskTrouble(
  store: Store,
  folder: string,
  freeBytes: FreeBytes = freeOf,
): Promise<readonly Finding[]> {
  const free = await freeBytes(folder);
  if (free >= lowBytes) return [];
  const { disk } = await measureHealth(store);
  const sizes = disk ? `; sessions take ${size(disk.running)} in running, ${size(disk.completed)} in completed` : "";
  const message =
    `${size(free)} are free on the disk of ${folder}${sizes}. Writing ends with "No space left on device"; nothing that ` +
    "was acknowledged is lost. Make room with `windrow cleanup` (docs/operations.md), or move the store.";
  return [notice(free < fullBytes ? "disk-full" : "disk-low", message)];
}

async function freeOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Problems that keep unfinished sessions from going on as they should. */
export async function runningTrouble(store: Store, now: Date): Promise<readonly Finding[]> {
  const found: (Finding | undefined)[] = [];
  // Not `info`, which ends a move that was cut short: the doctor changes nothing unless it is asked to.
  for await (const info of conversations(store, {}, { unfinished: true })) {
    if (isFinal(info.state.status)) continue;
    found.push(await orUnreadable(() => holderTrouble(store, info, now)), outgrown(info));
  }
  return found.filter((finding) => finding !== undefined);
}

/** Summaries of a session that fail in a row: what leaves the window leaves without one. */
export async function summaryTrouble(store: Store, id: string): Promise<readonly Finding[]> {
  const finding = await orUnreadable(() => failingSummaries(store, id));
  return finding ? [finding] : [];
}

/** A tenant's session, or one too damaged to read, gives no finding here: the examination reports it. */
async function orUnreadable(look: () => Promise<Finding | undefined>): Promise<Finding | undefined> {
  try {
    return await look();
  } catch (error) {
    // One that moved meanwhile, or cannot be read, tells nothing either.
    if (isWindrowError(error) || systemCode(error) !== undefined) return undefined;
    throw error;
  }
}

/** Recalls, resumes and pins stand between the failures. */
const newestEdits = 256;

async function failingSummaries(store: Store, id: string): Promise<Finding | undefined> {
  let failures = 0;
  let reason = "";
  for await (const { type, data } of store.read({}, id, { kind: "edit", last: newestEdits })) {
    if (type === "epoch" && data["reason"] === "summary") failures = 0;
    if (type !== "summary-failed") continue;
    failures++;
    reason = [data["reason"], data["problem"]].filter((text) => typeof text === "string").join(": ");
  }
  if (failures < leastFailures) return undefined;
  const message =
    `The last ${failures} summaries failed (${reason}). Look at the summarizer's address, key and contextWindow; ` +
    `\`windrow compact ${id}\` tries again.`;
  return notice("summaries-failing", message, id);
}

/** Memories that lack sessions which have ended. */
export async function offloadTrouble(store: Store): Promise<readonly Finding[]> {
  return (await enginesDue(store, {})).map(({ memory, due, failing, reason = "" }) => {
    const failed = failing === 0 ? "" : `; ${failing} of them failed (${reason})`;
    const message =
      `${due} ended session${due === 1 ? " is" : "s are"} due to the memory "${memory}"${failed}. A manager that is ` +
      "opened with this memory hands them over, or `offloadDue` does (docs/memory.md).";
    return notice("offload-due", message);
  });
}

/** A process that lives and says nothing any more, or one that began to end the session and did not. */
async function holderTrouble(store: Store, info: SessionInfo, now: Date): Promise<Finding | undefined> {
  const id = info.metadata.uuid;
  const { state, owner } = await store.holding.holder({}, id);
  if (info.state.status === "completing" && state !== "held") {
    const message =
      "Its state is `completing`, which no Windrow writes, and nobody holds it: the program that was ending it stopped. " +
      "`windrow monitor --once` ends it as completed.";
    return notice("left-completing", message, id);
  }
  if (state !== "held" || !owner || !(now.getTime() - Date.parse(owner.heartbeatAt) >= silentMs)) return undefined;
  const message =
    `Process ${owner.processId} on ${owner.hostname} holds the session, and was last heard of ${owner.heartbeatAt}. It ` +
    `lives; if it hangs, end it, or \`windrow unlock ${id} --force --reason "…"\`.`;
  return notice("holder-silent", message, id);
}

/** A window over its budget that was never made smaller. */
function outgrown({ metadata, state }: SessionInfo): Finding | undefined {
  const { budget } = metadata.config;
  // Sessions of earlier versions counted their epochs as compressions.
  const edited = state.epochCount > 0 || state.compressionCount > 0;
  if (typeof budget !== "number" || edited || state.currentContextTokens <= budget) return undefined;
  const message =
    `Its window has ${state.currentContextTokens} tokens, its budget is ${budget}, and nothing was ever taken out. ` +
    `\`windrow logs ${metadata.uuid} --level ERROR\` says what failed; \`windrow compact ${metadata.uuid}\` compresses it.`;
  return notice("never-compressed", message, metadata.uuid);
}

function notice(problem: string, message: string, sessionId?: string): Finding {
  const about = sessionId === undefined ? {} : { sessionId, file: sessionId };
  return { problem, severity: "notice", ...about, message, mended: false };
}

function size(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
}
