/** Windows made again from disk: the state of their epoch, and the messages that stand in it. */
import type { Message, ToolDefinition } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { sentIn } from "../../session/log.ts";
import { Turns } from "../../turns.ts";
import { Composer } from "../../window/composer.ts";
import type { Shown } from "../../window/compose-options.ts";
import { EditIndex } from "../../window/edits.ts";
import type { EpochData } from "../../window/epoch/record.ts";
import type { SentBlocks } from "../../window/sent.ts";
import type { Composed, PinnedBlock, WindowState } from "../../window/window.ts";
import { initialState } from "../../window/compose-options.ts";
import type { Place } from "./epoch-index.ts";
import type { RebuildSettings } from "./settings.ts";

/** A window made again, with all that its entries are told from. */
export interface Rebuilt {
  readonly composed: Composed;
  readonly shown: Shown;
  /** The messages that stand in it, as the log has them. */
  readonly logged: ReadonlyMap<number, Message>;
  readonly edits: EditIndex;
  readonly sent: SentBlocks;
  readonly settings: RebuildSettings;
}

/** Messages between two that are wanted which are read through, as a new place in a log takes longer. */
const readThrough = 48;

/** The windows of one epoch, as it was at a place of the log: each is made of the one before, where it is behind it. */
export class EpochWindows {
  readonly #place: Place;
  readonly #settings: RebuildSettings;
  readonly #state: WindowState;
  readonly #index: EditIndex;
  readonly #sent: SentBlocks;
  readonly #originals: boolean;
  readonly #logged = new Map<number, Message>();
  readonly #order: NumberedMessage[] = [];
  #read = 0;
  #composer: Composer;
  #working: Promise<unknown> = Promise.resolve();

  constructor(
    place: Place,
    settings: RebuildSettings,
    epoch: EpochData | undefined,
    sent: SentBlocks,
    originals: boolean,
  ) {
    this.#place = place;
    this.#settings = settings;
    this.#originals = originals;
    this.#sent = sent;
    const state = epoch?.state ?? initialState;
    // What was sent is what is compared, so nothing may open another epoch: no prefix is known.
    this.#state = { ...state, length: 0, slot: state.slot ?? [] };
    this.#index = new EditIndex(state.edits);
    this.#composer = this.#fresh();
  }

  /** Whether any message in it holds what a mask took out. */
  get isMasked(): boolean {
    return this.#order.some(({ message }) => message.masks !== undefined);
  }

  /** How many messages it holds. */
  get messages(): number {
    return this.#order.length;
  }

  /** The window with the messages up to `last`. One after the other. */
  window(last: number): Promise<Rebuilt> {
    const next = this.#working.then(() => this.#window(last));
    this.#working = next.catch(() => undefined);
    return next;
  }

  async #window(last: number): Promise<Rebuilt> {
    await this.#readTo(last);
    if (this.#composer.last > last) this.#composer = this.#fresh();
    const rebuilt = await this.#compose(last);
    if (rebuilt.composed.report.epoch === this.#state.epoch) return rebuilt;
    // A message changed what stands before it: this window did not grow out of the one before.
    this.#composer = this.#fresh();
    return this.#compose(last);
  }

  async #compose(last: number): Promise<Rebuilt> {
    const turns = new Turns();
    const { last: fed } = this.#composer;
    for (const { seq, message } of this.#order) {
      if (seq <= fed) continue;
      if (seq > last) break;
      this.#composer.push(seq, message);
      await turns.turn();
    }
    const { system, tools } = this.#sent;
    const options = {
      budget: Infinity,
      pinned: pinnedNow(this.#state),
      ...(system !== undefined && { system }),
      ...(tools !== undefined && { tools }),
    };
    const composed = await turns.run(this.#composer.composing(options));
    const shown = this.#composer.shown();
    const { state } = composed;
    return {
      composed,
      shown,
      logged: this.#logged,
      edits: new EditIndex(state.edits),
      sent: this.#sent,
      settings: this.#settings,
    };
  }

  #fresh(): Composer {
    return new Composer({ ...this.#settings, state: this.#state });
  }

  /** Reads the messages up to `last` that stand in the window. */
  async #readTo(last: number): Promise<void> {
    if (last <= this.#read) return;
    const { store, scope, id } = this.#place;
    for (const { from, to } of wanted(this.#index, this.#read + 1, last)) {
      const query = { kind: "message", from, to, originals: this.#originals } as const;
      for await (const { seq, message } of store.read(scope, id, query)) {
        if (this.#index.covers(seq)) continue;
        this.#logged.set(seq, message);
        this.#order.push({ seq, message });
      }
    }
    this.#read = last;
  }
}

/** The blocks that were sent with an epoch's windows, as far as they are on disk. */
export function sentWithEpoch(place: Place, epoch: EpochData | undefined): Promise<SentBlocks> {
  return epoch ? sentIn(place, { ...epoch, ...epoch.state }) : Promise.resolve({});
}

/** The tools of sent blocks. */
export function toolsOf({ tools = [] }: SentBlocks): readonly ToolDefinition[] {
  return tools;
}

/** The pinned blocks as the window shows them last: those of the slot, with what was inserted for them since. */
function pinnedNow({ slot = [], inserts = [] }: WindowState): readonly PinnedBlock[] {
  const blocks = new Map<string, PinnedBlock>(slot.map((block) => [block.id, block]));
  for (const { id, text } of inserts) {
    if (!id.startsWith("pin:")) continue;
    const name = id.slice("pin:".length);
    blocks.set(name, { id: name, text });
  }
  return [...blocks.values()];
}

/** The stretches of the log that hold messages of a window; small ones of messages that left are read through. */
function wanted(index: EditIndex, from: number, to: number): readonly { readonly from: number; readonly to: number }[] {
  const found: { from: number; to: number }[] = [];
  let next = from;
  const add = (first: number, last: number): void => {
    if (first > last) return;
    const before = found.at(-1);
    if (before && first - before.to <= readThrough) before.to = last;
    else found.push({ from: first, to: last });
  };
  for (const range of index.ranges) {
    if (range.from > to) break;
    add(next, Math.min(range.from - 1, to));
    next = Math.max(next, range.to + 1);
  }
  add(next, to);
  return found;
}
