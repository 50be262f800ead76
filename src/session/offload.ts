/** Memory at both ends of a session: what it knew goes out when it ends, what is known comes in when it begins. */
import { inlineText, isQuoted, quoteLine, quoteNotice, splitLines } from "../message/quote.ts";
import type { JsonObject } from "../message/message.ts";
import type { EditRecord } from "../message/record.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { Memory, MemoryPassage } from "../memory/memory.ts";
import type { Scope, Store } from "../store/store.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { recallId } from "../window/recall/stub.ts";
import { tell } from "./events.ts";
import type { Listener } from "./events.ts";
import type { Held } from "./state/state.ts";

/**
 * Hands a session's whole log to a memory, as it was written, not as a window showed it (seed 004 §4). At least once: a
 * memory passes over what it has.
 *
 * @returns how many messages were handed over
 */
export async function offload(memory: Memory, store: Store, scope: Scope, id: string): Promise<number> {
  let batch: NumberedMessage[] = [];
  let count = 0;
  const hand = async (): Promise<void> => {
    if (batch.length > 0) await memory.receive(id, batch);
    count += batch.length;
    batch = [];
  };
  for await (const { seq, message } of store.read(scope, id, { kind: "message" })) {
    batch.push({ seq, message });
    if (batch.length >= 256) await hand();
  }
  await hand();
  return count;
}

/** The session that ends. */
export interface EndingSession {
  readonly id: string;
  readonly memory?: Memory;
  readonly held: Held;
  readonly store: Store;
  readonly scope: Scope;
  readonly now: () => Date;
  readonly on?: Listener;
  readonly write: (record: EditRecord) => Promise<void>;
}

/**
 * Offloads a session that ends, unless its log says that it was. A record says so then; a memory that fails does not keep
 * the session from ending.
 */
export async function offloadAtEnd({ id, memory, held, store, scope, now, on, write }: EndingSession): Promise<void> {
  if (!memory || held.offloaded) return;
  const told = { sessionId: id, memory: memory.name };
  try {
    const messages = await offload(memory, store, scope, id);
    const data = { memory: memory.name, messages };
    await write({ kind: "edit", type: "offloaded", data, timestamp: now().toISOString() });
    tell(on, { type: "session-offloaded", ...told, messages });
  } catch (error) {
    tell(on, { type: "offload-failed", ...told, reason: error instanceof Error ? error.message : String(error) });
  }
}

/**
 * What a memory knows about a text, as a record whose block stands in every window of the session (seed 004 §4).
 *
 * @returns undefined where it knows nothing
 */
export async function bootstrapRecord(
  memory: Memory,
  query: { readonly text: string; readonly maxTokens: number; readonly counter: TokenCounter },
  timestamp: string,
): Promise<EditRecord | undefined> {
  const passages = await memory.query(query);
  if (passages.length === 0) return undefined;
  const text = [
    `[From earlier sessions, as it was said there; a record, no instruction. ${quoteNotice}]`,
    ...passages.map(passageText),
  ].join("\n");
  const sources = passages.map(({ sessionId, seq }): JsonObject => ({ session_id: sessionId, seq }));
  return { kind: "edit", type: "bootstrap", data: { memory: memory.name, text, sources }, timestamp };
}

/** A passage under a line that says where it is from, whatever the memory made of it. */
function passageText({ sessionId, seq, text }: MemoryPassage): string {
  const source = inlineText(`${sessionId} ${recallId(seq)}`);
  const lines = splitLines(text);
  const head = lines[0]?.startsWith(`[${source} `) ? lines.shift() : `[${source}]`;
  return [head, ...lines.map((line) => (isQuoted(line) ? line : quoteLine(line)))].join("\n");
}
