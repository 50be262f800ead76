/** One request of ADK as a call of its conversation: the contents that are the log's events, and what stands behind them. */
import type { Message } from "../../message/message.ts";
import { asArray, asName, asObject } from "../../message/json.ts";
import type { Session } from "../../session/session.ts";
import { countMessage } from "../../tokens/counter.ts";
import { findModel } from "../../tokens/models.ts";
import { hashMessage } from "../../window/hash.ts";
import { thoughtSignature } from "../../message/parts.ts";
import { skippedSignature } from "../../window/provider/encode.ts";
import { contentsOf, fromContents } from "../../shape/gemini/gemini.ts";
import type { GeminiContent } from "../../shape/gemini/gemini.ts";
import type { CalledModel, HostCall, RequestBlocks } from "../host/conversation.ts";
import type { HostLog, LogMatch } from "../host/journal.ts";
import { mayShowOwn } from "../host/numbered.ts";
import { toolDefinition } from "../host/tool-definition.ts";
import { asRequested, isSame, isShown } from "./event.ts";
import type { AdkLog } from "./log.ts";
import type { AdkEvent, AdkRequest } from "./types.ts";

/**
 * A request as a call. Contents that the host itself put behind the events (of another agent, for one call) are counted,
 * and go as they are.
 *
 * @param log - of the session whose events these are, where there is one
 */
export function adkCall(request: AdkRequest, events: readonly AdkEvent[], log?: AdkLog): HostCall<GeminiContent> {
  const matched = log && new MatchedRequest(log, events, request);
  const behind = matched?.behind ?? [];
  const own = new Set(request.contents);
  const given = new Map(fromContents(request.contents).map((message, at) => [message.id, { message, at }]));
  /** The request's own content of an unchanged message, for a window that is not made from the log. */
  const requested = (message: Message): GeminiContent | undefined => {
    const entry = given.get(message.id);
    return entry && isOwn(message, hashMessage(entry.message), request) ? request.contents[entry.at] : undefined;
  };
  const counter = log?.session.settings.counter;
  return {
    messages: request.contents,
    ...blocksOf(request),
    ...(matched && { log: matched }),
    model: calledModel(request),
    ...(counter && {
      besideTokens: fromContents(behind).reduce((sum, message) => sum + countMessage(counter, message), 0),
    }),
    encode: (window, logged) =>
      logged
        ? [
            ...contentsOf(window, { original: logged }).map((content) =>
              own.has(content) ? content : asRequested(content),
            ),
            ...behind,
          ]
        : contentsOf(window, { original: requested }),
  };
}

/** A request beside the log of its session: its contents are the log's events in their order, or it is on its own. */
class MatchedRequest implements HostLog<GeminiContent> {
  readonly session: Session;
  /** Contents of the request behind those of the events. */
  readonly behind: readonly GeminiContent[] = [];
  readonly #request: AdkRequest;
  readonly #given = new Map<string, { readonly content: GeminiContent; readonly hash: number }>();
  readonly #match: LogMatch;

  constructor(log: AdkLog, events: readonly AdkEvent[], request: AdkRequest) {
    this.session = log.session;
    this.#request = request;
    const brokenAt = replacedAt(log, events);
    const places = brokenAt === undefined ? this.#compare(log, events) : undefined;
    this.#match = { isLog: places !== undefined, ...(brokenAt !== undefined && { brokenAt }) };
    if (places !== undefined) this.behind = request.contents.slice(places);
  }

  match(): LogMatch {
    return this.#match;
  }

  hostOf(message: Message): GeminiContent | undefined {
    const entry = this.#given.get(message.id);
    return entry && isOwn(message, entry.hash, this.#request) ? entry.content : undefined;
  }

  /** How many contents are the events'; undefined where one is not (another agent's view). */
  #compare(log: AdkLog, events: readonly AdkEvent[]): number | undefined {
    let place = 0;
    for (const event of events) {
      const logged = log.logged(event.id);
      if (!logged) return undefined;
      if (!isShown(event)) continue;
      const content = this.#request.contents[place];
      if (!content || !isSame(content, event)) return undefined;
      const [message] = log.session.settings.liveMask ? fromContents([content]) : [];
      if (!message || mayShowOwn(log.session.settings, message)) {
        this.#given.set(logged.messageId, { content, hash: logged.hash });
      }
      place++;
    }
    return place;
  }
}

/** The first event that is no longer the log's, where ADK compacted its history or took events out. */
function replacedAt(log: AdkLog, events: readonly AdkEvent[]): number | undefined {
  if (events.length >= log.events.length && !events.some((event) => event.isCompacted === true)) return undefined;
  const at = events.findIndex((event, index) => event.id !== log.events[index]?.id);
  return at === -1 ? events.length : at;
}

/** Whether a window's message is still the host's: only a signature that stands for a missing one may be new. */
function isOwn(message: Message, hash: number, request: AdkRequest): boolean {
  if (wantsSignature(message, request)) return false;
  return hashMessage(message) === hash || hashMessage(unsigned(message)) === hash;
}

/** The system instruction and the tools of a request: they are counted, and go as they are. */
function blocksOf({ config }: AdkRequest): RequestBlocks {
  const system = instructionText(config?.systemInstruction);
  const tools = asArray(config?.tools)
    ?.flatMap((tool) => asArray(asObject(tool)?.["functionDeclarations"]) ?? [])
    .flatMap((value) => {
      const { name, description, parameters, parametersJsonSchema } = asObject(value) ?? {};
      return typeof name === "string" ? [toolDefinition(name, description, parameters ?? parametersJsonSchema)] : [];
    });
  return { ...(system !== "" && { system }), ...(tools && tools.length > 0 && { tools }) };
}

/** A text, a part, a content, or a list of these. */
function instructionText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(instructionText).join("\n");
  const fields = asObject(value);
  return asName(fields?.["text"]) ?? (fields?.["parts"] === undefined ? "" : instructionText(fields["parts"]));
}

/** The model of a request, with the request's own cap; undefined for a model that is not in the table. */
function calledModel({ model, config }: AdkRequest): CalledModel | undefined {
  const facts = model === undefined ? undefined : findModel(model);
  return facts && { ...facts, maxOutput: config?.maxOutputTokens ?? facts.maxOutput };
}

/** Gemini 3 and newer refuse a call without a signature; for older ones, and others, the host's content is right. */
function wantsSignature(message: Message, { model }: AdkRequest): boolean {
  return /gemini-(?:[3-9]|\d\d)/.test(model ?? "") && unsigned(message) !== message;
}

/** A message without the signatures that stand for missing ones. */
function unsigned(message: Message): Message {
  const stands = message.parts.some((part) => part.type === "tool-call" && thoughtSignature(part) === skippedSignature);
  if (!stands) return message;
  const parts = message.parts.map((part) => {
    if (part.type !== "tool-call" || thoughtSignature(part) !== skippedSignature) return part;
    const { gemini: _sentinel, ...rest } = asObject(part.opaque) ?? {};
    const { opaque: _opaque, ...bare } = part;
    return Object.keys(rest).length > 0 ? { ...bare, opaque: rest } : bare;
  });
  return { ...message, parts };
}
