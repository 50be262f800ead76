/** The state of a conversation beside its messages: pins, goal, snapshot. Records change it; windows show it. */
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue, MaskFlag, Message } from "../../message/message.ts";
import type { NewRecord } from "../../message/record.ts";
import { entitiesOf } from "../../window/summary/entities.ts";
import type { Entities, PinnedBlock } from "../../window/window.ts";
import { goalWithMessage, goalWithRecord, noGoal, renderGoal } from "./goal.ts";
import type { Goal } from "./goal.ts";
import { Pins, renderPin } from "./pins.ts";
import type { Moment } from "./pins.ts";
import { renderSnapshot, snapshotOf } from "./snapshot.ts";
import type { ContextSnapshot } from "./snapshot.ts";

/** The state of one conversation. Every change is a record of the log, which {@link ConversationState.apply} reads. */
export class ConversationState {
  readonly pins = new Pins();
  #goal: Goal = noGoal;
  #taskSeq: number | undefined;
  #snapshot: ContextSnapshot | undefined;
  #entities: Entities | undefined;
  #turns = 0;
  #steps = 0;
  /** The text of the memory's passages at the start. */
  #told = "";
  #toldInSystem = false;
  /** Placeholders that took the place of a secret in this session. */
  readonly #placeholders = new Set<string>();

  /** Adds the placeholders of a record that the store masked. */
  masked(masks: readonly MaskFlag[] = []): void {
    for (const { placeholder } of masks) this.#placeholders.add(placeholder);
  }

  /** The placeholders of this session that a value contains; its author may have meant the secrets behind them. */
  placeholdersIn(value: JsonValue): readonly string[] {
    if (this.#placeholders.size === 0) return [];
    const text = JSON.stringify(value);
    return [...this.#placeholders].filter((placeholder) => text.includes(placeholder));
  }

  /**
   * Updates goal, turns and steps by a message of the log.
   *
   * @param masks - those of the log, where the message is the original
   */
  push(seq: number, message: Message, masks = message.masks): void {
    this.masked(masks);
    this.#goal = goalWithMessage(this.#goal, seq, message);
    if (message.role === "user" && message.status !== "synthetic") this.#turns++;
    if (message.role === "assistant") this.#steps++;
  }

  /** Applies a record of the log. */
  apply(record: NewRecord): void {
    this.masked(record.masks);
    if (record.kind === "snapshot") this.#snapshot = snapshotOf(record.data);
    if (record.kind !== "edit") return;
    this.pins.apply(record);
    this.#goal = goalWithRecord(this.#goal, record);
    const { text } = record.data;
    if (record.type === "bootstrap" && typeof text === "string") this.#tell(text, record.data.place === "system");
    this.#entities = entitiesOf(record) ?? this.#entities;
  }

  /** The text of the memory that stands behind the system prompt; undefined where none does. */
  get systemNote(): string | undefined {
    return this.#toldInSystem ? this.#told : undefined;
  }

  #tell(text: string, inSystem: boolean): void {
    this.#told = text;
    this.#toldInSystem = inSystem;
  }

  /** The time, and the turns and steps that have begun. */
  moment(time: string): Moment {
    return { time, turns: this.#turns, steps: this.#steps };
  }

  /** The goal of the conversation. */
  get goal(): Goal {
    return this.#goal;
  }

  /** The message (`seq`) that is the task, as an epoch record names it; undefined where the record does not. */
  get taskSeq(): number | undefined {
    return this.#taskSeq;
  }

  /** Takes the task from a message before the epoch that was restored. */
  begin(seq: number, message: Message): void {
    this.#goal = goalWithMessage(this.#goal, seq, message);
  }

  /** The snapshot, or undefined while there is none. */
  get snapshot(): ContextSnapshot | undefined {
    return this.#snapshot;
  }

  /** The entities that a strategy read; undefined while there are none. */
  get entities(): Entities | undefined {
    return this.#entities;
  }

  /**
   * The blocks of the next window's slot.
   *
   * @param taskStays - whether the first user message always stands in the window itself
   */
  blocks(time: string, taskStays: boolean): readonly PinnedBlock[] {
    const blocks: PinnedBlock[] = this.pins
      .holding(this.moment(time))
      .map((pin) => ({ id: pin.id, text: renderPin(pin) }));
    if (this.#goal.revisions.length > 0) {
      blocks.unshift({ id: "goal", text: renderGoal(this.#goal, taskStays) });
    }
    if (this.#told !== "" && !this.#toldInSystem) blocks.unshift({ id: "memory", text: this.#told });
    if (this.#snapshot) blocks.push({ id: "snapshot", text: renderSnapshot(this.#snapshot) });
    return blocks;
  }

  /** The state as JSON for an epoch record, without the snapshot, which has a file of its own. */
  toJSON(): JsonObject {
    const { original, revisions } = this.#goal;
    const pins = this.pins.toJSON();
    return {
      turns: this.#turns,
      steps: this.#steps,
      ...(this.#told !== "" && { memory: this.#told }),
      ...(this.#toldInSystem && { memory_place: "system" }),
      ...(this.#entities && { entities: { ...this.#entities } }),
      ...(this.#placeholders.size > 0 && { masked: [...this.#placeholders] }),
      ...(pins.length > 0 && { pins }),
      ...(this.pins.made > 0 && { pins_made: this.pins.made }),
      ...(original?.seq !== undefined && revisions.length === 0 && { task_seq: original.seq }),
      ...(revisions.length > 0 && {
        goal: {
          ...(original && { original: { ...original } }),
          revisions: revisions.map((revision): JsonValue => ({ ...revision })),
        },
      }),
    };
  }

  /** Restores the state from an epoch record; later messages and records follow one by one. */
  restore(data: JsonObject): void {
    this.#turns = Number(data.turns ?? 0);
    this.#steps = Number(data.steps ?? 0);
    const made = typeof data.pins_made === "number" ? data.pins_made : undefined;
    this.pins.restore(Array.isArray(data.pins) ? (data.pins as readonly JsonObject[]) : [], made);
    if (typeof data.memory === "string") this.#tell(data.memory, data.memory_place === "system");
    if (isObject(data.entities)) this.#entities = entitiesOf({ type: "entities", data: data.entities });
    for (const one of Array.isArray(data.masked) ? data.masked : []) this.#placeholders.add(String(one));
    if (data.goal !== undefined) this.#goal = data.goal as unknown as Goal;
    if (typeof data.task_seq === "number") this.#taskSeq = data.task_seq;
  }
}
