/** What a session holds beside its messages: pins, the goal, the snapshot; kept by its records, shown in its windows. */
import type { JsonObject, JsonValue, MaskFlag, Message } from "../../message/message.ts";
import type { EditRecord, NewRecord } from "../../message/record.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { PinnedBlock, TextMask } from "../../window/window.ts";
import { goalRecord, goalWithMessage, goalWithRecord, noGoal, renderGoal } from "./goal.ts";
import type { Goal } from "./goal.ts";
import { Pins, renderPin } from "./pins.ts";
import type { Moment, Pin, PinOptions } from "./pins.ts";
import { renderSnapshot, snapshotOf, snapshotRecord, updateSnapshot } from "./snapshot.ts";
import type { ContextSnapshot, SnapshotUpdate } from "./snapshot.ts";
import { WorkingSet } from "./working-set.ts";

/** The state of a session that its messages are not. Every change is a record; {@link Held.apply} takes it over. */
export class Held {
  readonly #pins = new Pins();
  /** The newest line of each pin, for an epoch's record. */
  readonly #pinLines = new Map<string, EditRecord>();
  #goal: Goal = noGoal;
  #snapshot: ContextSnapshot | undefined;
  #turns = 0;
  #steps = 0;
  /** What a memory told at the start. */
  #told = "";
  #offloaded = false;
  /** Placeholders that took the place of a secret in this session. */
  readonly #placeholders = new Set<string>();
  readonly #working:
    | { readonly set: WorkingSet; readonly maxTokens: number; readonly counter: TokenCounter }
    | undefined;

  /** @param working - keeps a working set, shown in at most so many tokens */
  constructor(working?: { readonly maxTokens: number; readonly counter: TokenCounter; readonly mask: TextMask }) {
    this.#working = working && { ...working, set: new WorkingSet(working.mask) };
  }

  /** Whether messages that left the window are wanted too. */
  get wantsAll(): boolean {
    return this.#working !== undefined;
  }

  /** Whether the session was handed to a memory. */
  get offloaded(): boolean {
    return this.#offloaded;
  }

  /** Notes what was masked in a record on its way to disk. */
  masked(masks: readonly MaskFlag[] = []): void {
    for (const { placeholder } of masks) this.#placeholders.add(placeholder);
  }

  /** The placeholders of this session that stand in a value where a model may have meant what they stand for. */
  placeholdersIn(value: JsonValue): readonly string[] {
    if (this.#placeholders.size === 0) return [];
    const text = JSON.stringify(value);
    return [...this.#placeholders].filter((placeholder) => text.includes(placeholder));
  }

  /** What files and commands a message names. */
  watch(seq: number, message: Message): void {
    this.#working?.set.push(seq, message);
  }

  /** Takes a message of this process into account, and what was masked in it on its way to disk. */
  take(seq: number, message: Message, masks: readonly MaskFlag[] | undefined): Message {
    this.masked(masks);
    this.push(seq, message);
    this.watch(seq, message);
    return message;
  }

  /** Counts a message of the log. */
  push(seq: number, message: Message): void {
    this.masked(message.masks);
    this.#goal = goalWithMessage(this.#goal, seq, message);
    if (message.role === "user" && message.status !== "synthetic") this.#turns++;
    if (message.role === "assistant") this.#steps++;
  }

  /** Takes over a record that the log holds. */
  apply(record: NewRecord): void {
    this.masked(record.masks);
    if (record.kind === "snapshot") this.#snapshot = snapshotOf(record.data);
    if (record.kind !== "edit") return;
    this.#pins.apply(record);
    this.#goal = goalWithRecord(this.#goal, record);
    const { id, text } = record.data;
    if (record.type === "bootstrap" && typeof text === "string") this.#told = text;
    this.#offloaded ||= record.type === "offloaded";
    if (typeof id !== "string") return;
    if (record.type === "pin") this.#pinLines.set(id, record);
    if (record.type === "unpin") this.#pinLines.delete(id);
  }

  /** Where the session stands. */
  moment(time: string): Moment {
    return { time, turns: this.#turns, steps: this.#steps };
  }

  /** The pins that hold. */
  pins(time: string): readonly Pin[] {
    return this.#pins.holding(this.moment(time));
  }

  /** The record that pins a text, and the pin's id. */
  planPin(text: string, options: PinOptions, time: string, counter: TokenCounter): { record: EditRecord; id: string } {
    const record = this.#pins.plan(text, options, this.moment(time), counter);
    return { record, id: typeof record.data.id === "string" ? record.data.id : "" };
  }

  /** The record that takes a pin off. */
  planUnpin(id: string, time: string): EditRecord {
    return this.#pins.planRemoval(id, time);
  }

  /** The goal. */
  get goal(): Goal {
    return this.#goal;
  }

  /** The record that revises the goal. */
  planGoal(text: string, time: string): EditRecord {
    return goalRecord(text, time);
  }

  /** The snapshot, or undefined while there is none. */
  get snapshot(): ContextSnapshot | undefined {
    return this.#snapshot;
  }

  /** The record of the snapshot after an update. */
  planSnapshot(update: SnapshotUpdate, time: string): NewRecord {
    return snapshotRecord(updateSnapshot(this.#snapshot, update), time);
  }

  /**
   * The blocks of the next window's slot.
   *
   * @param taskStays - whether the first user message always stands in the window itself
   */
  blocks(time: string, taskStays: boolean): readonly PinnedBlock[] {
    const blocks: PinnedBlock[] = this.pins(time).map((pin) => ({ id: pin.id, text: renderPin(pin) }));
    if (this.#goal.revisions.length > 0) {
      blocks.unshift({ id: "goal", text: renderGoal(this.#goal, taskStays) });
    }
    if (this.#told !== "") blocks.unshift({ id: "memory", text: this.#told });
    const working = this.#working;
    if (working) {
      const text = working.set.render(working.maxTokens, working.counter);
      if (text !== "") blocks.push({ id: "working-set", text, refresh: "epoch" });
    }
    if (this.#snapshot) blocks.push({ id: "snapshot", text: renderSnapshot(this.#snapshot) });
    return blocks;
  }

  /** Everything but the snapshot, which has a file of its own, as JSON for an epoch's record. */
  toJSON(): JsonObject {
    const { original, revisions } = this.#goal;
    const told = ({ data, timestamp }: EditRecord): JsonValue => ({ ...data, timestamp });
    return {
      turns: this.#turns,
      steps: this.#steps,
      ...(this.#told !== "" && { memory: this.#told }),
      ...(this.#offloaded && { offloaded: true }),
      ...(this.#placeholders.size > 0 && { masked: [...this.#placeholders] }),
      ...(this.#pinLines.size > 0 && { pins: [...this.#pinLines.values()].map(told) }),
      ...(revisions.length > 0 && {
        goal: {
          ...(original && { original: { ...original } }),
          revisions: revisions.map((revision): JsonValue => ({ ...revision })),
        },
      }),
    };
  }

  /** Takes over what an epoch's record told; the messages behind it are pushed as they are read. */
  restore(data: JsonObject): void {
    this.#turns = Number(data.turns ?? 0);
    this.#steps = Number(data.steps ?? 0);
    for (const pin of Array.isArray(data.pins) ? (data.pins as readonly JsonObject[]) : []) {
      const { timestamp, ...line } = pin;
      this.apply({ kind: "edit", type: "pin", data: line, timestamp: typeof timestamp === "string" ? timestamp : "" });
    }
    if (typeof data.memory === "string") this.#told = data.memory;
    this.#offloaded = data.offloaded === true;
    for (const one of Array.isArray(data.masked) ? data.masked : []) this.#placeholders.add(String(one));
    if (data.goal !== undefined) this.#goal = data.goal as unknown as Goal;
  }
}
