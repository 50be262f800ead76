/** A memory that keeps facts, read by a model when a session has ended, and tells those that a text is about. */
import { ownerOf } from "../../store/shared/rules.ts";
import { checkedModel } from "../../model/answer.ts";
import type { ModelLike } from "../../model/model.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { inlineText } from "../../message/quote.ts";
import type { Scope, Store } from "../../store/store.ts";
import { recallId } from "../../window/stub/stub.ts";
import type { Memory } from "../memory.ts";
import { notesMemory, rankedBy } from "../notes.ts";
import { extractFacts } from "./extract.ts";
import { Facts } from "./facts.ts";
import type { CurrentFact, NewFact } from "./facts.ts";

/** The options of {@link factMemory}. */
export interface FactMemoryOptions {
  readonly store: Store;
  /** The tenant and the user whose facts are told. Default: those of sessions without a user. */
  readonly scope?: Scope;
  readonly model: ModelLike;
  /** Messages that the model reads at a time. Default 40. */
  readonly batch?: number;
  /** Most tokens of an answer. Default 2,000. */
  readonly maxOutput?: number;
  /** The passages beside the facts; asked for what the facts leave of the tokens. Default: none. */
  readonly beside?: Memory;
}

/**
 * Makes a memory of facts. It is handed ended sessions as any engine is, so what a model refuses is tried again, and a
 * stretch that was read is not read twice. Facts stand apart for each owner of a session.
 */
export function factMemory(options: FactMemoryOptions): Memory {
  const { store, scope = {}, model, batch = 40, maxOutput = 2_000, beside } = options;
  const known = new Facts(store, scope);
  const notes = notesMemory("facts", beside, async (text) =>
    rankedFacts(await known.list(), text).map((fact) => {
      const [{ sessionId, seq } = { sessionId: known.sessionId, seq: 0 }] = fact.sources;
      return { sessionId, seq, text: passageOf(fact) };
    }),
  );
  return {
    ...notes,

    async receive(sessionId, messages, signal) {
      const list = [...messages];
      await notes.receive(sessionId, list, signal);
      const { metadata } = await store.info(scope, sessionId);
      const facts = new Facts(store, ownerOf(metadata));
      const readTo = await facts.readTo(sessionId);
      const fresh = list.filter(({ seq }) => seq > readTo);
      for (let at = 0; at < fresh.length; at += batch) {
        const part: readonly NumberedMessage[] = fresh.slice(at, at + batch);
        const found = await extractFacts(checkedModel(model), sessionId, part, maxOutput, signal);
        const dated = await withTimes(store, scope, sessionId, found.facts);
        await facts.add(sessionId, part.at(-1)?.seq ?? 0, dated, { ...found.usage });
      }
    },
  };
}

/** Facts with the time of the message that says each: a session may be read long after a newer one. */
async function withTimes(
  store: Store,
  scope: Scope,
  sessionId: string,
  facts: readonly NewFact[],
): Promise<readonly NewFact[]> {
  const dated: NewFact[] = [];
  for (const fact of facts) {
    const { seq = 0 } = fact.sources[0] ?? {};
    let said: Pick<NewFact, "saidAt"> = {};
    for await (const { timestamp } of store.read(scope, sessionId, { kind: "message", from: seq, to: seq })) {
      said = { saidAt: timestamp };
    }
    dated.push({ ...fact, ...said });
  }
  return dated;
}

/** The facts that share a word with a text, best first. */
export function rankedFacts(facts: readonly CurrentFact[], text: string): readonly CurrentFact[] {
  // A group for each: facts beside each other have nothing to do with each other.
  return rankedBy(text, facts, ({ id, about, text: says }) => ({ group: id, text: `${about}: ${says}` }));
}

function passageOf({ text, sources, correctedBy, timestamp, saidAt = timestamp, history }: CurrentFact): string {
  const [source] = sources;
  const from = source ? `${source.sessionId} ${recallId(source.seq)}` : `corrected by ${correctedBy ?? "hand"}`;
  const before = history[0] ? ` Before: ${inlineText(history[0].text)}` : "";
  return `[${inlineText(from)} fact of ${saidAt.slice(0, 10)}] ${inlineText(text)}${before}`;
}
