/** The objects `session.pins`, `session.goal`, `session.snapshot` and `session.records`: each reads and writes one kind of record. */
import type { JsonObject } from "../message/message.ts";
import type { EditRecord, NewRecord } from "../message/record.ts";
import type { SessionContext } from "./context.ts";
import { goalRecord } from "./state/state.ts";
import type { GoalText } from "./state/state.ts";
import type { Pin } from "./state/pins.ts";
import { snapshotOf, snapshotRecord, updateSnapshot } from "./state/snapshot.ts";
import type { ContextSnapshot, SnapshotUpdate } from "./state/snapshot.ts";
import type { SessionWriter } from "./writer.ts";

/** Plans a record at the time of its turn, writes it, and applies it to the conversation's state. */
export type RecordPlanned = <R extends NewRecord>(plan: (time: string) => R) => Promise<R>;

/** The pins of a session; `session.pin` adds one. */
export interface SessionPins {
  /** The pins that hold now, oldest first. */
  list(): readonly Pin[];
  /**
   * Removes a pin. Windows of the current epoch say that it no longer holds; the next epoch leaves it out.
   *
   * @throws WindrowError `not-found` for an unknown id, `closed`
   */
  remove(id: string): Promise<void>;
}

/** The goal of a session. */
export interface SessionGoal {
  /** The first user message with a text; undefined before there is one. */
  readonly original: GoalText | undefined;
  /** The texts that {@link SessionGoal.set} recorded, oldest first; the newest holds. */
  readonly revisions: readonly GoalText[];
  /**
   * Revises the goal. Every later window shows it, and the original, in these words.
   *
   * @throws WindrowError `bad-option` for an empty text, `closed`
   */
  set(text: string): Promise<void>;
}

/** The snapshot of a session: the state of the job as its agent records it. */
export interface SessionSnapshot {
  /** A copy of the snapshot; undefined before the first update. */
  readonly current: ContextSnapshot | undefined;
  /**
   * Replaces the fields that are named; the other fields stay.
   *
   * @returns the whole snapshot
   * @throws WindrowError `bad-option` for an unknown field or a wrong type, `closed`
   */
  update(update: SnapshotUpdate): Promise<ContextSnapshot>;
}

/** Records of an adapter's own in a session's log, such as which part of it is still the host's history. */
export interface SessionRecords {
  /**
   * Adds a record at the end of the log. No window is made of it.
   *
   * @throws WindrowError `closed`, `not-durable`, `fenced`, `store-unavailable`
   */
  append(type: string, data: JsonObject): Promise<void>;
  /** The records of one type, oldest first. Streams. */
  read(type: string): AsyncGenerator<EditRecord, void, undefined>;
}

/** The objects of a session through which hosts and adapters read and write its other records. */
export interface Facets {
  readonly pins: SessionPins;
  readonly goal: SessionGoal;
  readonly snapshot: SessionSnapshot;
  readonly records: SessionRecords;
}

/** Makes the objects of a session. */
export function facetsOf(context: SessionContext, writer: SessionWriter, record: RecordPlanned): Facets {
  const { id, store, scope, conversation: state, now } = context;
  return {
    pins: {
      list: () => state.pins.holding(state.moment(now().toISOString())),
      remove: async (pin) => void (await record((time) => state.pins.planRemoval(pin, time))),
    },
    goal: {
      get original() {
        return state.goal.original;
      },
      get revisions() {
        return state.goal.revisions;
      },
      set: async (text) => void (await record((time) => goalRecord(text, time))),
    },
    snapshot: {
      get current() {
        return structuredClone(state.snapshot);
      },
      update: async (update) =>
        snapshotOf((await record((time) => snapshotRecord(updateSnapshot(state.snapshot, update), time))).data),
    },
    records: {
      append: (type, data) => writer.append([], [{ kind: "edit", type, data, timestamp: now().toISOString() }]),
      async *read(type) {
        for await (const one of store.read(scope, id, { kind: "edit" })) if (one.type === type) yield one;
      },
    },
  };
}
