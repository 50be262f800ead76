/**
 * Look-back recall: the share of a tool call's references that its window still holds. Deterministic and without a
 * model. The window never imports this file: a policy that knew the atoms could stuff its windows with them.
 */
import { toolCalls } from "../message/message.ts";
import type { Message, Part } from "../message/message.ts";
import { sharedPrefix } from "../message/shared-prefix.ts";
import type { MessageTokens } from "./cost-metric.ts";
import { linesOf, readablePart } from "./lines.ts";

/**
 * A thing that a text names: a path, an identifier-like or number-like word, or a whole line of at least {@link
 * shortestLine} characters after a newline.
 */
export type Atom = string;

/** Shortest whole line that is an atom, in UTF-16 code units after trimming. */
export const shortestLine = 24;

const lineMark = "\n";
const path = String.raw`[\p{L}\p{N}_@.~+$-]*(?:/[\p{L}\p{N}_@.~+$-]+)+`;
const word = String.raw`[\p{L}\p{N}_$]+(?:[.-][\p{L}\p{N}_$]+)*`;
const wordPattern = new RegExp(`${path}|${word}`, "gu");

/**
 * The atoms of a text. A word counts when it has at least four characters and looks like a name rather than prose
 * (an underscore, a digit, a capital behind a small letter, or a dot inside), or is a number of at least three digits
 * or with decimals. A path counts whole, and so do those of its segments that are such words.
 */
export function atomsOf(text: string): ReadonlySet<Atom> {
  const atoms = new Set<Atom>();
  for (const [match] of text.matchAll(wordPattern)) {
    // A word begins and ends with a letter, a digit, an underscore or a dollar sign; a path may not.
    if (!match.includes("/")) {
      if (!atoms.has(match) && isNameOrNumber(match)) atoms.add(match);
      continue;
    }
    const found = match.replace(/^[.~-]+(?=[\p{L}\p{N}_])|[.-]+$/gu, "");
    if (found.length >= 3) atoms.add(found);
    for (const segment of found.split("/")) if (isNameOrNumber(segment)) atoms.add(segment);
  }
  for (const line of linesOf(text)) if (line.length >= shortestLine) atoms.add(lineMark + line);
  return atoms;
}

function isNameOrNumber(text: string): boolean {
  const first = text.charCodeAt(0);
  const isNumeric = first <= 57 && (first >= 48 || first === 46) && /^[\d.]+$/.test(text);
  if (isNumeric) return text.includes(".") || text.length >= 3;
  return text.length >= 4 && /[_\d]|\p{Ll}\p{Lu}|[\p{L}\p{N}]\.[\p{L}\p{N}]/u.test(text);
}

/** Whether an atom is a whole line. */
export function isLine(atom: Atom): boolean {
  return atom.startsWith(lineMark);
}

/** Reads the atoms of messages, each part and each text once. */
export class AtomReader {
  readonly #byPart = new WeakMap<Part, ReadonlySet<Atom>>();
  readonly #byText = new Map<string, ReadonlySet<Atom>>();

  /** The atoms of one part. */
  part(part: Part): ReadonlySet<Atom> {
    let atoms = this.#byPart.get(part);
    if (!atoms) {
      const text = readablePart(part);
      atoms = this.#byText.get(text) ?? atomsOf(text);
      this.#byText.set(text, atoms);
      this.#byPart.set(part, atoms);
    }
    return atoms;
  }

  /** The atoms of parts together. */
  of(parts: readonly Part[]): ReadonlySet<Atom> {
    const [first] = parts;
    return first && parts.length === 1 ? this.part(first) : new Set(parts.flatMap((part) => [...this.part(part)]));
  }

  /** Whether a message holds an atom. */
  has(message: Message, atom: Atom): boolean {
    return message.parts.some((part) => this.part(part).has(atom));
  }
}

/** An atom that a call refers back to: the agent must have read it. */
export interface Reference {
  readonly atom: Atom;
  /** Tokens of full history between the latest earlier occurrence and the call. */
  readonly distance: number;
  /** Indices of the earlier messages that hold it. */
  readonly places: readonly number[];
}

/**
 * The references of each assistant message, by index: atoms of its tool calls that first occurred in a user message or
 * a tool result. An atom that the system prompt or the agent wrote first is no reference.
 */
export function findReferences(
  messages: readonly Message[],
  tokens: MessageTokens,
  reader: AtomReader,
): ReadonlyMap<number, readonly Reference[]> {
  const places = new Map<Atom, number[]>();
  const ends: number[] = [];
  const references = new Map<number, readonly Reference[]>();
  let total = 0;
  messages.forEach((message, index) => {
    if (message.role === "assistant") {
      const found: Reference[] = [];
      for (const atom of reader.of(toolCalls(message))) {
        const before = places.get(atom);
        const first = messages[before?.[0] ?? -1];
        if (!before || (first?.role !== "user" && first?.role !== "tool")) continue;
        found.push({ atom, distance: total - (ends[before.at(-1) ?? 0] ?? 0), places: [...before] });
      }
      references.set(index, found);
    }
    total += tokens.of(message);
    ends.push(total);
    for (const atom of reader.of(message.parts)) {
      const known = places.get(atom);
      if (known) known.push(index);
      else places.set(atom, [index]);
    }
  });
  return references;
}

/**
 * The distance from which a reference counts as far, in tokens: 8,000 in a history of at least 50,000 tokens (long
 * coding sessions), 2,000 from 10,000 tokens on, else 1,000.
 */
export function farDistanceFor(historyTokens: number): number {
  if (historyTokens >= 50_000) return 8_000;
  return historyTokens >= 10_000 ? 2_000 : 1_000;
}

/** Look-back recall over all calls of a session, in per cent; null without references. */
export interface Lookback {
  /** The share of all references. */
  readonly all: number | null;
  /** The mean share of far references present, over the calls with one. */
  readonly far: number | null;
  /** The share of far references that are whole lines. */
  readonly farLines: number | null;
  /** The share of references present, or returned by one recall of a visible stub. */
  readonly oneHop: number | null;
  /** Calls with a far reference. */
  readonly farSteps: number;
  /** The number of references. */
  readonly references: number;
  /** The number of far references that are whole lines. */
  readonly farLineReferences: number;
}

/** The facts of a session that look-back recall is counted by. */
export interface LookbackSource {
  readonly reader: AtomReader;
  /** In tokens; see {@link farDistanceFor}. */
  readonly farDistance: number;
  /** The whole session, in which references have their places. */
  readonly messages: readonly Message[];
}

/** Adds up look-back recall, call by call. */
export class LookbackTally {
  readonly #source: LookbackSource;
  readonly #own: ReadonlySet<Message>;
  /** The window before: its messages, and those of them that are not the session's own. */
  #last: readonly Message[] = [];
  #shown = new Set<Message>();
  #others: Message[] = [];
  #references = 0;
  #present = 0;
  #oneHop = 0;
  #farSteps = 0;
  #farShares = 0;
  #farLines = 0;
  #farLinesPresent = 0;

  constructor(source: LookbackSource) {
    this.#source = source;
    this.#own = new Set(source.messages);
  }

  /**
   * Counts one call.
   *
   * @param window - the messages composed for it
   * @param recalls - whether one recall brings back an atom that the window lacks
   */
  add(
    references: readonly Reference[],
    window: readonly Message[],
    recalls: (reference: Reference) => boolean | object | undefined = () => false,
  ): void {
    const { reader, farDistance, messages } = this.#source;
    let [far, farPresent] = [0, 0];
    if (references.length === 0) return;
    // The session's own messages are known by the places of each atom; only what a policy wrote is read.
    this.#show(window);
    const [shown, others] = [this.#shown, this.#others];
    for (const reference of references) {
      const present =
        reference.places.some((place) => shown.has(messages[place] as Message)) ||
        others.some((message) => reader.has(message, reference.atom));
      this.#references++;
      if (present) this.#present++;
      if (present || recalls(reference)) this.#oneHop++;
      if (reference.distance <= farDistance) continue;
      far++;
      if (present) farPresent++;
      if (!isLine(reference.atom)) continue;
      this.#farLines++;
      if (present) this.#farLinesPresent++;
    }
    if (far === 0) return;
    this.#farSteps++;
    this.#farShares += farPresent / far;
  }

  /** Takes the next window. Most grow at their end. */
  #show(window: readonly Message[]): void {
    let from = sharedPrefix(this.#last, window);
    if (from < this.#last.length) {
      from = 0;
      this.#shown = new Set();
      this.#others = [];
    }
    for (const message of from === 0 ? window : window.slice(from)) {
      this.#shown.add(message);
      if (!this.#own.has(message)) this.#others.push(message);
    }
    this.#last = window;
  }

  /** The result so far. */
  result(): Lookback {
    return {
      all: percent(this.#present, this.#references),
      far: percent(this.#farShares, this.#farSteps),
      farLines: percent(this.#farLinesPresent, this.#farLines),
      oneHop: percent(this.#oneHop, this.#references),
      farSteps: this.#farSteps,
      references: this.#references,
      farLineReferences: this.#farLines,
    };
  }
}

/** A percentage, rounded down to hundredths so that 100 means all. */
function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((10_000 * part) / whole) / 100;
}
