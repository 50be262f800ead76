/**
 * The mask: how fast, how much it finds, how much it changes that is no secret. Times are the process's own (CPU), so that
 * a busy machine does not show in them. Accuracy is measured on labelled corpora and real sessions, where they are.
 */
import { createMask } from "../src/mask/mask.ts";
import { maskText } from "../src/mask/text.ts";
import type { Mask } from "../src/mask/mask.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { accuracy } from "./mask/kit.ts";

const longText = 1_000_000;
const longRun = 200_000;

/** Measures the mask. */
export async function benchMask(): Promise<BenchReport> {
  const mask = createMask();
  const withEmail = createMask({ email: true });
  const output = toolOutput(longText);
  for (let warm = 0; warm < 5; warm++) for (const one of [mask, withEmail]) maskText(one, output);
  const rows: BenchRow[] = [
    row("1 MB of tool output, MB/s", speed(mask, output), "≥ 15"),
    row("the same with e-mail, MB/s", speed(withEmail, output), "≥ 15"),
    row("10 MB of it, MB/s", speed(mask, output.repeat(10)), "as 1 MB"),
    row("1 KB without a secret, µs", benign(mask, output.slice(longText / 2, longText / 2 + 1_024)), "≤ 20"),
  ];
  rows.push(...worstRows(withEmail), ...accuracy(mask));
  return {
    name: "mask",
    rows,
    note: "Times are of the CPU. WINDROW_BENCH_LIST=1 prints every change in real sessions, and what is missed.",
  };
}

function row(what: string, value: number | string, goal: string): BenchRow {
  return { what, value: typeof value === "number" ? Math.round(value * 1_000) / 1_000 : value, goal };
}

function milliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The best of five, in megabytes a second. */
function speed(mask: Mask, text: string): number {
  const times = Array.from({ length: 5 }, () => milliseconds(() => void maskText(mask, text)));
  return text.length / 1_000 / Math.min(...times);
}

function benign(mask: Mask, text: string): number {
  const times = 10_000;
  const all = milliseconds(() => {
    for (let index = 0; index < times; index++) maskText(mask, text);
  });
  return (1_000 * all) / times;
}

/** A text that may be slow, as long as it is asked for. */
interface Input {
  readonly name: string;
  readonly text: (length: number) => string;
}

/** Every rule's every keyword, over and over with what its expressions might go astray in, and before long runs. */
function hostileInputs(mask: Mask): readonly Input[] {
  const fillers = ["", "a", "-", " ", "\n", "\\", '="', "=a1b2c3 ", ': "a1B2c3d4",\n', "|", "/", "u:p@h", "@a.", "eyJ"];
  const runs = ["a", "A1b2", " ", "\\", '"', "="];
  const repeated = (piece: string): Input => ({
    name: `${JSON.stringify(piece)} repeated`,
    text: (length) => piece.repeat(length / piece.length),
  });
  const tokens = `eyJ${"a".repeat(20)}.eyJ${"a".repeat(16)}.passwo`;
  const others = [tokens, "\u001b[3m", "\u001b[3ma@b.co", "\u001b[3mghp_"].map(repeated);
  const keywords = new Set(mask.rules.flatMap((rule) => rule.keywords));
  const ofRules = [...keywords].flatMap((keyword) => [
    ...fillers.map((filler) => repeated(keyword + filler)),
    ...runs.map((run) => ({
      name: `${JSON.stringify(keyword)} and a run of ${JSON.stringify(run)}`,
      text: (length: number) => keyword + run.repeat(length / run.length),
    })),
  ]);
  return [...others, ...ofRules];
}

/** The slowest input of 20 KB and of 200 KB, and what ten times the length costs at most. */
function worstRows(mask: Mask): readonly BenchRow[] {
  const time = (text: string, times: number): number =>
    Math.min(...Array.from({ length: times }, () => milliseconds(() => void maskText(mask, text))));
  const inputs = hostileInputs(mask);
  const first = inputs.map((input) => ({ input, ms: time(input.text(longRun / 10), 1) }));
  const slowest = first.sort((a, b) => b.ms - a.ms).slice(0, 60);
  const measured = slowest.map(({ input }) => {
    const [short, long] = [time(input.text(longRun / 10), 5), time(input.text(longRun), 3)];
    return { name: input.name, short, long, growth: long / short };
  });
  measured.sort((a, b) => b.long - a.long);
  if (process.env["WINDROW_BENCH_LIST"] === "1") console.table(measured);
  const [worst] = measured;
  if (!worst) return [];
  return [
    row(`worst of ${inputs.length} inputs of 200 KB, ms (${worst.name})`, worst.long, "≤ 100"),
    row("its first 20 KB, ms", worst.short, ""),
    row("most that ten times the length costs, times", Math.max(...measured.map(({ growth }) => growth)), "≈ 10"),
  ];
}

/** A megabyte like what tools print: code, rows of JSON, logs, hashes, other scripts. */
function toolOutput(length: number): string {
  const lines = Array.from({ length: 500 }, (_, index) => {
    const hash = (index * 2_654_435_761).toString(16).padStart(12, "0");
    return [
      `  const token${index} = await readToken(options.path, { encoding: "utf8", retries: ${index} });`,
      `{"id": ${index}, "name": "item-${index}", "sha": "${hash.repeat(3)}", "ok": true, "tags": ["a", "b"]}`,
      `2024-01-15T10:30:${String(index % 60).padStart(2, "0")}Z INFO worker[${index}]: GET /api/v1/items/${index} 200 in ${index} ms`,
      `+  "node_modules/@scope/pkg-${index}": { "version": "1.${index}.2", "integrity": "sha512-${hash.repeat(6)}==" },`,
      `<div class="task-list-item" id="n${index}"><a href="https://example.com/p/${index}?q=a@2x">リンク ${index}</a></div>`,
    ].join("\n");
  }).join("\n");
  return lines.repeat(Math.ceil(length / lines.length)).slice(0, length);
}
