/**
 * The mask: how fast, how much it finds, how much it changes that is no secret. Times are the process's own (CPU), so that
 * a busy machine does not show in them. Accuracy is measured on labelled corpora and real sessions, where they are.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { createMask, maskText } from "../src/mask/mask.ts";
import type { Mask } from "../src/mask/mask.ts";
import type { BenchReport, BenchRow } from "./bench.ts";

const corpora = "../shared/data/open";
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
  const worst = worstInput(withEmail);
  rows.push(row(`worst of ${worst.inputs} inputs of 200 KB, ms (${worst.name})`, worst.ms, "≤ 50"));
  rows.push(...accuracy(mask));
  return { name: "mask", rows, note: "Times are of the CPU. Goals: issue text and docs/masks.md." };
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

/** Each rule's keyword, over and over and before long runs, with what its expressions might go astray in. */
function worstInput(mask: Mask): { readonly ms: number; readonly name: string; readonly inputs: number } {
  const fillers = ["", "a", "-", '="', "1", " ", ':"a1b2c3', "@a.", "eyJ"];
  let worst = { ms: 0, name: "" };
  let inputs = 0;
  const measure = (name: string, text: string): void => {
    inputs += 1;
    const ms = Math.min(...[1, 2].map(() => milliseconds(() => void maskText(mask, text))));
    if (ms > worst.ms) worst = { ms, name };
  };
  for (const coloured of ["\u001b[3m", "\u001b[3ma@b.co", "\u001b[3mghp_"]) {
    measure(`${JSON.stringify(coloured)} repeated`, coloured.repeat(longRun / coloured.length));
  }
  for (const { keywords } of mask.rules) {
    const [keyword = ""] = keywords;
    for (const filler of fillers) {
      const piece = keyword + filler;
      measure(`${JSON.stringify(piece)} repeated`, piece.repeat(longRun / piece.length));
    }
    for (const run of ["a", "A1b2"])
      measure(`${keyword} and a run of ${run}`, keyword + run.repeat(longRun / run.length));
  }
  return { ...worst, inputs };
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

interface Case {
  readonly text: string;
  readonly secrets: readonly string[];
  readonly kind: string;
}

function accuracy(mask: Mask): readonly BenchRow[] {
  const [secretlint, gitleaks] = ["secrets-secretlint", "secrets-gitleaks"].map((name) =>
    read(`${corpora}/${name}/cases.jsonl.gz`).map((line) => JSON.parse(line) as Case),
  );
  if (!secretlint?.length || !gitleaks?.length) {
    console.error(`skipped: the labelled corpora are not in ${corpora}`);
    return [];
  }
  const isTouched = ({ text }: Case): boolean => maskText(mask, text).masks.length > 0;
  const labels = secretlint.flatMap(({ text, secrets, kind }) =>
    kind === "negative" ? [] : secrets.map((secret) => !maskText(mask, text).text.includes(secret)),
  );
  const positives = gitleaks.filter(({ kind }) => kind !== "negative").map(isTouched);
  const negatives = [...secretlint, ...gitleaks].filter(({ kind }) => kind === "negative").map(isTouched);
  const real = changesInSessions(mask);
  return [
    row("secretlint's labelled secrets hidden", share(labels), "≥ 95 %"),
    row("gitleaks' positives found", share(positives), "≥ 85 %"),
    row("negatives of both touched", share(negatives), "≤ 5 %"),
    row(
      `changes in ${(real.tokens / 1e6).toFixed(1)} million tokens of real sessions, a million`,
      (1e6 * real.changes) / real.tokens,
      "≤ 5",
    ),
  ];
}

function share(values: readonly boolean[]): string {
  const yes = values.filter(Boolean).length;
  return `${((100 * yes) / values.length).toFixed(1)} % (${yes} of ${values.length})`;
}

/** Every change in a real session counts as false, as nobody labelled them; tokens are characters by four. */
function changesInSessions(mask: Mask): { readonly changes: number; readonly tokens: number } {
  let [changes, characters] = [0, 0];
  const look = (value: unknown): void => {
    if (typeof value === "string") {
      characters += value.length;
      changes += maskText(mask, value).masks.length;
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(look);
  };
  for (const folder of readdirSync(corpora)) {
    if (folder.startsWith("secrets-")) continue;
    for (const file of readdirSync(`${corpora}/${folder}`)) {
      if (!/\.jsonl(?:\.gz)?$/.test(file)) continue;
      for (const line of read(`${corpora}/${folder}/${file}`)) look(parsed(line));
    }
  }
  return { changes, tokens: characters / 4 };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

function read(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const bytes = readFileSync(file);
  const text = file.endsWith(".gz") ? gunzipSync(bytes) : bytes;
  return text
    .toString("utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
}
