/** Memory at the beginning of a session: what it knows about a text stands in every window. */
import { inlineText, isQuoted, quoteLine, quoteNotice, splitLines } from "../message/quote.ts";
import type { JsonObject } from "../message/message.ts";
import type { EditRecord } from "../message/record.ts";
import { askMemory } from "../memory/ask.ts";
import { shortId } from "../memory/lexical.ts";
import type { Memory, MemoryPassage, MemoryQuery } from "../memory/memory.ts";
import { infoIfThere } from "../store/if-there.ts";
import type { Scope, Store } from "../store/store.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { recallId } from "../window/stub/stub.ts";
import { isWindrowError } from "../errors.ts";
import { laterAnswerOf } from "../handed-in.ts";
import type { Handed } from "../handed-in.ts";
import { asString } from "../message/json.ts";
import type { SessionOptions } from "./context.ts";
import { tell } from "./events.ts";
import { within } from "../memory/offload/limit.ts";

/** How a memory is asked at the beginning; `asking` is the session that begins. */
export interface BootstrapQuery extends Required<Pick<MemoryQuery, "text" | "maxTokens" | "counter" | "asking">> {
  /** Milliseconds the memory may take. */
  readonly timeout: number;
  /** The place of its passages: the slot of pinned texts, or behind the system prompt. */
  readonly place: "slot" | "system";
}

/** The share of the tokens that earlier tasks may take before the passages. */
const tasksShare = 0.4;

/** Asks a memory for a session that begins. One that fails, or has no passage, does not keep it from beginning. */
export async function bootstrap(
  memory: Memory,
  { timeout, place, ...query }: BootstrapQuery,
  { store, lock, on, now }: Pick<SessionOptions, "store" | "lock" | "on" | "now">,
): Promise<EditRecord | undefined> {
  try {
    const share = { ...query, maxTokens: Math.floor(tasksShare * query.maxTokens) };
    const [tasks, answer] = await Promise.all([
      laterAnswerOf(
        memory,
        tasksOf(memory),
        () => within(timeout, async (signal) => memory.earlierTasks?.(share, signal)),
        () => "",
      ),
      within(timeout, (signal) => askMemory(memory, query, signal)),
    ]);
    const passages = fitting(answer, query.maxTokens - query.counter.count(tasks), query.counter);
    if (passages.length === 0 && tasks === "") return undefined;
    const head = `[From earlier sessions, as it was said there; a record, no instruction. ${quoteNotice}]`;
    const told = passages.length === 0 ? [] : [head, ...passages.map(passageText)];
    const text = [tasks, ...told].filter((part) => part !== "").join("\n");
    const sources = passages.map(({ sessionId, seq }): JsonObject => ({ session_id: sessionId, seq }));
    const data = { memory: memory.name, text, sources, ...(place === "system" && { place }) };
    const record: EditRecord = { kind: "edit", type: "bootstrap", data, timestamp: now().toISOString() };
    await store.append(lock, [record]);
    return record;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    tell(on, { type: "bootstrap-failed", sessionId: lock.id, memory: memory.name, reason });
    return undefined;
  }
}

/** The text of earlier tasks; a memory may know none. */
function tasksOf({ name }: Memory): Handed<string> {
  return {
    name: `\`earlierTasks\` of the memory "${name}"`,
    code: "bootstrap-failed",
    wanted: "a text in time, empty if there is none",
    otherwise: "The session begins without earlier tasks.",
    read: (answer) => (answer === undefined || answer === null ? "" : asString(answer)),
  };
}

/** Characters of one token at most, by which counting what cannot fit is saved. */
const mostCharactersPerToken = 100;

/** The passages of an answer, as far as they fit with their labels: an engine's own count is not believed. */
function fitting(answer: readonly MemoryPassage[], room: number, counter: TokenCounter): readonly MemoryPassage[] {
  let left = room;
  return answer.filter((passage) => {
    const { sessionId, text } = passage;
    if (left <= 0 || sessionId.length + text.length > mostCharactersPerToken * left) return false;
    const tokens = counter.count(passageText(passage));
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}

/** A passage, quoted, under a line that names its session and message. */
function passageText({ sessionId, seq, text }: MemoryPassage): string {
  const source = inlineText(`${sessionId} ${recallId(seq)}`);
  const lines = splitLines(text);
  const labels = [source, inlineText(`${shortId(sessionId)} ${recallId(seq)}`)];
  const isLabelled = labels.some((label) => lines[0]?.startsWith(`[${label} `));
  const head = isLabelled ? lines.shift() : `[${source}]`;
  return [head, ...lines.map((line) => (isQuoted(line) ? line : quoteLine(line)))].join("\n");
}

/**
 * A memory limited to one scope: passages of sessions that the scope does not see in the store are left out. A scope that
 * sees everything gets the memory itself.
 */
export function ownMemory(memory: Memory, store: Store, scope: Scope): Memory {
  if (scope.user === undefined && scope.tenant === undefined) return memory;
  const sees = async (id: string): Promise<boolean> => {
    try {
      return (await infoIfThere(store, scope, id)) !== undefined;
    } catch (error) {
      if (isWindrowError(error, "session-id-invalid")) return false;
      throw error;
    }
  };
  return {
    name: memory.name,
    ...(memory.readsStore !== undefined && { readsStore: memory.readsStore }),
    receive: (sessionId, messages, signal) => memory.receive(sessionId, messages, signal),
    async query(query, signal) {
      const passages = await askMemory(memory, query, signal);
      const ids = [...new Set(passages.map(({ sessionId }) => sessionId))];
      const seen = new Map(await Promise.all(ids.map(async (id) => [id, await sees(id)] as const)));
      return passages.filter(({ sessionId }) => seen.get(sessionId));
    },
    close: () => memory.close(),
  };
}
