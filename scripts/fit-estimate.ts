/**
 * Fits the weights of `estimate` to o200k and measures them on text they were not fitted to.
 *
 *     npx tsc -p tsconfig.bench.json && node dist-bench/scripts/fit-estimate.js [FOLDER…]
 *
 * Each FOLDER is a root that scripts/fit-corpus.ts looks under; the default is this folder and `/`. Prints the error
 * by kind for two splits (every other message, every other file), then the table that stands in src/tokens/weights.json,
 * fitted on everything.
 */
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";
import { featureCount, featureRows, measure } from "../src/tokens/features.ts";
import { corpus } from "./fit-corpus.ts";
import type { Sample } from "./fit-corpus.ts";

interface Case extends Sample {
  readonly tokens: number;
  readonly features: Float64Array;
}

/** The weights that minimise the relative error over the cases, each kind of text counting the same; none negative. */
export function fitWeights(cases: readonly Case[]): Float64Array {
  const sizes = new Map<string, number>();
  for (const { kind } of cases) sizes.set(kind, (sizes.get(kind) ?? 0) + 1);
  const weights = new Float64Array(featureCount).fill(0.3);
  const trust = new Float64Array(cases.length).fill(1);
  for (let round = 0; round < 4; round++) {
    solve(cases, (one, index) => trust[index]! / Math.sqrt(Math.max(6, sizes.get(one.kind)!)), weights);
    // Messages far off weigh less in the next round, so that a few odd files do not bend the rest.
    for (const [index, one] of cases.entries()) trust[index] = Math.max(0.04, Math.abs(errorOf(one, weights))) ** -0.5;
  }
  return weights;
}

/** Non-negative least squares by coordinate descent on the normal equations, with a small ridge. */
function solve(cases: readonly Case[], weightOf: (one: Case, index: number) => number, weights: Float64Array): void {
  const products = Array.from({ length: featureCount }, () => new Float64Array(featureCount));
  const targets = new Float64Array(featureCount);
  for (const [index, one] of cases.entries()) {
    const weight = weightOf(one, index);
    const present = [...one.features.keys()].filter((feature) => one.features[feature]! > 0);
    for (const feature of present) {
      const share = (one.features[feature]! / one.tokens) * weight;
      targets[feature]! += share * weight;
      for (const other of present) products[feature]![other]! += share * (one.features[other]! / one.tokens) * weight;
    }
  }
  for (const [feature, row] of products.entries()) row[feature] = row[feature]! * 1.0001 + 1e-6;
  for (let step = 0; step < 3_000; step++) {
    let change = 0;
    for (const [feature, row] of products.entries()) {
      let gradient = targets[feature]!;
      for (let other = 0; other < featureCount; other++) gradient -= row[other]! * weights[other]!;
      const moved = Math.max(0, weights[feature]! + gradient / row[feature]!);
      change = Math.max(change, Math.abs(moved - weights[feature]!));
      weights[feature] = moved;
    }
    if (change < 1e-5) return;
  }
}

function errorOf(one: Case, weights: Float64Array): number {
  return one.features.reduce((total, count, feature) => total + count * weights[feature]!, 0) / one.tokens - 1;
}

function report(label: string, cases: readonly Case[], weights: Float64Array): void {
  const kinds = new Map<string, number[]>();
  for (const one of cases) kinds.set(one.kind, [...(kinds.get(one.kind) ?? []), errorOf(one, weights)]);
  const summary = (errors: readonly number[]): string => {
    const sizes = errors.map(Math.abs).toSorted((a, b) => a - b);
    const mean = sizes.reduce((a, b) => a + b, 0) / sizes.length;
    const bias = errors.reduce((a, b) => a + b, 0) / errors.length;
    const worst = sizes[Math.floor((sizes.length - 1) * 0.95)] ?? 0;
    return [bias, mean, worst].map((value) => `${(value * 100).toFixed(1)} %`.padStart(9)).join("");
  };
  console.log(`\n${label.padEnd(30)}   signed     mean      p95  messages`);
  for (const [kind, errors] of kinds)
    console.log(kind.padEnd(30) + summary(errors) + String(errors.length).padStart(10));
  console.log("all".padEnd(30) + summary([...kinds.values()].flat()) + String(cases.length).padStart(10));
}

/** Which half of its kind a case falls into, by a key: the keys of a kind take turns. */
function alternate(cases: readonly Case[], keyOf: (one: Case, index: number) => string): ReadonlyMap<Case, boolean> {
  const seen = new Map<string, Map<string, number>>();
  const halves = new Map<Case, boolean>();
  for (const [index, one] of cases.entries()) {
    const keys = seen.get(one.kind) ?? new Map<string, number>();
    const key = keyOf(one, index);
    if (!keys.has(key)) keys.set(key, keys.size);
    seen.set(one.kind, keys);
    halves.set(one, keys.get(key)! % 2 === 0);
  }
  return halves;
}

function measureSplit(label: string, cases: readonly Case[], training: (one: Case) => boolean): void {
  const weights = fitWeights(cases.filter(training));
  report(
    label,
    cases.filter((one) => !training(one)),
    weights,
  );
}

function table(weights: Float64Array): string {
  let at = 0;
  const lines = featureRows.map(([row, columns]) => {
    const values = [...weights.slice(at, (at += columns.length))].map((value) => Number(value.toFixed(3)));
    return `  ${JSON.stringify(row)}: [${values.join(", ")}]`;
  });
  return `{\n${lines.join(",\n")}\n}`;
}

setMergeCacheSize(0);
const roots = process.argv.slice(2);
const cases = corpus(roots.length > 0 ? roots : [".", "/"]).map((sample): Case => {
  const features = new Float64Array(featureCount);
  measure(sample.text, features);
  return { ...sample, tokens: countTokens(sample.text, { disallowedSpecial: new Set() }), features };
});
const byMessage = alternate(cases, (_, index) => String(index));
measureSplit("held out: every other message", cases, (one) => byMessage.get(one)!);
// One declaration is all there is of some scripts: held out whole, it would measure a script never seen.
const byFile = alternate(cases, (one) => one.source);
measureSplit("held out: every other file", cases, (one) => byFile.get(one)! || one.source.includes("declaration/"));
console.log(`\nfitted on all ${cases.length} messages:\n${table(fitWeights(cases))}`);
