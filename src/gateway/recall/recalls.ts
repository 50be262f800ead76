/**
 * Recalls of a line whose client lacks the tool: its own result says so, and the log's text stands in the place of that. A text that
 * a call once had is its text for ever; the log says which.
 */
import { recalledText, recallQuery } from "../../adapter/host/recall-tool.ts";
import { isWindrowError } from "../../errors.ts";
import { maskJson } from "../../mask/mask.ts";
import type { SecretRules } from "../../mask/text.ts";
import { asObject } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message } from "../../message/message.ts";
import { ownText, toolCalls } from "../../message/message.ts";
import { inlineText } from "../../message/quote.ts";
import type { Session } from "../../session/session.ts";
import type { WireMessage, WireRequest } from "../gateway.ts";
import { hashJson, printOf } from "../wire/hash.ts";
import { recallShapes, toolName } from "./shapes.ts";

/** Most tokens of one recall; of a small budget an eighth. */
const mostTokens = 4_000;

/** Most recalls of one answer that are answered: each may have an eighth of the budget. */
const mostAtOnce = 4;

const tooMany = `Only ${mostAtOnce} recalls are answered at once; ask for the others again, one by one.`;

/** One result of the tool in a request. */
export interface Recall {
  /** The place of its message. */
  readonly at: number;
  /** The place of its part in its message. */
  readonly part: number;
  /** Its name in a log, wherever the call stands: of the call's id and arguments, and how many like it stand before. */
  readonly key: string;
  readonly args: JsonValue;
  /** Where the answer begins that has its call. */
  readonly from: number;
  /** Whether the model wrote something behind it, and so has read it. */
  readonly isRead: boolean;
}

const found = new WeakMap<WireRequest, readonly Recall[]>();

/** The results of the tool in a request, oldest first. */
function recallsIn({ api, messages }: WireRequest, secret: Buffer): readonly Recall[] {
  const first = messages.findIndex(({ raw }) => raw.includes(toolName));
  if (first === -1) return [];
  const decoded = api.adapter.decode(messages.slice(first).map(({ value }) => value));
  const newest = decoded.findLastIndex(({ role }) => role === "assistant");
  // An id may come again: it is the newest message's, and counts there as often as it stands.
  const calls = new Map<string, (Pick<Recall, "key" | "args" | "from"> | undefined)[]>();
  const times = new Map<string, number>();
  const keyOf = (callId: string, args: JsonValue): string => {
    const print = printOf(secret, hashJson([callId, args]));
    const time = (times.get(print) ?? 0) + 1;
    times.set(print, time);
    return `${print}.${time}`;
  };
  let from = 0;
  return decoded.flatMap((message, offset) => {
    if (message.role === "assistant" && decoded[offset - 1]?.role !== "assistant") from = first + offset;
    const asked = toolCalls(message).map(({ callId, name, args }) => ({
      callId,
      call: name === toolName ? { key: keyOf(callId, args), args, from } : undefined,
    }));
    for (const { callId } of asked) calls.set(callId, []);
    for (const { callId, call } of asked) calls.get(callId)?.push(call);
    return message.parts.flatMap((one, part): readonly Recall[] => {
      if (one.type !== "tool-result") return [];
      const call = calls.get(one.callId)?.shift();
      return call ? [{ ...call, at: first + offset, part, isRead: offset < newest }] : [];
    });
  });
}

/** The recalls of one line. */
export class Recalls {
  readonly #secret: Buffer;
  /** The texts by their keys; undefined for one that stays as the client has it. */
  readonly #texts: Map<string, string | undefined>;

  /**
   * @param secret - the store's: keys say nothing of a call to whoever has not that
   * @param begun - those of the line that this one begins as: a client that edits its history keeps what was recalled behind
   */
  constructor(secret: Buffer, begun?: Recalls) {
    this.#secret = secret;
    this.#texts = begun ? new Map(begun.#texts) : new Map();
  }

  #of(request: WireRequest): readonly Recall[] {
    let recalls = found.get(request);
    if (!recalls) found.set(request, (recalls = recallsIn(request, this.#secret)));
    return recalls;
  }

  /** Takes what the log says of a message. @param note - as {@link Recalls.noteOf} made it */
  take(message: Message, note: JsonValue | undefined): void {
    for (const [key, part] of Object.entries(asObject(note) ?? {})) {
      const result = typeof part === "number" ? message.parts[part] : undefined;
      this.#texts.set(key, result?.type === "tool-result" ? ownText(result) : undefined);
    }
  }

  /** What the log keeps of the recalls of a message beside it: the place of each text, or null for the client's own. */
  noteOf(request: WireRequest, at: number): JsonObject | undefined {
    const entries = this.#of(request)
      .filter((recall) => recall.at === at && this.#texts.has(recall.key))
      .map(({ key, part }) => [key, this.#texts.get(key) === undefined ? null : part] as const);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }

  /**
   * The recalls of a request that are still to be answered. Those that the model has read already, those that the log has
   * without an answer, those whose history it lacks, and those of a tool of the client's own stay as the client has them.
   *
   * @param kept - how many of its messages the log has
   */
  open(request: WireRequest, kept: number): readonly Recall[] {
    const unknown = this.#of(request).filter(({ key }) => !this.#texts.has(key));
    const isOwn = hasOwn(request);
    const open = unknown.filter(({ at, from, isRead }) => !isOwn && !isRead && at >= kept && from <= kept);
    this.leave(unknown.filter((recall) => !open.includes(recall)));
    return open;
  }

  /** Leaves recalls as the client has them. */
  leave(recalls: readonly Pick<Recall, "key">[]): void {
    for (const { key } of recalls) this.#texts.set(key, undefined);
  }

  /** Gives recalls their texts. */
  set(recalls: readonly Pick<Recall, "key">[], texts: readonly string[]): void {
    for (const [place, { key }] of recalls.entries()) this.#texts.set(key, texts[place]);
  }

  /** The request as its model reads it: with the tool, and each recall's text in the place of the client's. */
  read(request: WireRequest): WireRequest {
    const { api, call, messages } = request;
    const shape = recallShapes[api.name];
    const written = [...messages];
    for (const recall of this.#of(request)) {
      const text = this.#texts.get(recall.key);
      const message = written[recall.at];
      const raw = text !== undefined && message ? shape.withText(message.raw, recall.part, text) : undefined;
      if (raw) written[recall.at] = { ...message, raw } as WireMessage;
    }
    const isSame = written.every((message, place) => message === messages[place]);
    const body = isSame ? call.body : api.write(request, written);
    const isAsIs = request.tools.length === 0 || hasOwn(request);
    const whole = isAsIs ? body : (shape.withTool(body) ?? body);
    return whole === call.body ? request : (api.read({ ...call, body: whole }) ?? request);
  }
}

/** Whether the client has a tool of that name, which it may have added on its way. */
function hasOwn({ tools }: WireRequest): boolean {
  return tools.some(({ name }) => name === toolName);
}

/** What a session answers to recalls, secrets masked as on the disk. @throws WindrowError where its log cannot be read */
export async function recalled(
  session: Session,
  recalls: readonly Pick<Recall, "args">[],
  { mask, budget }: { readonly mask: SecretRules; readonly budget: number | undefined },
): Promise<readonly string[]> {
  const maxTokens = Math.max(1, Math.min(mostTokens, Math.floor((budget ?? Infinity) / 8)));
  const texts: string[] = [];
  for (const { args } of recalls) {
    if (texts.length === mostAtOnce) break;
    texts.push(await textOf(async () => recalledText(await session.recall(recallQuery(args), { maxTokens }))));
  }
  return recalls.map((_, place) => maskJson(mask, texts[place] ?? tooMany));
}

/** The text of a recall; what is wrong with the question is one too. */
async function textOf(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    if (isWindrowError(error, "not-found") || isWindrowError(error, "bad-option")) return inlineText(error.message);
    throw error;
  }
}
