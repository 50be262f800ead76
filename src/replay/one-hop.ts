/** One-hop recall: whether a single recall, by an id in the window, returns what the window lacks. */
import { ownText } from "../message/message.ts";
import type { Message, ToolCallPart } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { recallFrom } from "../window/recall/recall.ts";
import { parseRecallId, subjectOf } from "../window/stub/stub.ts";
import type { Edit, Stub } from "../window/window.ts";
import { atomsOf } from "./recall-metric.ts";
import type { Reference } from "./recall-metric.ts";

/** The most tokens of a recall's answer that still counts. */
export const oneHopTokens = 4_000;

/** Tries recalls on one history, each once. */
export class OneHop {
  readonly #counter: TokenCounter;
  readonly #answers = new Map<string, boolean>();

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /**
   * Whether one recall returns a reference: a stub in the window names its tool and subject, and its recall, with the
   * atom as query, answers with the atom in at most {@link oneHopTokens}.
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

/** The ranges of the stubs' ids, narrowest first, because those are the quickest to recall. */
function rangesOf(stubs: readonly Stub[]): readonly Range[] {
  const ids = [...new Set(stubs.map((stub) => stub.id))];
  const ranges = ids.flatMap((id) => {
    const range = parseRecallId(id);
    return range ? [{ id, ...range }] : [];
  });
  return ranges.toSorted((left, right) => left.to - left.from - (right.to - right.from));
}

/**
 * The stubs that are visible in the window with tool, subject and a recall id: in a line of a labelled message, or in
 * place of a result whose call precedes it. A line for several stubs gives each the range's id.
 */
export function visibleStubs(edits: readonly Edit[], window: readonly Message[]): readonly Stub[] {
  const parts = window.flatMap((message) => message.parts);
  const calls = new Map(parts.flatMap((part) => (part.type === "tool-call" ? [[part.callId, part] as const] : [])));
  const notes = new Set(parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  const results = new Map(
    parts.flatMap((part) => (part.type === "tool-result" ? [[ownText(part), calls.get(part.callId)] as const] : [])),
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

/** Whether a line names a stub's tool and subject. A stub for several messages must have a subject. */
function names(line: string, { tool, subject, count }: Stub): boolean {
  return line.includes(tool) && (subject === "" ? count === 1 : line.includes(subject));
}

/** Whether the range of one id covers that of another. */
function covers(outer: string, inner: string): boolean {
  const [wide, narrow] = [parseRecallId(outer), parseRecallId(inner)];
  return wide !== undefined && narrow !== undefined && wide.from <= narrow.from && narrow.to <= wide.to;
}
