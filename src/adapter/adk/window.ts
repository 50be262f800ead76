/** The window for one request of ADK: from the log where the request is the log's, else from the request alone. */
import type { JsonValue, Message, ToolDefinition } from "../../message/message.ts";
import { countMessage } from "../../tokens/counter.ts";
import { findModel } from "../../tokens/models.ts";
import { asArray, asName, asObject } from "../../message/json.ts";
import { budgetOf } from "../../window/budget.ts";
import { composeWindow } from "../../window/compose.ts";
import { hashMessage } from "../../window/hash.ts";
import { skippedSignature, thoughtSignature } from "../../window/provider/signed.ts";
import type { ComposeInput, Composed, WindowState } from "../../window/window.ts";
import { asRequested, isSame, isShown } from "./event.ts";
import type { AdkLog } from "./log.ts";
import type { AdkEvent, AdkRequest } from "./types.ts";
import { contentsOf, fromContents } from "../gemini/gemini.ts";
import { liveHistory, mayShowOwn } from "../host/live-history.ts";
import type { LiveSettings } from "../host/live-history.ts";
import type { GeminiContent } from "../gemini/gemini.ts";

/** A composed window and the contents that go to the model. */
export interface AdkWindow {
  readonly composed: Composed;
  readonly contents: readonly GeminiContent[];
}

/** What of a request is not history: it is counted, and goes as it is. */
export interface Surroundings {
  readonly system?: string;
  readonly tools?: readonly ToolDefinition[];
}

/** The system instruction and the tools of a request. */
export function surroundings({ config }: AdkRequest): Surroundings {
  const system = instructionText(config?.systemInstruction);
  const tools = asArray(config?.tools)
    ?.flatMap((tool) => asArray(asObject(tool)?.["functionDeclarations"]) ?? [])
    .flatMap((value): readonly ToolDefinition[] => {
      const { name, description, parameters, parametersJsonSchema } = asObject(value) ?? {};
      const inputSchema = parameters ?? parametersJsonSchema;
      if (typeof name !== "string") return [];
      return [
        {
          name,
          ...(typeof description === "string" && { description }),
          ...(inputSchema !== undefined && { inputSchema: JSON.parse(JSON.stringify(inputSchema)) as JsonValue }),
        },
      ];
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

/** Tokens a request may use by its model; undefined for a model that is not in the table. */
export function requestBudget({ model, config }: AdkRequest): number | undefined {
  const facts = model === undefined ? undefined : findModel(model);
  if (!facts) return undefined;
  return budgetOf({ contextWindow: facts.contextWindow, maxOutput: config?.maxOutputTokens ?? facts.maxOutput });
}

/**
 * The window of a request whose contents are the log's events in their order; undefined where they are not (another
 * agent's view, a compaction of ADK's own). What a request has behind the events goes as it is and is counted.
 */
export async function logWindow(
  log: AdkLog,
  events: readonly AdkEvent[],
  request: AdkRequest,
  budget: number | undefined,
): Promise<AdkWindow | undefined> {
  if (isReplaced(log, events)) return undefined;
  const given = new Map<string, { readonly content: GeminiContent; readonly hash: number }>();
  let place = 0;
  for (const event of events) {
    const logged = log.logged(event.id);
    if (!logged) return undefined;
    if (!isShown(event)) continue;
    const content = request.contents[place];
    if (!content || !isSame(content, event)) return undefined;
    const [message] = log.session.settings.liveMask ? fromContents([content]) : [];
    if (!message || mayShowOwn(log.session.settings, message)) {
      given.set(logged.messageId, { content, hash: logged.hash });
    }
    place++;
  }
  const behind = request.contents.slice(place);
  const { counter } = log.session.settings;
  const taken = fromContents(behind).reduce((sum, message) => sum + countMessage(counter, message), 0);
  const most = budget ?? log.session.settings.budget;
  const composed = await log.session.compose({
    ...surroundings(request),
    ...(most !== undefined && { budget: most - taken }),
  });
  const original = (message: Message): object | undefined => {
    const entry = given.get(message.id);
    if (!entry) return undefined;
    const same = hashMessage(message) === entry.hash || hashMessage(unsigned(message)) === entry.hash;
    return same && !wantsSignature(message, request) ? entry.content : undefined;
  };
  const own = new Set(request.contents);
  const contents = contentsOf(shown(composed), { original }).map((content) =>
    own.has(content) ? content : asRequested(content),
  );
  return { composed, contents: [...contents, ...behind] };
}

/** Whether ADK's history is no longer the log's: compacted, or with events taken out. */
export function isReplaced(log: AdkLog, events: readonly AdkEvent[]): boolean {
  return events.length < log.events.length || events.some((event) => event.isCompacted === true);
}

/** The window of a request by itself. */
export function requestWindow(
  request: AdkRequest,
  options: Omit<ComposeInput, "messages">,
  settings?: LiveSettings,
): AdkWindow & { readonly history: readonly Message[]; readonly state: WindowState } {
  const given = fromContents(request.contents);
  const history = liveHistory(settings, given);
  const composed = composeWindow({ ...options, ...surroundings(request), messages: history });
  const own = new Map(given.map((message, index) => [message.id, { message, content: request.contents[index] }]));
  const original = (message: Message): object | undefined => {
    const entry = own.get(message.id);
    if (!entry || wantsSignature(message, request)) return undefined;
    const hash = hashMessage(entry.message);
    return hashMessage(message) === hash || hashMessage(unsigned(message)) === hash ? entry.content : undefined;
  };
  return { composed, contents: contentsOf(shown(composed), { original }), history, state: composed.state };
}

/** The window without the system block, which ADK sends itself. */
function shown({ messages }: Composed): readonly Message[] {
  return messages.filter((message) => message.id !== "windrow:system");
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
