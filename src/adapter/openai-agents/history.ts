/**
 * The host's history over a session's log: every item that ever was is a message of the log. Where the host takes items
 * back (pops, clears or replaces them), a record says how many of the earlier ones still hold.
 */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import { jsonFault, without } from "../../message/json.ts";
import { asString } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message, NewMessage } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import { LogWriter } from "../host/journal.ts";
import { printOf, Prints } from "../host/prints.ts";
import { callOf, groupItems, kindOf, openaiAgentsAdapter } from "./item.ts";
import type { AgentItem } from "./item.ts";

interface Entry {
  readonly item: AgentItem;
  readonly print: number;
  /** The id of the message that holds it; undefined until it is in the log. */
  messageId?: string;
}

interface Write {
  readonly entries: readonly Entry[];
  /** The part of the earlier history that still holds, for a write that is no mere addition. */
  readonly cut?: JsonObject & { readonly operation: string };
  /** Messages in the log when it was first tried. */
  at?: number;
}

const recordType = "history";
const operationField = "openai-agents:operation";

/** An item as it is kept: plain JSON, without the ids that the host takes off as well before it stores an item. */
export function plainItem(item: AgentItem): AgentItem {
  const fault = jsonFault(item, { undefinedToo: true });
  if (fault !== undefined) throw new WindrowError("bad-message", `An item of the history cannot be used: ${fault}.`);
  const plain = toPlain(item) as JsonObject;
  const callId = plain["call_id"] ?? plain["callId"];
  const searched = kindOf(item).startsWith("tool_search_") && typeof callId === "string" && callId !== "";
  const nameless = searched || ["function_call", "function_call_result"].includes(kindOf(item));
  return nameless ? without(plain, "id") : plain;
}

function toPlain(value: unknown, mediaType = "text/plain"): JsonValue | undefined {
  if (value instanceof Uint8Array) return `data:${mediaType};base64,${Buffer.from(value).toString("base64")}`;
  if (Array.isArray(value)) return value.map((entry) => toPlain(entry, mediaType) ?? null);
  if (typeof value !== "object" || value === null) return value as JsonValue | undefined;
  const given = (value as { readonly mediaType?: unknown }).mediaType;
  const type = typeof given === "string" && given !== "" ? given : mediaType;
  const fields = Object.entries(value).map(([key, entry]) => [key, toPlain(entry, type)] as const);
  return Object.fromEntries(fields.filter(([, entry]) => entry !== undefined)) as JsonObject;
}

/** The history of one session. */
export class AgentHistory {
  readonly session: Session;
  /** What is written into the session. */
  readonly writer: LogWriter;
  #entries: Entry[] = [];
  /** Items that were seen on their way to the model and that the host has not added yet. */
  readonly #ahead = new Map<number, number>();
  readonly #operations = new Map<string, JsonValue>();
  readonly #prints: Prints;
  readonly #printed = new WeakMap<AgentItem, number>();
  readonly #writes: Write[] = [];
  #cut = false;
  #loading: Promise<void> | undefined;

  constructor(session: Session) {
    this.session = session;
    this.writer = new LogWriter(session);
    this.#prints = new Prints(session.settings.secretRules);
  }

  /** A fingerprint of a plain item; a secret counts as its placeholder, as it does in the log. */
  print(item: AgentItem): number {
    let print = this.#printed.get(item);
    if (print === undefined) {
      // The log's mask goes by the fields of messages.
      const [message] = openaiAgentsAdapter.decode([[item]]);
      this.#printed.set(item, (print = message ? this.#prints.of(message) : printOf(item)));
    }
    return print;
  }

  /** Whether the host took something back: the log then holds more than the history. */
  get isCut(): boolean {
    return this.#cut || this.#start() > 0;
  }

  /** The items, oldest first. */
  get items(): readonly AgentItem[] {
    return this.#entries.map(({ item }) => item);
  }

  /** Whether an operation was applied, and as what. */
  operation(id: string): JsonValue | undefined {
    return this.#operations.get(id);
  }

  /** Reads the log, once; again where that failed. */
  load(): Promise<void> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /**
   * Takes over what stands behind the history in the items of a request.
   *
   * @returns the first place at which they are no continuation of the history; undefined where they are one
   */
  see(items: readonly AgentItem[]): number | undefined {
    const plain = items.map(plainItem);
    const prints = plain.map((item) => this.print(item));
    const open = this.#unanswered();
    let at = 0;
    let broken = false;
    for (const entry of this.#entries.slice(this.#start())) {
      if (prints[at] === entry.print) at++;
      else if (!open.has(entry)) {
        broken = true;
        break;
      }
    }
    const known = new Set(broken ? this.#entries.map(({ print }) => print) : []);
    const fresh = plain.slice(broken ? 0 : at).filter((item) => !known.has(this.print(item)));
    for (const entry of this.#push(fresh)) this.#ahead.set(entry.print, (this.#ahead.get(entry.print) ?? 0) + 1);
    return broken ? at : undefined;
  }

  /**
   * Adds items that the host stores; those that were seen before are not added again.
   *
   * @param own - prints of items that Windrow wrote into a window
   */
  add(items: readonly AgentItem[], own: ReadonlySet<number>): void {
    this.#push(this.#fresh(items, own));
  }

  /**
   * Lets go of all items behind the first `kept` and adds others, as one change under an id: after a crash all of it is
   * there, or nothing.
   */
  replace(kept: number, items: readonly AgentItem[], operation: string = randomUUID(), said: JsonValue = null): void {
    if (kept < this.#entries.length) this.#cut = true;
    this.#entries.splice(kept);
    const entries = items.map(plainItem).map((item): Entry => ({ item, print: this.print(item) }));
    this.#entries.push(...entries);
    this.#operations.set(operation, said);
    this.#writes.push({ entries, cut: { kept, operation, said } });
  }

  /** Adds items under an id, as {@link AgentHistory.replace}. */
  append(items: readonly AgentItem[], own: ReadonlySet<number>, operation: string, said: JsonValue): void {
    this.replace(this.#entries.length, this.#fresh(items, own), operation, said);
  }

  /** Writes what the log lacks. What cannot be written now is by the next call. */
  flush(): Promise<void> {
    return this.writer.inTurn(async () => {
      for (let write = this.#writes[0]; write; write = this.#writes[0]) {
        await this.#write(write);
        this.#writes.shift();
      }
    });
  }

  /** The history as messages, under the ids they have in the log. */
  messages(): readonly Message[] {
    const runs: { readonly id: string; readonly items: AgentItem[] }[] = [];
    for (const [index, { item, messageId }] of this.#entries.slice(this.#start()).entries()) {
      const last = runs.at(-1);
      if (last && last.id === messageId) last.items.push(item);
      else runs.push({ id: messageId ?? `u${index + 1}`, items: [item] });
    }
    return runs.map(({ id, items }) => ({ ...(openaiAgentsAdapter.decode([items])[0] as Message), id }));
  }

  /** The host begins what it sends at the newest compaction. */
  #start(): number {
    return Math.max(0, this.#entries.map(({ item }) => item.type === "compaction").lastIndexOf(true));
  }

  /** The items that the host leaves out by itself: calls that nothing answers, and the reasoning that led to them. */
  #unanswered(): ReadonlySet<Entry> {
    const answered = new Set(this.#entries.map(({ item }) => callOf(item)).flatMap(answerOf));
    const open = new Set<Entry>();
    let led = false;
    for (const entry of this.#entries.toReversed()) {
      const call = callOf(entry.item);
      led = call ? !call.answers && !answered.has(call.callId) : led && entry.item.type === "reasoning";
      if (led) open.add(entry);
    }
    return open;
  }

  #fresh(items: readonly AgentItem[], own: ReadonlySet<number>): readonly AgentItem[] {
    return items.map(plainItem).filter((item) => {
      const print = this.print(item);
      const ahead = this.#ahead.get(print) ?? 0;
      if (ahead > 0) this.#ahead.set(print, ahead - 1);
      return ahead === 0 && !own.has(printOf(item));
    });
  }

  #push(items: readonly AgentItem[]): readonly Entry[] {
    const entries = items.map((item): Entry => ({ item, print: this.print(item) }));
    this.#entries.push(...entries);
    if (entries.length > 0) this.#writes.push({ entries });
    return entries;
  }

  async #write(write: Write): Promise<void> {
    const { entries, cut } = write;
    const at = (write.at ??= this.session.stats().messages);
    const missing = entries.filter(({ messageId }) => messageId === undefined);
    let taken = 0;
    const groups = groupItems(missing.map(({ item }) => item)).map((group) => {
      return missing.slice(taken, (taken += group.length));
    });
    const decoded = openaiAgentsAdapter.decode(groups.map((group) => group.map(({ item }) => item)));
    const messages = decoded.map(({ id: _id, ...given }): NewMessage => {
      return cut ? { ...given, extra: { ...given.extra, [operationField]: cut.operation } } : given;
    });
    await this.writer.append(messages, ({ id }, index) => {
      for (const entry of groups[index] ?? []) entry.messageId = id;
    });
    if (cut) await this.session.records.append(recordType, { adapter: openaiAgentsAdapter.name, at, ...cut });
  }

  async #read(): Promise<void> {
    const cuts: JsonObject[] = [];
    for await (const { data } of this.session.records.read(recordType)) {
      if (data["adapter"] === openaiAgentsAdapter.name) cuts.push(data);
    }
    const operations = new Map(cuts.map(({ operation, said }) => [asString(operation) ?? "", said ?? null]));
    const entries: Entry[] = [];
    let count = 0;
    let isCut = false;
    const cutHere = (): void => {
      for (; cuts[0] && Number(cuts[0]["at"]) <= count; cuts.shift()) {
        isCut ||= Number(cuts[0]["kept"]) < entries.length;
        entries.splice(Number(cuts[0]["kept"]));
      }
    };
    if (this.session.stats().messages > 0) {
      for await (const message of this.session.messages()) {
        cutHere();
        count++;
        const operation = message.extra?.[operationField];
        if (typeof operation === "string" && !operations.has(operation)) {
          isCut = true;
          continue;
        }
        for (const item of openaiAgentsAdapter.encode([message]).flat()) {
          entries.push({ item, print: this.print(item), messageId: message.id });
        }
      }
    }
    cutHere();
    for (const [operation, said] of operations) this.#operations.set(operation, said);
    this.#entries = entries;
    this.#cut = isCut;
  }
}

function answerOf(call: ReturnType<typeof callOf>): readonly string[] {
  return call?.answers === true ? [call.callId] : [];
}
