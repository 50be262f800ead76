/** One-hop recall: whether a single recall that the window itself suggests returns what the window lacks. */
import { ownText, toolCalls } from "../message/message.ts";
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
   * Whether one recall returns a reference. The reader knows what the window shows, and not what it looks for: it recalls
   * an id of at most eight messages, or a subject that the window names, and the answer of at most
   * {@link oneHopTokens} has to hold the atom.
   *
   * @param index - of the assistant message that refers back
   * @param edits - the edits in force
   * @param window - the messages composed for the call
   */
  forCall(index: number, edits: readonly Edit[], window: readonly Message[]): (reference: Reference) => boolean {
    const recalls = this.recallsFor(index, edits, window);
    return (reference) => recalls(reference) !== undefined;
  }

  /** As {@link forCall}, but it returns that recall. */
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
        const results = message.parts.filter((part) => part.type === "tool-result");
        const call = this.#calls.get(results[at]?.callId ?? "");
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

/** Sources of which the window shows nothing, and how many of them it names. */
export interface Named {
  readonly named: number;
  readonly total: number;
}

/** The files and the calls that left a window, and how many of them it names. */
export interface NamedSources {
  /** Distinct paths that calls were about. */
  readonly files: Named;
  /** Results. */
  readonly calls: Named;
}

/**
 * Counts what left a window. A file is named by its path; a call by its tool and subject, or by an id of at most
 * eight messages.
 *
 * @param index - of the assistant message that the window is for
 */
export function namedSources(
  oneHop: OneHop,
  messages: readonly Message[],
  index: number,
  edits: readonly Edit[],
  window: readonly Message[],
): NamedSources {
  const names = shownNames(edits, window);
  const shown = new Set(
    window.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? [ownText(part)] : []))),
  );
  const files = new Map<string, boolean>();
  let [named, total] = [0, 0];
  for (let place = 0; place < index; place++) {
    const results = (messages[place] as Message).parts.filter((part) => part.type === "tool-result");
    for (const [at, result] of results.entries()) {
      const source = oneHop.sourcesOf(place)[at];
      if (!source || shown.has(ownText(result))) continue;
      const isNamed = names.nameOf(source) !== undefined;
      if (isPath(source.subject)) files.set(source.subject, isNamed);
      total++;
      if (isNamed || names.ids.some(({ from, to }) => from <= place + 1 && place < to)) named++;
    }
  }
  return { files: { named: [...files.values()].filter(Boolean).length, total: files.size }, calls: { named, total } };
}
