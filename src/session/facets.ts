/** The objects `session.pins`, `session.goal`, `session.snapshot` and `session.records`: each reads and writes one kind of record. */
import type { JsonObject } from "../message/message.ts";
import type { EditRecord } from "../message/record.ts";
import { checkObject } from "../window/options.ts";
import type { Appender } from "./appender.ts";
import type { RecordPlanned, SessionContext } from "./context.ts";
import { goalRecord } from "./state/goal.ts";
import type { GoalText } from "./state/goal.ts";
import type { Pin } from "./state/pins.ts";
import { snapshotOf, snapshotRecord, updateSnapshot } from "./state/snapshot.ts";
import type { ContextSnapshot, SnapshotUpdate } from "./state/snapshot.ts";
import type { ConversationState } from "./state/state.ts";

/** The pins of a session; `session.pin` adds one. */
export class SessionPins {
  readonly #state: ConversationState;
  readonly #now: () => Date;
  readonly #record: RecordPlanned;

  /** @internal */
  constructor(state: ConversationState, now: () => Date, record: RecordPlanned) {
    this.#state = state;
    this.#now = now;
    this.#record = record;
  }

  /** The pins that hold now, oldest first. */
  list(): readonly Pin[] {
    return this.#state.pins.holding(this.#state.moment(this.#now().toISOString()));
  }

  /**
   * Removes a pin. Windows of the current epoch say that it no longer holds; the next epoch leaves it out.
   *
   * @throws WindrowError `not-found` for an unknown id, `closed`
   */
  async remove(id: string): Promise<void> {
    await this.#record((time) => this.#state.pins.planRemoval(id, time));
  }
}

/** The goal of a session. */
export class SessionGoal {
  readonly #state: ConversationState;
  readonly #record: RecordPlanned;

  /** @internal */
  constructor(state: ConversationState, record: RecordPlanned) {
    this.#state = state;
    this.#record = record;
  }

  /** The first user message with a text; undefined before there is one. */
  get original(): GoalText | undefined {
    return this.#state.goal.original;
  }

  /** The texts that {@link SessionGoal.set} recorded, oldest first; the newest holds. */
  get revisions(): readonly GoalText[] {
    return this.#state.goal.revisions;
  }

  /**
   * Revises the goal. Every later window shows it, and the original, in these words.
   *
   * @throws WindrowError `bad-option` for an empty text, `closed`
   */
  async set(text: string): Promise<void> {
    await this.#record((time) => goalRecord(text, time));
  }
}

/** The snapshot of a session: the state of the job as its agent records it. */
export class SessionSnapshot {
  readonly #state: ConversationState;
  readonly #record: RecordPlanned;

  /** @internal */
  constructor(state: ConversationState, record: RecordPlanned) {
    this.#state = state;
    this.#record = record;
  }

  /** A copy of the snapshot; undefined before the first update. */
  get current(): ContextSnapshot | undefined {
    return structuredClone(this.#state.snapshot);
  }

  /**
   * Replaces the fields that are named; the other fields stay.
   *
   * @returns the whole snapshot
   * @throws WindrowError `bad-option` for an unknown field or a wrong type, `closed`
   */
  async update(update: SnapshotUpdate): Promise<ContextSnapshot> {
    checkObject("snapshot.update", update);
    const { data } = await this.#record((time) => snapshotRecord(updateSnapshot(this.#state.snapshot, update), time));
    return snapshotOf(data);
  }
}

/** Records of an adapter's own in a session's log, such as which part of it is still the host's history. */
export class SessionRecords {
  readonly #context: SessionContext;
  readonly #appender: Appender;

  /** @internal */
  constructor(context: SessionContext, appender: Appender) {
    this.#context = context;
    this.#appender = appender;
  }

  /**
   * Adds a record at the end of the log. No window is made of it.
   *
   * @throws WindrowError `closed`, `not-durable`, `fenced`, `store-unavailable`
   */
  append(type: string, data: JsonObject): Promise<void> {
    return this.#appender.append([], [{ kind: "edit", type, data, timestamp: this.#context.now().toISOString() }]);
  }

  /** The records of one type, oldest first. Streams. */
  async *read(type: string): AsyncGenerator<EditRecord, void, undefined> {
    const { id, store, scope } = this.#context;
    for await (const record of store.read(scope, id, { kind: "edit" })) if (record.type === type) yield record;
  }
}
