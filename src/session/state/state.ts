/** The state of a conversation beside its messages: pins, goal, snapshot. Records change it; windows show it. */
import { defined, isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue, MaskFlag, Message } from "../../message/message.ts";
import { quoteHint, quoteText } from "../../message/quote.ts";
import type { EditRecord, NewRecord } from "../../message/record.ts";
import { recallId } from "../../window/stub/stub.ts";
import { entitiesOf } from "../../window/summary/entities.ts";
import type { Entities, PinnedBlock } from "../../window/window.ts";
import { givenText, Pins, renderPin } from "./pins.ts";
import type { Moment } from "./pins.ts";
import { renderSnapshot, snapshotOf } from "./snapshot.ts";
import type { ContextSnapshot } from "./snapshot.ts";

/** The state of one conversation. Every change is a record of the log, which {@link ConversationState.apply} reads. */
export class ConversationState {
  readonly pins = new Pins();
  goal: Goal = { revisions: [] };
  /** The message (`seq`) that is the task, as an epoch record names it; undefined where the record does not. */
  taskSeq: number | undefined;
  /** Undefined while there is none. */
  snapshot: ContextSnapshot | undefined;
  /** The entities that a strategy read; undefined while there are none. */
  entities: Entities | undefined;
  #turns = 0;
  #steps = 0;
  /** The memory's passages at the start, and whether they stand behind the system prompt. */
  #memory: { readonly text: string; readonly inSystem: boolean } | undefined;
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
    this.begin(seq, message);
    if (message.role === "user" && message.status !== "synthetic") this.#turns++;
    if (message.role === "assistant") this.#steps++;
  }

  /** Takes the goal from a message, which may stand before the epoch that was restored: the first of the user's with a text. */
  begin(seq: number, message: Message): void {
    if (this.goal.original || message.role !== "user" || message.status === "synthetic") return;
    const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    if (text.trim() !== "") this.goal = { ...this.goal, original: { text, seq } };
  }

  /** Applies a record of the log. */
  apply(record: NewRecord): void {
    this.masked(record.masks);
    if (record.kind === "snapshot") this.snapshot = snapshotOf(record.data);
    if (record.kind !== "edit") return;
    this.pins.apply(record);
    const { type, data, timestamp: time } = record;
    if (type === "goal" && typeof data.text === "string") {
      this.goal = { ...this.goal, revisions: [...this.goal.revisions, { text: data.text, time }] };
    }
    if (type === "bootstrap") this.#remember(data.text, data.place);
    this.entities = entitiesOf(record) ?? this.entities;
  }

  /** The text of the memory that stands behind the system prompt; undefined where none does. */
  get systemNote(): string | undefined {
    return this.#memory?.inSystem ? this.#memory.text : undefined;
  }

  #remember(text: JsonValue | undefined, place: JsonValue | undefined): void {
    if (typeof text === "string" && text !== "") this.#memory = { text, inSystem: place === "system" };
  }

  /** The time, and the turns and steps that have begun. */
  moment(time: string): Moment {
    return { time, turns: this.#turns, steps: this.#steps };
  }

  /**
   * The blocks of the next window's slot.
   *
   * @param taskStays - whether the first user message always stands in the window itself
   */
  blocks(time: string, taskStays: boolean): readonly PinnedBlock[] {
    const pins = this.pins.holding(this.moment(time));
    const blocks: PinnedBlock[] = pins.map((pin) => ({ id: pin.id, text: renderPin(pin) }));
    if (this.goal.revisions.length > 0) blocks.unshift({ id: "goal", text: renderGoal(this.goal, taskStays) });
    if (this.#memory?.inSystem === false) blocks.unshift({ id: "memory", text: this.#memory.text });
    if (this.snapshot) blocks.push({ id: "snapshot", text: renderSnapshot(this.snapshot) });
    return blocks;
  }

  /** The state as JSON for an epoch record, without the snapshot, which has a file of its own. */
  toJSON(): JsonObject {
    const { original, revisions } = this.goal;
    const pins = this.pins.toJSON();
    return defined({
      turns: this.#turns,
      steps: this.#steps,
      memory: this.#memory?.text,
      memory_place: this.#memory?.inSystem ? "system" : undefined,
      entities: this.entities,
      masked: this.#placeholders.size > 0 ? [...this.#placeholders] : undefined,
      pins: pins.length > 0 ? pins : undefined,
      pins_made: this.pins.made || undefined,
      task_seq: revisions.length === 0 ? original?.seq : undefined,
      goal: revisions.length > 0 ? this.goal : undefined,
    }) as object as JsonObject;
  }

  /** Restores the state from an epoch record; later messages and records follow one by one. */
  restore(data: JsonObject): void {
    this.#turns = Number(data.turns ?? 0);
    this.#steps = Number(data.steps ?? 0);
    this.pins.restore((data.pins ?? []) as readonly JsonObject[], Number(data.pins_made ?? 0));
    this.#remember(data.memory, data.memory_place);
    if (isObject(data.entities)) this.entities = entitiesOf({ type: "entities", data: data.entities });
    for (const one of (data.masked ?? []) as readonly string[]) this.#placeholders.add(one);
    if (data.goal !== undefined) this.goal = data.goal as unknown as Goal;
    if (typeof data.task_seq === "number") this.taskSeq = data.task_seq;
  }
}

/** One wording of the goal. */
export interface GoalText {
  readonly text: string;
  /** The message it is, for the original. */
  readonly seq?: number;
  /** When it was set (ISO 8601), for a revision. */
  readonly time?: string;
}

/** The goal: the first user message, and its revisions. */
export interface Goal {
  /** The first user message; absent while there is none. */
  readonly original?: GoalText;
  /** The texts that `session.goal.set` recorded, oldest first; the newest holds. */
  readonly revisions: readonly GoalText[];
}

/**
 * The record that revises the goal.
 *
 * @throws WindrowError `bad-option` for an empty text
 */
export function goalRecord(text: string, timestamp: string): EditRecord {
  return { kind: "edit", type: "goal", data: { text: givenText("A goal", text) }, timestamp };
}

/**
 * The goal as the window shows it: each wording verbatim, under a line that says which it is.
 *
 * @param originalShown - whether the first user message stands in the window itself and is not to be repeated
 * @returns empty where there is nothing to show
 */
export function renderGoal({ original, revisions }: Goal, originalShown = false): string {
  const blocks: string[] = [];
  if (original && !originalShown) {
    const id = original.seq === undefined ? "" : ` (${recallId(original.seq)})`;
    blocks.push(
      `[The task as the user first gave it${id}, in the user's words, ${quoteHint}]\n${quoteText(original.text)}`,
    );
  }
  revisions.forEach(({ text, time }, index) => {
    const newest = index === revisions.length - 1 ? "; this one holds" : "";
    const when = time === undefined ? "" : `, set ${time}`;
    blocks.push(
      `[The goal, revision ${index + 1} of ${revisions.length}${when}, ${quoteHint}${newest}]\n${quoteText(text)}`,
    );
  });
  return blocks.join("\n\n");
}
