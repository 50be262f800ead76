/** The ContextManager of preset miki (docs/presets.md): messages with an importance, a snapshot, statistics. In memory. */
import { resultText } from "../../message/message.ts";
import type { JsonObject, Message } from "../../message/message.ts";
import { updateSnapshot } from "../../session/state/snapshot.ts";
import type { ContextSnapshot, SnapshotUpdate } from "../../session/state/snapshot.ts";
import { statsLine } from "../../session/stats-line.ts";
import type { ContextStats } from "../../session/stats-line.ts";
import { countPart } from "../../tokens/counter.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { composeWindow } from "../../window/compose.ts";
import { hasFailed } from "../../window/passes/outcome.ts";
import { importanceOf, uiToolNames } from "../../window/passes/importance.ts";
import { miki, mikiLimits, mikiSizes } from "../../window/strategies/presets.ts";
import type { MikiLimits, MikiOptions } from "../../window/strategies/presets.ts";
import { counterFor } from "../../window/settings.ts";
import { strategyOf } from "../../window/by-name.ts";
import { gemini } from "../../window/provider/profile.ts";
import { limitUi, uiLimits } from "../../window/ui/limits.ts";
import type { Strategy } from "../../window/window.ts";
import { candidatePlaces } from "./candidates.ts";
import { contentMessage, contentsOf, GeminiCalls } from "../../shape/gemini/gemini.ts";
import type { GeminiContent } from "../../shape/gemini/gemini.ts";
import { asName, isObject } from "../../message/json.ts";

/** A message as the manager takes and gives it: a content of Gemini, or one with the role `function`. */
export interface ContextMessage extends GeminiContent {
  /** From 0 to 1; worked out where it is not given. */
  readonly importance?: number;
}

/** The list may be looked at after an answer too, and older models know no signatures. */
const listed = { ...gemini, rules: { ...gemini.rules, lastIsUser: false, callNeedsSignature: false } };

/**
 * Chooses an agent's messages by their importance, with the numbers of preset miki unless options say otherwise:
 * 24 messages, of which the newest 40 % always stay; results of `elementsJson` and `webElements` are cut to the limits;
 * tokens are characters / 4, an image 100. Nothing is on disk: a plug-in with a `manager` sees to that.
 *
 * @example
 * const contextManager = new ContextManager();
 * contextManager.updateSnapshot({ goal, completedActions: [], currentPhase: "planning", keyObservations: [] });
 */
export class ContextManager {
  /** Preset miki under the manager's limits, for windows made elsewhere. */
  readonly strategy: Strategy;
  /** The preset's counter. */
  readonly counter: TokenCounter;
  readonly #options: MikiOptions;
  readonly #fewer = new Map<number, Strategy>();
  #calls = new GeminiCalls();
  #added = 0;
  #messages: Message[] = [];
  /** Messages at which those that no window can show any more are let go. */
  #full: number;
  /** The newest window, until a message is added. */
  #composed: readonly Message[] | undefined;
  #snapshot: ContextSnapshot | undefined;
  #failures = 0;

  /**
   * @param options - the preset's options, a `size` of job, the names of tools whose results are dumps
   * @throws WindrowError `bad-option`
   */
  constructor(options: MikiOptions = {}) {
    this.#options = options;
    this.strategy = strategyOf({ ...options, use: "miki" });
    this.counter = counterFor(this.strategy.settings);
    this.#full = this.#room;
  }

  /**
   * Adds a message.
   *
   * @returns it with its importance
   * @throws WindrowError `bad-message`
   */
  addMessage<M extends ContextMessage>(message: M): M & { readonly importance: number } {
    const { importance: given, ...content } = message;
    const read = { id: `m${this.#added + 1}`, ...contentMessage(content as GeminiContent, this.#added, this.#calls) };
    this.#added++;
    const importance = given ?? importanceOf([read]);
    this.#messages.push({ ...read, extra: { ...read.extra, importance } });
    this.#composed = undefined;
    if (this.#messages.length > this.#full) this.#letGo();
    for (const part of read.parts) {
      if (part.type !== "tool-result") continue;
      this.#failures = part.isError === true || hasFailed(resultText(part)) ? this.#failures + 1 : 0;
    }
    return { ...message, importance };
  }

  /** The messages to send: at most 24, dumps cut, calls together with their responses, in the order they came. */
  getMessages(): GeminiContent[] {
    return [...contentsOf(this.#window())];
  }

  /**
   * Updates the snapshot: fields that are named replace their old values, the others stay.
   *
   * @returns a copy of it
   * @throws WindrowError `bad-option` for an unknown field or a wrong type
   */
  updateSnapshot(update: SnapshotUpdate): ContextSnapshot {
    this.#snapshot = updateSnapshot(this.#snapshot, update);
    return structuredClone(this.#snapshot);
  }

  /** The message with the dumps of a screen or page cut to the limits; the message itself where nothing is over them. */
  compressUIData<M extends GeminiContent>(message: M): M {
    const parts = message.parts?.map((part) => this.#compressed(part));
    return parts?.some((part, index) => part !== message.parts?.[index]) ? { ...message, parts } : message;
  }

  /**
   * The size of {@link ContextManager.getMessages}, in numbers. A call whose response is still to come counts by itself,
   * without the line that stands for the response in the list.
   */
  getStats(): ContextStats {
    const all = this.#window();
    const window = all.slice(0, all.findLastIndex(({ status }) => status !== "synthetic") + 1);
    return {
      messageCount: window.length,
      estimatedTokens: window
        .flatMap(({ parts }) => parts)
        .reduce((sum, part) => sum + countPart(this.counter, part), 0),
      hasSnapshot: this.#snapshot !== undefined,
    };
  }

  /** The statistics in a line: `Context stats: 18 messages, ~4500 tokens`. */
  statsLine(): string {
    return statsLine(this.getStats());
  }

  /** A copy of the snapshot; undefined before the first update and after a reset. */
  getContextSnapshot(): ContextSnapshot | undefined {
    return structuredClone(this.#snapshot);
  }

  /** Tool calls that failed one after the other; after 3 an agent of miki's falls back to `elementsJson` at 3. */
  get consecutiveFailures(): number {
    return this.#failures;
  }

  /** Forgets messages and snapshot: for a new task. */
  async reset(): Promise<void> {
    this.#calls = new GeminiCalls();
    this.#messages = [];
    this.#full = this.#room;
    this.#composed = undefined;
    this.#snapshot = undefined;
    this.#failures = 0;
  }

  get #limits(): MikiLimits {
    const { size = "normal", ...given } = this.#options;
    return { ...mikiLimits, maxMessages: mikiSizes[size][1], ...given };
  }

  /** Messages between two times that some are let go. */
  get #room(): number {
    return 2 * this.#limits.maxMessages;
  }

  #letGo(): void {
    const places = candidatePlaces(this.#messages, this.#limits.maxMessages);
    this.#messages = places.flatMap((place) => this.#messages[place] ?? []);
    this.#full = this.#messages.length + this.#room;
  }

  #window(): readonly Message[] {
    return (this.#composed ??= this.#compose());
  }

  #compose(): readonly Message[] {
    if (this.#messages.length === 0) return [];
    const messages = this.#messages;
    const { maxMessages } = this.#limits;
    const compose = (strategy: Strategy): readonly Message[] =>
      composeWindow({ messages, strategy, counter: this.counter, profile: listed, budget: Infinity }).messages;
    const window = compose(this.strategy);
    // If the oldest kept message is the model's, a message of the user is put before it. It counts, so one fewer is kept.
    const above = window.length - maxMessages;
    return above > 0 ? compose(this.#withFewer(maxMessages - above)) : window;
  }

  /** The strategy for fewer messages; one object a number, whose passes remember the dumps that they cut. */
  #withFewer(maxMessages: number): Strategy {
    const found = this.#fewer.get(maxMessages) ?? miki({ ...this.#options, maxMessages });
    this.#fewer.set(maxMessages, found);
    return found;
  }

  #compressed(part: unknown): unknown {
    const response = isObject(part) ? part["functionResponse"] : undefined;
    if (!isObject(part) || !isObject(response) || !isObject(response["response"])) return part;
    const limited = this.compressResult(asName(response["name"]) ?? "", response["response"]);
    return limited === response["response"] ? part : { ...part, functionResponse: { ...response, response: limited } };
  }

  /** A tool's result under the limits; the result itself where the tool gives no dumps or nothing is over them. */
  compressResult(tool: string, result: JsonObject): JsonObject {
    const { tools = uiToolNames } = this.#options;
    if (!tools.includes(tool)) return result;
    const limits = this.#limits;
    const limited = limitUi(result, tool, {
      ...uiLimits,
      maxTextChars: limits.maxTextChars,
      maxDataChars: limits.maxDataChars,
      maxNodes: limits.maxUiNodes,
      maxDepth: limits.maxUiDepth,
      maxChildren: limits.maxUiChildren,
      maxWebElements: limits.maxWebElements,
      maxActions: limits.maxActions,
    }) as JsonObject;
    return JSON.stringify(limited) === JSON.stringify(result) ? result : limited;
  }
}
