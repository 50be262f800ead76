/** One-hop recall: whether a single recall that the window itself suggests returns what the window lacks. */
import { ownText, toolCalls, toolResults } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { recallFrom } from "../window/recall/recall.ts";
import type { RecallQuery } from "../window/recall/query.ts";
import { isPath, recallId, stubsOf, subjectOf } from "../window/stub/stub.ts";
import type { Edit, Stub } from "../window/window.ts";
import { shownNames } from "./shown-names.ts";
import type { ShownNames } from "./shown-names.ts";
import { atomsOf } from "./recall-metric.ts";
import type { Atom, Reference } from "./recall-metric.ts";

/** The most tokens of a recall's answer that still counts. */
export const oneHopTokens = 4_000;

/** Tries recalls on one history, each once. */
export class OneHop {
  readonly #messages: readonly Message[];
  readonly #counter: TokenCounter;
  readonly #sources = new Map<number, readonly Stub[]>();
  readonly #calls = new Map<string, { readonly name: string; readonly subject: string }>();
  readonly #answers = new Map<string, ReadonlySet<Atom>>();

  /** @param messages - the whole history; message n is `m<n>` */
  constructor(messages: readonly Message[], counter: TokenCounter) {
    this.#messages = messages;
    this.#counter = counter;
    for (const message of messages)
      for (const call of toolCalls(message))
        this.#calls.set(call.callId, { name: call.name, subject: subjectOf(call.args) });
  }

  /**
   * The recall that returns a reference; undefined if none does. The reader knows what the window shows, and not what it
   * looks for: it recalls an id of at most eight messages, or a subject that the window names, and the answer of at most
   * {@link oneHopTokens} has to hold the atom.
   *
   * @param index - of the assistant message that refers back
   * @param edits - the edits in force
   * @param window - the messages composed for the call
   */
  recallsFor(
    index: number,
    edits: readonly Edit[],
    window: readonly Message[],
  ): (reference: Pick<Reference, "places" | "atom">) => RecallQuery | undefined {
    let names: ShownNames | undefined;
    return ({ places, atom }) => {
      const shown = (names ??= shownNames(edits, window));
      const before = places.filter((place) => place < index);
      const brings = (query: RecallQuery, at: number): boolean => this.#answer(query, at).has(atom);
      const near = shown.ids.filter(({ from, to }) => before.some((place) => from <= place + 1 && place < to));
      const byId = near.map(({ from, to }) => ({ id: recallId(from, to) })).find((query) => brings(query, 0));
      if (byId) return byId;
      const named = new Set(
        before.flatMap((place) => this.sourcesOf(place).flatMap((source) => shown.nameOf(source) ?? [])),
      );
      return [...named].map((query) => ({ query })).find((query) => brings(query, index));
    };
  }

  /** Tool and subject of a message's results, or the words that a user's message begins with. */
  sourcesOf(place: number): readonly Stub[] {
    let sources = this.#sources.get(place);
    const message = this.#messages[place];
    if (!sources && message) {
      sources = stubsOf([{ seq: place + 1, message }]).map((stub, at) => {
        const call = this.#calls.get(toolResults(message)[at]?.callId ?? "");
        return stub.tool === "user" || !call ? stub : { ...stub, tool: call.name, subject: call.subject };
      });
      this.#sources.set(place, sources);
    }
    return sources ?? [];
  }

  /** The atoms of a recall's answer; by words or by a path it may change with every call. */
  #answer(query: RecallQuery, index: number): ReadonlySet<Atom> {
    const key = `${index} ${query.id ?? ""} ${query.query ?? ""}`;
    let atoms = this.#answers.get(key);
    if (!atoms) this.#answers.set(key, (atoms = atomsOf(this.#recalled(query, index))));
    return atoms;
  }

  /** The text of a recall's answer; empty for one that is too long. */
  #recalled(query: RecallQuery, index: number): string {
    const history = index === 0 ? this.#messages : this.#messages.slice(0, index);
    const recalled = recallFrom(history, query, { maxTokens: oneHopTokens, counter: this.#counter });
    return recalled.tokens <= oneHopTokens ? recalled.text : "";
  }
}

/** Files of which the window shows nothing, and how many of them it names. */
export interface Named {
  readonly named: number;
  readonly total: number;
}

/**
 * Counts the files that left a window: the distinct paths that calls were about. A window names a file by its path.
 *
 * @param index - of the assistant message that the window is for
 */
export function namedFiles(
  oneHop: OneHop,
  messages: readonly Message[],
  index: number,
  edits: readonly Edit[],
  window: readonly Message[],
): Named {
  const names = shownNames(edits, window);
  const shown = new Set(window.flatMap((message) => toolResults(message).map(ownText)));
  const files = new Map<string, boolean>();
  for (let place = 0; place < index; place++) {
    for (const [at, result] of toolResults(messages[place] as Message).entries()) {
      const source = oneHop.sourcesOf(place)[at];
      if (source && isPath(source.subject) && !shown.has(ownText(result)))
        files.set(source.subject, names.nameOf(source) !== undefined);
    }
  }
  return { named: [...files.values()].filter(Boolean).length, total: files.size };
}
