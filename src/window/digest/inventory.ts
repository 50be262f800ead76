/** The inventory: messages that left the window, by tool, with counts, subjects, and the range that recall takes. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { inlineText } from "../../message/quote.ts";
import { isPath, nameLine, parseRecallId, recallId } from "../stub/stub.ts";
import type { Stub } from "../window.ts";

/** The mark for subjects that a line does not name. */
const others = "…";

interface ToolLine {
  readonly tool: string;
  /** All its stubs together. */
  readonly all: Extent;
  /** The newest call about each subject, the newest first. */
  readonly subjects: readonly Stub[];
  /** The other calls about the same subjects. */
  readonly rest: Extent;
  /** The extent of `rest` and the subjects from the n-th on, together; the last is `rest` alone. */
  readonly unnamed: readonly Extent[];
}

/** How much stubs stand for, and between which messages. */
interface Extent {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

const nothing: Extent = { from: Infinity, to: -Infinity, count: 0 };

/**
 * Messages that left the window, by tool, in the order of stubs. Of calls about one subject only the newest is kept, so
 * memory grows with the subjects and not with the calls.
 */
export class Inventory {
  readonly #tools = new Map<string, ToolStubs>();

  /** Takes the stub of something that left. */
  add(stub: Stub): void {
    let stubs = this.#tools.get(stub.tool);
    if (!stubs) this.#tools.set(stub.tool, (stubs = new ToolStubs()));
    stubs.add(stub, shortSubject(stub));
  }

  /**
   * One line a tool: its name, how many calls, their range, and what they were about, each with the id of the newest call
   * about it, the newest first, as far as `cap` tokens have room; the tools of the fewest calls share a line where there
   * is no room for one each.
   */
  render(counter: TokenCounter, cap: number): { readonly text: string; readonly stubs: readonly Stub[] } {
    const cost = (lines: readonly ToolLine[], named: number): number =>
      counter.count(lines.map((line) => shown(line, named).text).join("\n"));
    let lines: readonly ToolLine[] = [];
    for (const [tool, stubs] of this.#tools) {
      lines = [...lines, stubs.line(tool)];
    }
    while (lines.length > 2 && cost(lines, 1) > cap) {
      lines = withoutRarest(lines);
    }
    let named = 1;
    const most = lines.reduce((longest, { subjects }) => Math.max(longest, subjects.length), 1);
    while (named < most && cost(lines, named + 1) <= cap) {
      named++;
    }
    const rendered = lines.map((line) => shown(line, named));
    return { text: rendered.map(({ text }) => text).join("\n"), stubs: rendered.flatMap((line) => line.stubs) };
  }
}

/** The stubs of one tool. */
class ToolStubs {
  #all = nothing;
  #rest = nothing;
  readonly #newest = new Map<string, NamedStub>();

  add(stub: Stub, subject: string): void {
    const range = parseRecallId(stub.id) ?? nothing;
    const extent = { from: range.from, to: range.to, count: stub.count };
    const named = { stub, subject, extent, newest: Math.max(0, range.to) };
    this.#all = joined(this.#all, extent);
    const known = this.#newest.get(subject);
    if (subject === others || (known && known.newest >= named.newest)) {
      this.#rest = joined(this.#rest, extent);
      return;
    }
    if (known) {
      this.#rest = joined(this.#rest, known.extent);
      // Deleting first moves the subject to the end: among equals, the one added first comes first.
      this.#newest.delete(subject);
    }
    this.#newest.set(subject, named);
  }

  /** Takes calls about subjects that it has newer ones of. */
  addRest(extent: Extent): void {
    this.#all = joined(this.#all, extent);
    this.#rest = joined(this.#rest, extent);
  }

  line(tool: string): ToolLine {
    const newestFirst = [...this.#newest.values()].sort((left, right) => right.newest - left.newest);
    let extent = this.#rest;
    const unnamed = [extent];
    for (const named of newestFirst.toReversed()) unnamed.push((extent = joined(extent, named.extent)));
    const subjects = newestFirst.map(({ stub, subject }) => ({ ...stub, subject }));
    return { tool, all: this.#all, subjects, rest: this.#rest, unnamed: unnamed.reverse() };
  }
}

interface NamedStub {
  readonly stub: Stub;
  readonly subject: string;
  readonly extent: Extent;
  readonly newest: number;
}

function joined(left: Extent, right: Extent): Extent {
  return {
    from: Math.min(left.from, right.from),
    to: Math.max(left.to, right.to),
    count: left.count + right.count,
  };
}

/** The two tools with the fewest calls on one line, named by what they are. */
function withoutRarest(lines: readonly ToolLine[]): readonly ToolLine[] {
  const [first, second] = lines.toSorted((left, right) => left.all.count - right.all.count);
  if (!first || !second) return lines;
  const calls = new ToolStubs();
  for (const line of [first, second]) {
    if (line.tool === "calls") {
      for (const stub of line.subjects) calls.add(stub, stub.subject);
      calls.addRest(line.rest);
    } else calls.add(stubOf(line.all, "calls", line.tool), line.tool);
  }
  return [...lines.filter((line) => line !== first && line !== second), calls.line("calls")];
}

function shown(line: ToolLine, named: number): { readonly text: string; readonly stubs: readonly Stub[] } {
  const { tool, all, subjects, rest, unnamed } = line;
  const listed = subjects.slice(0, named);
  const left = unnamed[Math.min(named, subjects.length)] ?? nothing;
  const isAll = subjects.length <= named && rest.count === 0;
  const stubs = isAll ? listed : [...listed, stubOf(left, tool, others)];
  // A line of one call has its id before the colon; what is left over lies within the line's range.
  const about = stubs
    .filter(({ subject }) => subject !== "")
    .map(({ subject, id }) => (subject === others || all.count === 1 ? subject : `${subject} ${id}`));
  const { from, to } = parseRecallId(recallId(all.from, all.to)) ?? { from: 1, to: 1 };
  const head = `${nameLine(tool, "")} ${all.count > 1 ? `(${all.count}) ` : ""}${recallId(from, to)}`;
  const isBare = about.every((subject) => subject === others);
  return { text: isBare ? head : `${head}: ${about.join(", ")}`, stubs };
}

function stubOf({ from, to, count }: Extent, tool: string, subject: string): Stub {
  return { tool, subject, id: recallId(from, to), count };
}

/** A command's program, the first words of what else there is. Files have an index of their own. */
function shortSubject({ tool, subject }: Stub): string {
  if (subject === others || isPath(subject)) return others;
  if (tool === "user") return "messages";
  const words = subject.replace(/^cd \S+ (?:&&|;) /, "").split(" ");
  const start = words
    .slice(0, /^(?:git|npm|npx|yarn|pnpm|cargo|go|python3?|node|make|uv)$/.test(words[0] ?? "") ? 3 : 1)
    .join(" ");
  return inlineText(start);
}
