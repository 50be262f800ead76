/** What left the window, by tool: how often, what about, and the range that recall takes. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { isPath, parseRecallId, recallId } from "../stub.ts";
import type { Stub } from "../window.ts";

/** What a line does not name. */
const others = "…";

interface ToolLine {
  readonly tool: string;
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** The newest call about each subject, the newest first. */
  readonly subjects: readonly Stub[];
  readonly rest: readonly Stub[];
}

/**
 * One line a tool: its name, how many calls, their range, and what they were about, the newest first, as far as `cap`
 * tokens have room; the tools of the fewest calls share a line where there is no room for one each.
 */
export function renderInventory(
  stubs: readonly Stub[],
  counter: TokenCounter,
  cap: number,
): { readonly text: string; readonly stubs: readonly Stub[] } {
  const cost = (lines: readonly ToolLine[], named: number): number =>
    counter.count(lines.map((line) => shown(line, named).text).join("\n"));
  let lines = linesOf(stubs);
  while (lines.length > 2 && cost(lines, 1) > cap) lines = withoutRarest(lines);
  let named = 1;
  const most = lines.reduce((longest, { subjects }) => Math.max(longest, subjects.length), 1);
  while (named < most && cost(lines, named + 1) <= cap) named++;
  const rendered = lines.map((line) => shown(line, named));
  return { text: rendered.map(({ text }) => text).join("\n"), stubs: rendered.flatMap((line) => line.stubs) };
}

function linesOf(stubs: readonly Stub[]): readonly ToolLine[] {
  const tools = new Map<string, Stub[]>();
  for (const stub of stubs) {
    const known = tools.get(stub.tool);
    const named = { ...stub, subject: shortSubject(stub) };
    if (known) known.push(named);
    else tools.set(stub.tool, [named]);
  }
  return [...tools].map(([tool, named]) => lineOf(tool, named));
}

function lineOf(tool: string, subjects: readonly Stub[]): ToolLine {
  const all = together(subjects, tool, "");
  const newestFirst = subjects.toSorted((left, right) => newestIn(right) - newestIn(left));
  const seen = new Set<string>([others]);
  const first = newestFirst.filter(({ subject }) => !seen.has(subject) && seen.add(subject));
  const rest = newestFirst.filter((stub) => !first.includes(stub));
  return { tool, ...(parseRecallId(all.id) ?? { from: 1, to: 1 }), count: all.count, subjects: first, rest };
}

function newestIn({ id }: Stub): number {
  return parseRecallId(id)?.to ?? 0;
}

/** The two tools with the fewest calls on one line, named by what they are. */
function withoutRarest(lines: readonly ToolLine[]): readonly ToolLine[] {
  const [first, second] = lines.toSorted((left, right) => left.count - right.count);
  if (!first || !second) return lines;
  const subjects = [first, second].flatMap((line) => {
    const own = [...line.subjects, ...line.rest];
    return line.tool === "calls" ? own : [together(own, "calls", line.tool)];
  });
  const calls = lineOf("calls", subjects);
  return [...lines.filter((line) => line !== first && line !== second), calls];
}

function shown(line: ToolLine, named: number): { readonly text: string; readonly stubs: readonly Stub[] } {
  const { tool, from, to, count, subjects } = line;
  const listed = subjects.slice(0, named);
  const rest = [...subjects.slice(named), ...line.rest];
  const stubs = rest.length === 0 ? listed : [...listed, together(rest, tool, others)];
  const about = stubs.map(({ subject }) => subject).filter((subject) => subject !== "");
  const head = `${tool} ${count > 1 ? `(${count}) ` : ""}${recallId(from, to)}`;
  return { text: about.length === 0 ? head : `${head}: ${about.join(", ")}`, stubs };
}

function together(stubs: readonly Stub[], tool: string, subject: string): Stub {
  const ranges = stubs.flatMap(({ id }) => parseRecallId(id) ?? []);
  const id = recallId(Math.min(...ranges.map(({ from }) => from)), Math.max(...ranges.map(({ to }) => to)));
  return { tool, subject, id, count: stubs.reduce((sum, { count }) => sum + count, 0) };
}

/** A path's last part, a command's program, the first words of what else there is. */
function shortSubject({ tool, subject }: Stub): string {
  if (subject === others) return others;
  if (tool === "user") return "messages";
  if (isPath(subject))
    return (
      subject
        .replace(/[\\/]+$/, "")
        .split(/[\\/]/)
        .at(-1) ?? subject
    );
  const words = subject.replace(/^cd \S+ (?:&&|;) /, "").split(" ");
  return words
    .slice(0, /^(?:git|npm|npx|yarn|pnpm|cargo|go|python3?|node|make|uv)$/.test(words[0] ?? "") ? 3 : 1)
    .join(" ");
}
