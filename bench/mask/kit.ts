/** How much the mask finds, and how much it changes that is no secret: labelled corpora, outputs, shapes, real sessions. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Mask } from "../../src/mask/mask.ts";
import { maskText } from "../../src/mask/text.ts";
import { alphabets, harshValues, randomValues, shapes } from "../../test/mask/shapes.ts";
import { harmlessOutputs, isHidden, leakingOutputs, seeded } from "../../test/mask/tool-outputs.ts";
import type { ToolOutput } from "../../test/mask/tool-outputs.ts";
import type { BenchRow } from "../bench.ts";

const corpora = "../shared/data/open";
const isListing = process.env["WINDROW_BENCH_LIST"] === "1";

interface Case {
  readonly text: string;
  readonly secrets: readonly string[];
  readonly kind: string;
}

/** All rows of accuracy. */
export function accuracy(mask: Mask): readonly BenchRow[] {
  return [...corpusRows(mask), ...outputRows(mask), ...shapeRows(mask), ...sessionRows(mask)];
}

function row(what: string, value: string, goal: string): BenchRow {
  return { what, value, goal };
}

function corpusRows(mask: Mask): readonly BenchRow[] {
  const names = ["secretlint", "gitleaks", "leaky-repo"];
  const [secretlint = [], gitleaks = [], leaky = []] = names.map((name) =>
    read(`${corpora}/secrets-${name}/cases.jsonl.gz`).map((line) => JSON.parse(line) as Case),
  );
  if (secretlint.length === 0) {
    console.error(`skipped: the labelled corpora are not in ${corpora}`);
    return [];
  }
  const isNegative = ({ kind }: Case): boolean => kind === "negative";
  const isTouched = ({ text }: Case): boolean => maskText(mask, text).masks.length > 0;
  const touched = (cases: readonly Case[], negative: boolean): string =>
    share(cases.filter((one) => isNegative(one) === negative).map(isTouched));
  const values = secretlint
    .filter((one) => !isNegative(one))
    .flatMap(({ text, secrets }) => secrets.map((secret) => !maskText(mask, text).text.includes(secret)));
  return [
    row("secretlint: values hidden", share(values), "≥ 95 %"),
    row("secretlint: positives touched", touched(secretlint, false), ""),
    row("secretlint: negatives touched", touched(secretlint, true), ""),
    row("gitleaks: positives touched", touched(gitleaks, false), "≥ 95 %"),
    row("gitleaks: negatives touched", touched(gitleaks, true), "≤ 5 %"),
    row("leaky-repo: positives touched", touched(leaky, false), "≥ 80 %"),
    row("leaky-repo: negatives touched", touched(leaky, true), "0 %"),
  ];
}

function outputRows(mask: Mask): readonly BenchRow[] {
  const hidden = (outputs: readonly ToolOutput[]): string =>
    share(
      outputs.flatMap(({ name, text, secrets }) => {
        const clean = maskText(mask, text).text;
        const list = secrets.map((secret) => isHidden(clean, secret));
        if (isListing && list.includes(false)) console.log(`missed in ${name}:\n${clean}\n`);
        return list;
      }),
    );
  const outputs = leakingOutputs(1);
  const harmless = harmlessOutputs(1).map(({ text }) => maskText(mask, text).masks.length > 0);
  return [
    row("outputs of tools: values hidden", hidden(outputs.filter((_one, index) => index % 3 !== 2)), "≥ 85 %"),
    row("outputs of tools held out: values hidden", hidden(outputs.filter((_one, index) => index % 3 === 2)), "≥ 85 %"),
    row("outputs without a secret: touched", share(harmless), "≤ 5 %"),
  ];
}

function shapeRows(mask: Mask): readonly BenchRow[] {
  return shapes.map((shape) => {
    const counts = alphabets.map((alphabet) => {
      const values = randomValues(alphabet, 100, seeded(7)).map((value) => shape.written?.(value) ?? value);
      return values.filter((value) => isHidden(maskText(mask, shape.text(value)).text, value)).length;
    });
    const harsh = harshValues(100, seeded(5)).map((value) => shape.written?.(value) ?? value);
    counts.push(harsh.filter((value) => isHidden(maskText(mask, shape.text(value)).text, value)).length);
    return row(`% hidden: ${shape.name} (last: signs anywhere)`, counts.join(" "), "≥ 98 each");
  });
}

/** Every change in a real session counts as false, as nobody labelled them; tokens are characters by four. */
function sessionRows(mask: Mask): readonly BenchRow[] {
  if (!existsSync(corpora)) return [];
  let [changes, characters] = [0, 0];
  const look = (value: unknown): void => {
    if (typeof value === "string") {
      characters += value.length;
      const { masks } = maskText(mask, value);
      changes += masks.length;
      if (isListing)
        for (const { kind, start, length } of masks)
          console.log(`${kind}: ${JSON.stringify(value.slice(Math.max(0, start - 60), start + length + 10))}`);
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(look);
  };
  for (const folder of readdirSync(corpora)) {
    if (folder.startsWith("secrets-")) continue;
    for (const file of readdirSync(`${corpora}/${folder}`)) {
      if (/\.jsonl(?:\.gz)?$/.test(file)) for (const line of read(`${corpora}/${folder}/${file}`)) look(parsed(line));
      else if (/\.(?:json|md)\.gz$/.test(file)) look(read(`${corpora}/${folder}/${file}`).join("\n"));
    }
  }
  const tokens = characters / 4e6;
  const what = `changes in ${tokens.toFixed(1)} million tokens of real sessions, a million (${changes} in all)`;
  return [row(what, (changes / tokens).toFixed(2), "≤ 2")];
}

function share(values: readonly boolean[]): string {
  const yes = values.filter(Boolean).length;
  return `${((100 * yes) / values.length).toFixed(1)} % (${yes} of ${values.length})`;
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
