/**
 * Runs the benchmarks: all, or those named. A benchmark is a file of this folder that exports one function `bench…`
 * answering with rows, or with a {@link BenchReport}; a folder beside it is a group of them.
 *
 *   npm run bench                          every benchmark, as tables
 *   npm run bench -- tokens store/read     those two; `store` is every one of that folder
 *   npm run bench:store -- append read     those two of the folder `store`
 *   npm run --silent bench -- --json       one JSON document: { node, cpu, benches: [{ name, rows, note }] }
 */
import { readdirSync } from "node:fs";
import { cpus } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import Table from "cli-table3";
import type { BenchReport, BenchRow } from "./bench.ts";

type Bench = () => Promise<BenchReport | readonly BenchRow[]>;

const folder = new URL("./", import.meta.url);
const noBenches = [
  "main",
  "bench",
  "peer",
  "kit",
  "child",
  "tasks-kit",
  "append-kit",
  "driven",
  "frameworks",
  "agents",
  "apis",
];

const values = process.argv.slice(2);
const json = values.includes("--json");
const group = values.includes("--of") ? values[values.indexOf("--of") + 1] : undefined;
const prefix = group === undefined ? "" : `${group}/`;
const known = benchesIn("").filter((name) => name.startsWith(prefix));
const names = values
  .filter((value, index) => value !== "--json" && value !== "--of" && values[index - 1] !== "--of")
  .flatMap((value) => expand(`${prefix}${value}`));
const unknown = names.filter((name) => !known.includes(name));

if (unknown.length > 0) {
  console.error(`No benchmark is called ${unknown.join(", ")}. Known: ${known.join(", ")}; and --json.`);
  process.exitCode = 2;
} else {
  await run(names.length > 0 ? names : known);
}

/** The names of the benchmarks in a folder under this one, and in those under it. */
function benchesIn(under: string): readonly string[] {
  return readdirSync(fileURLToPath(new URL(under, folder)), { withFileTypes: true })
    .filter((entry) => !noBenches.includes(basename(entry.name, ".js")))
    .flatMap((entry) => {
      if (entry.isDirectory()) return benchesIn(`${under}${entry.name}/`);
      return entry.name.endsWith(".js") ? [`${under}${basename(entry.name, ".js")}`] : [];
    });
}

/** A name, or those of the group it names. */
function expand(name: string): readonly string[] {
  const members = known.filter((one) => one.startsWith(`${name}/`));
  return members.length > 0 ? members : [name];
}

async function run(wanted: readonly string[]): Promise<void> {
  const benches: BenchReport[] = [];
  for (const name of wanted) {
    console.error(`running ${name} …`);
    const report = await runOne(name);
    benches.push(report);
    if (!json) print(report);
  }
  if (json)
    console.log(JSON.stringify({ node: process.version, cpu: cpus()[0]?.model ?? "unknown", benches }, null, 2));
}

async function runOne(name: string): Promise<BenchReport> {
  const module = (await import(new URL(`${name}.js`, folder).href)) as Readonly<Record<string, unknown>>;
  const bench = Object.entries(module).find(([key, value]) => key.startsWith("bench") && typeof value === "function");
  if (!bench) throw new Error(`bench/${name}.ts exports no function whose name begins with "bench".`);
  const result = await (bench[1] as Bench)();
  return "rows" in result ? result : { name, rows: result };
}

function print({ name, rows, note }: BenchReport): void {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = new Table({ head: columns, style: { head: [], border: [] } });
  for (const row of rows) table.push(columns.map((column) => String(row[column] ?? "")));
  console.log(`\n${name}\n${table.toString()}`);
  if (note) console.log(note);
}
