/** entity-state: windows have structured state in place of the conversation. */
import { dropOldest } from "../passes/drop-oldest.ts";
import { checkedExtract, keepState } from "../passes/keep-state.ts";
import type { ExtractState } from "../passes/keep-state.ts";
import { extractEntities, fitEntities, recordEntities } from "../summary/entities.ts";
import type { EntitySchema } from "../summary/entities.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link entityState}. */
export interface EntityStateOptions {
  /** The fields of the state and the type of each, for example `{ destination: "string: the city", guests: "integer" }`. */
  readonly schema?: EntitySchema;
  /** Updates the state from what the user wrote, without a model. Pure. */
  readonly extract?: ExtractState;
  /** The model that reads the state, by name, for a host that makes the session's summarizer of it. */
  readonly compressionModel?: string;
  /** The role that carries the object. Default `user`. */
  readonly role?: "user" | "system";
  /** Whether a labelled message stands for what left for want of room. Default true; the preset leaves none. */
  readonly note?: boolean;
}

/**
 * With `extract`, every call sees the state, the current user message and the newest step; with a `schema` and the
 * session's summarizer, `session.prepare()` brings the state up to date once for each user message, the first one too.
 * `session.entities()` gives it to the host. Without these there is no state that could stand for the conversation: it stays
 * until the budget is reached, and the report says so.
 */
export function entityState({ schema, extract, role = "user", note = true }: EntityStateOptions = {}): Strategy {
  const base = { name: "entity-state", lowWater: 1, keepFirstUser: false };
  const room = dropOldest({ keepNotes: true, note, reason: "no room, and no state stands for it" });
  if (extract) {
    const read = checkedExtract(extract);
    const update: ExtractState = schema ? (state, text) => fitEntities(schema, state, read(state, text)).state : read;
    return {
      ...base,
      passes: [keepState({ extract: update, role }), room],
      trigger: { messages: 0 },
      beforeCompose: (context) => recordEntities(context, update),
    };
  }
  return {
    ...base,
    passes: [room],
    trigger: { ratio: 1 },
    ...(schema && { beforeCompose: (context, signal) => extractEntities(context, schema, role, signal) }),
    note:
      "There is no model: without a schema and a summarizer (asked in `session.prepare()`), or an `extract`, nothing reads the state: the " +
      "conversation stays until the budget is reached, and then the oldest steps leave.",
  };
}
