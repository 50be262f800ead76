/**
 * How long the built package takes to start: processes from spawn to exit, beside a bare `node -e 0` of the same round.
 * The AI SDK is imported in turn with Windrow.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BenchReport } from "./bench.ts";
import { goalText, median } from "./bench.ts";
import { installedPeer } from "./peer.ts";

/** The release of the AI SDK that Windrow is measured beside. */
const peer = "ai@6.0.326";

/** Processes of each subject; the figures are medians over them. */
const rounds = 20;

interface Subject {
  readonly name: string;
  readonly values: readonly string[];
  /** The most milliseconds above the bare process. */
  readonly goal?: number;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const command = join(root, "dist/cli.js");

/**
 * Starts each subject in turn, twenty times. Build first (`npm run build`). Installs `ai` into a folder of the system's
 * temporary directory the first time.
 */
export async function benchImport(): Promise<BenchReport> {
  if (!existsSync(command)) throw new Error("There is no dist: run `npm run build` first.");
  const folder = mkdtempSync(join(tmpdir(), "windrow-bench-import-"));
  try {
    const store = join(folder, "contexts");
    start([command, "import", join(root, "fixtures/demo-session.jsonl"), "--store", store]);
    const subjects: readonly Subject[] = [
      { name: "node -e 0", values: ["-e", "0"] },
      { name: 'import "windrow"', values: importing(pathToFileURL(join(root, "dist/index.js")).href), goal: 30 },
      { name: "windrow --version", values: [command, "--version"], goal: 50 },
      { name: "windrow complete -- view --l", values: [command, "complete", "--", "view", "--l"], goal: 60 },
      { name: "windrow view latest", values: [command, "view", "latest", "--store", store], goal: 120 },
      { name: `import "${peer}"`, values: importing(installedPeer([peer], `export * from "ai";\n`)) },
    ];
    return { name: "import", rows: rowsOf(subjects), note: note() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function rowsOf(subjects: readonly Subject[]): BenchReport["rows"] {
  const samples = subjects.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [place, { values }] of subjects.entries()) samples[place]?.push(start(values));
  }
  const bare = median(samples[0] ?? []);
  return subjects.map(({ name, goal }, place) => {
    const taken = median(samples[place] ?? []);
    return {
      "process": name,
      "ms": taken.toFixed(1),
      "above node": place === 0 ? "" : (taken - bare).toFixed(1),
      "goal": goal === undefined ? "" : goalText(taken - bare, { atMost: goal }),
    };
  });
}

function importing(url: string): readonly string[] {
  return ["--input-type=module", "-e", `import ${JSON.stringify(url)}`];
}

/** Milliseconds from the start of a process to its end. */
function start(values: readonly string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, values, { encoding: "utf8" });
  if (status !== 0) throw new Error(`node ${values.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - started;
}

function note(): string {
  const script = join(root, "scripts/loaded-packages.mjs");
  const url = pathToFileURL(join(root, "dist/index.js")).href;
  const { stdout } = spawnSync(process.execPath, [script, url], { encoding: "utf8" });
  const { packages, files } = JSON.parse(stdout) as { readonly packages: readonly string[]; readonly files: number };
  return `medians over ${rounds} processes, in turn; importing windrow loads ${files} files and ${packages.length} packages`;
}
