/** One-hop recall: whether one real recall, by an id the window shows, brings back what the window lacks. */
import { resultText } from "../message/message.ts";
import type { Message, ToolCallPart } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { recallFrom } from "../window/recall/recall.ts";
import { parseRecallId, subjectOf } from "../window/recall/stub.ts";
import type { Edit, Stub } from "../window/window.ts";
import { atomsOf } from "./recall-metric.ts";
import type { Reference } from "./recall-metric.ts";

/** Most a recall may answer with, in tokens, to count. */
export const oneHopTokens = 4_000;

/** Tries recalls on one history, each once. */
export class OneHop {
  readonly #counter: TokenCounter;
  readonly #answers = new Map<string, boolean>();

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /**
   * For one call: whether a reference is behind a stub that stands in the window, names its tool and its subject, and
   * whose recall, with the atom as the query, answers with it in at most {@link oneHopTokens}.
   *
   * @param history - the messages before the call
   * @param edits - the edits in force
   * @param window - the messages composed for the call
   */
  forCall(
    history: readonly Message[],
    edits: readonly Edit[],
    window: readonly Message[],
  ): (reference: Reference) => boolean {
    let ranges: readonly Range[] | undefined;
    return ({ atom, places }) => {
      ranges ??= rangesOf(visibleStubs(edits, window));
      return ranges.some(
        ({ id, from, to }) =>
          places.some((place) => from <= place + 1 && place < to) && this.#recalls(history, id, atom),
      );
    };
  }

  #recalls(history: readonly Message[], id: string, atom: string): boolean {
    const key = `${id} ${atom}`;
    let answer = this.#answers.get(key);
    if (answer === undefined) {
      const query = { id, query: atom.trim() };
      const recalled = recallFrom(history, query, { maxTokens: oneHopTokens, counter: this.#counter });
      answer = recalled.tokens <= oneHopTokens && atomsOf(recalled.text).has(atom);
      this.#answers.set(key, answer);
    }
    return answer;
  }
}

interface Range {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** What the stubs' ids name, the narrowest first: those are the quickest to recall. */
function rangesOf(stubs: readonly Stub[]): readonly Range[] {
  const ids = [...new Set(stubs.map((stub) => stub.id))];
  const ranges = ids.flatMap((id) => {
    const range = parseRecallId(id);
    return range ? [{ id, ...range }] : [];
  });
  return ranges.toSorted((left, right) => left.to - left.from - (right.to - right.from));
}

/**
 * The stubs that really stand in the window, with tool, subject and an id for recall: in a line of a labelled message,
 * or in the place of a result whose call, with the tool and the subject, stands before it. Where a line shows only a
 * range over several, the stub comes with the range's id.
 */
export function visibleStubs(edits: readonly Edit[], window: readonly Message[]): readonly Stub[] {
  const parts = window.flatMap((message) => message.parts);
  const calls = new Map(parts.flatMap((part) => (part.type === "tool-call" ? [[part.callId, part] as const] : [])));
  const notes = new Set(parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  const results = new Map(
    parts.flatMap((part) => (part.type === "tool-result" ? [[resultText(part), calls.get(part.callId)] as const] : [])),
  );
  return edits.flatMap((edit) => {
    const { kind, text = "", stubs = [] } = edit;
    if (kind === "stub")
      return stubs.filter((stub) => idsIn(text).includes(stub.id) && isAbout(results.get(text), stub));
    if (stubs.length === 0 || ![...notes].some((shown) => shown.includes(text))) return [];
    const lines = text.split("\n");
    return stubs.flatMap((stub) => {
      const ids = lines.filter((line) => names(line, stub)).flatMap(idsIn);
      const shown = ids.includes(stub.id) ? stub.id : ids.find((id) => covers(id, stub.id));
      return shown === undefined ? [] : [{ ...stub, id: shown }];
    });
  });
}

function idsIn(text: string): readonly string[] {
  return text.match(/\bm\d+(?:-m\d+)?\b/g) ?? [];
}

function isAbout(call: ToolCallPart | undefined, { tool, subject }: Stub): boolean {
  return call?.name === tool && subjectOf(call.args) === subject;
}

/** A line that stands for several messages must say what they were about; a single call may have had no arguments. */
function names(line: string, { tool, subject, count }: Stub): boolean {
  return line.includes(tool) && (subject === "" ? count === 1 : line.includes(subject));
}

/** Whether the messages of one id hold all those of another. */
function covers(outer: string, inner: string): boolean {
  const [wide, narrow] = [parseRecallId(outer), parseRecallId(inner)];
  return wide !== undefined && narrow !== undefined && wide.from <= narrow.from && narrow.to <= wide.to;
}
