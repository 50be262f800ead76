/** Delta: a result that repeats what stands in the window shows what is new, and says where the rest stands. */
import type { JsonValue, Message, ToolResultPart } from "../../message/message.ts";
import { ownText, resultMedia, toolCalls, toolResults, withOwnText } from "../../message/message.ts";
import { inlineName } from "../../message/quote.ts";
import { countPart, countResultOnce } from "../../tokens/counter.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { deltaPass, isStub } from "../edits.ts";
import { cutIn, recallId, stubsOf, subjectOf } from "../stub/stub.ts";
import type { Edit, Stub, ViewStep } from "../window.ts";

/** Least lines and tokens of a run that is not shown again; the line that says where it stands takes about twenty. */
const leastLines = 5;
const leastTokens = 40;
/** Least share of a result that is saved. */
const leastShare = 0.2;
/** Places of one line that are looked at, the newest of them. */
const mostPlaces = 24;

/** A text of a message. */
interface Text {
  /** A call's tool and argument, or "" for a result. */
  readonly name: string;
  readonly text: string;
  readonly about: Stub;
}

/** A text that stands in the window in full. */
interface Source extends Pick<Text, "name" | "about"> {
  readonly seq: number;
  readonly lines: readonly string[];
}

/** A stretch of a source. */
interface Run {
  readonly source: Source;
  /** Index of its first line. */
  readonly at: number;
  readonly count: number;
}

/** The deltas of a step's results, and what they add to the window's sums. */
export interface FoundDeltas {
  readonly edits: readonly Edit[];
  /** Tokens of the results up to here, and those of them that deltas would save. */
  readonly results: number;
  readonly saved: number;
}

/** The texts that stand in a window in full, and the deltas of results against them. */
export class Deltas {
  readonly #standing = new StandingLines();
  readonly #counter: TokenCounter;
  readonly #leastRepeated: number;
  readonly #cap: number;
  #results = 0;
  #saved = 0;

  /**
   * @param leastRepeated - share of the window's results that repeats before a repeat is shown as a delta
   * @param cap - most tokens that a result may have when it is first shown
   */
  constructor(counter: TokenCounter, leastRepeated: number, cap: number) {
    this.#cap = cap;
    this.#counter = counter;
    this.#leastRepeated = leastRepeated;
  }

  /**
   * Stub edits that show a step's results without what stands in the window before it. Applied when the step is first
   * shown, so no epoch opens. The same steps give the same edits.
   *
   * @param step - with its results whole
   */
  of(step: ViewStep): FoundDeltas {
    const edits: Edit[] = [];
    let [results, saved] = [this.#results, this.#saved];
    for (const { seq, message } of step.kind === "assistant" ? step.messages : []) {
      const result = onlyResult(message);
      if (!result) continue;
      const edit = deltaOf(seq, result, this.#standing, this.#counter);
      // A result above the cap may be an excerpt after a resume, so it does not count.
      if (countResultOnce(this.#counter, result) <= this.#cap) {
        results += textTokens(this.#counter, result);
        saved += edit ? edit.tokensBefore - edit.tokensAfter : 0;
      }
      if (edit && edit.tokensAfter <= this.#cap && saved >= this.#leastRepeated * results) edits.push(edit);
    }
    return { edits, results, saved };
  }

  /** Takes up a step as the window shows it, with what was found for it. */
  push(shown: ViewStep, { results, saved }: Pick<FoundDeltas, "results" | "saved">): void {
    this.#standing.push(shown);
    this.#results = results;
    this.#saved = saved;
  }
}

/** The lines of the texts that stand in a window in full: results and texts of calls, never labelled messages. */
class StandingLines {
  readonly #places = new Map<string, Pick<Run, "source" | "at">[]>();

  /** Takes up a step as the window shows it. */
  push(step: ViewStep): void {
    if (step.kind !== "assistant") return;
    const abouts = new Map(stubsOf(step.messages).map((about) => [about.id, about]));
    for (const numbered of step.messages) {
      for (const { name, text, about } of textsOf(numbered, abouts)) {
        const lines = text.split("\n");
        if (lines.length < leastLines) continue;
        const source = { seq: numbered.seq, name, about, lines };
        for (const [at, line] of lines.entries()) {
          const places = this.#places.get(line);
          if (places) places.push({ source, at });
          else this.#places.set(line, [{ source, at }]);
        }
      }
    }
  }

  /** The longest run of lines from `from` on that stands in one text, the newest of those that are as long. */
  longest(lines: readonly string[], from: number): Run | undefined {
    let best: Run | undefined;
    for (const { source, at } of (this.#places.get(lines[from] ?? "") ?? []).slice(-mostPlaces)) {
      let count = 0;
      const most = Math.min(lines.length - from, source.lines.length - at);
      while (count < most && source.lines[at + count] === lines[from + count]) count++;
      if (count >= (best?.count ?? 1)) best = { source, at, count };
    }
    return best;
  }
}

/** The texts of a message that a later result may repeat. A name that two texts of it share would name neither. */
function textsOf({ seq, message }: ViewStep["messages"][number], abouts: ReadonlyMap<string, Stub>): readonly Text[] {
  const found: Text[] = [];
  for (const call of toolCalls(message)) {
    const { name: tool, args } = call;
    if (typeof args !== "object" || args === null || cutIn(JSON.stringify(args), recallId(seq))) continue;
    const about = { tool: inlineName(tool), subject: subjectOf(args), id: recallId(seq), count: 1 };
    for (const [key, value] of Object.entries(args) as [string, JsonValue][]) {
      if (typeof value === "string" && isPlain(tool) && isPlain(key))
        found.push({ name: `${tool} ${key}`, text: value, about });
    }
  }
  const names = found.map(({ name }) => name);
  const single = found.filter(({ name }) => names.indexOf(name) === names.lastIndexOf(name));
  const result = onlyResult(message);
  const about = abouts.get(recallId(seq));
  return result && about ? [...single, { name: "", text: ownText(result) ?? "", about }] : single;
}

function isPlain(name: string): boolean {
  return inlineName(name) === name;
}

/** The result of a message that shows one, and that one whole; its text stands together, images and files beside it. */
function onlyResult(message: Message): ToolResultPart | undefined {
  const results = toolResults(message);
  const [result] = results;
  if (!result || results.length > 1 || message.status === "synthetic" || isStub(result)) return undefined;
  return hasOneText(result) ? result : undefined;
}

/** Whether no image stands between texts of a result: a delta has one place. */
function hasOneText({ content }: ToolResultPart): boolean {
  if (typeof content === "string") return true;
  const places = content.flatMap(({ type }, at) => (type === "text" ? [at] : []));
  const [first] = places;
  return first !== undefined ? places.every((at, index) => at === first + index) : content.length === 0;
}

/** Tokens of a result without its images and files. */
function textTokens(counter: TokenCounter, result: ToolResultPart): number {
  if (resultMedia(result).length === 0) return countResultOnce(counter, result);
  return countPart(counter, { ...result, content: ownText(result) ?? "" });
}

/** The beginning of a label, and its look-alikes: a result with one shows nothing that could be taken for a mark. */
const label = /[[\uFF3B\u3010\u3014\u27E6]\s*windrow/iu;

function deltaOf(
  seq: number,
  result: ToolResultPart,
  standing: StandingLines,
  counter: TokenCounter,
): Edit | undefined {
  const text = ownText(result) ?? "";
  const lines = text.split("\n");
  if (lines.length < leastLines || label.test(text)) return undefined;
  const shown: string[] = [];
  const sources = new Map<number, Source>();
  for (let from = 0; from < lines.length;) {
    const run = standing.longest(lines, from);
    if (!run || run.count < leastLines || !isLarge(lines.slice(from, from + run.count), counter)) {
      shown.push(lines[from] ?? "");
      from++;
      continue;
    }
    const { source, at, count } = run;
    const where = [recallId(source.seq), source.name, `lines ${at + 1}-${at + count}`].filter((word) => word !== "");
    shown.push(`[Windrow: lines ${from + 1}-${from + count} unchanged: ${where.join(" ")}]`);
    sources.set(source.seq, source);
    from += count;
  }
  if (sources.size === 0) return undefined;
  const fresh = shown.join("\n");
  const tokensBefore = countResultOnce(counter, result);
  const tokensAfter = countPart(counter, withOwnText(result, fresh));
  if (tokensBefore - tokensAfter < textTokens(counter, result) * leastShare) return undefined;
  return {
    kind: "stub",
    from: seq,
    to: seq,
    text: fresh,
    ...(resultMedia(result).length > 0 && { keepsMedia: true }),
    stubs: [...sources.values()].map(({ about }) => about),
    sources: [...sources.keys()],
    pass: deltaPass,
    reason: "what stands in the window is not shown again",
    tokensBefore,
    tokensAfter,
  };
}

function isLarge(lines: readonly string[], counter: TokenCounter): boolean {
  const text = lines.join("\n");
  return text.length >= leastTokens && counter.count(text) >= leastTokens;
}
