/** What importing Windrow costs, beside the AI SDK: time and memory of cold processes, and the packages each loads. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchReport } from "./bench.ts";
import { median } from "./bench.ts";
import { installedPeer } from "./peer.ts";

/** The release of the AI SDK that Windrow is measured beside. */
const peer = "ai@6.0.326";

/** Cold processes a subject is imported in; the figures are medians over them. */
const processes = 7;

interface Subject {
  readonly name: string;
  readonly url: string;
}

interface Sample {
  readonly milliseconds: number;
  readonly megabytes: number;
}

/**
 * Imports `windrow` and `ai` in turn, each time in a process of its own. Installs `ai` into a folder of the system's
 * temporary directory the first time.
 */
export async function benchImport(): Promise<BenchReport> {
  const subjects: Subject[] = [
    { name: "windrow", url: new URL("../src/index.js", import.meta.url).href },
    { name: peer, url: installedPeer([peer], `export * from "ai";\n`) },
  ];
  const samples = new Map<string, Sample[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < processes; round++) {
    for (const { name, url } of subjects) samples.get(name)?.push(importOnce(url));
  }
  const rows = subjects.map(({ name, url }) => {
    const taken = samples.get(name) ?? [];
    const loaded = loadedBy(url);
    return {
      "import of": name,
      "ms": Number(median(taken.map((sample) => sample.milliseconds)).toFixed(1)),
      "MB": Number(median(taken.map((sample) => sample.megabytes)).toFixed(1)),
      "packages": loaded.packages.length,
      "files": loaded.files,
    };
  });
  return {
    name: "import",
    rows,
    note: `medians over ${processes} cold processes; MB is the growth of resident memory`,
  };
}

function importOnce(url: string): Sample {
  const code = `
    const before = process.memoryUsage.rss();
    const started = performance.now();
    await import(${JSON.stringify(url)});
    const milliseconds = performance.now() - started;
    console.log(JSON.stringify({ milliseconds, megabytes: (process.memoryUsage.rss() - before) / 1e6 }));
  `;
  return JSON.parse(node("--input-type=module", "-e", code)) as Sample;
}

function loadedBy(url: string): { readonly packages: readonly string[]; readonly files: number } {
  const script = fileURLToPath(new URL("../../scripts/loaded-packages.mjs", import.meta.url));
  return JSON.parse(node(script, url)) as { packages: string[]; files: number };
}

function node(...values: readonly string[]): string {
  return execFileSync(process.execPath, values, { encoding: "utf8" });
}
