/**
 * `windrow replay` of a folder of transcripts, by the built command: bytes a second, and the most memory. The transcripts
 * are the long open sessions, copied until they have the size. The floor reads and parses the same lines and does no more.
 *
 *   npm run bench -- replay                100 MB
 *   REPLAY_MB=100,1000 npm run bench -- replay
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { goalRow } from "./bench.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { loadNote } from "./kit.ts";
import { inFolder } from "./store/kit.ts";

const open = ["../shared/data/open/long-sessions", "../shared/data/open/pi-sessions"];
const command = "dist/cli.js";
const sizes = (process.env["REPLAY_MB"] ?? "100").split(",").map(Number);

/** A row a size. */
export async function benchReplay(): Promise<BenchReport> {
  if (!open.every((folder) => existsSync(folder)) || !existsSync(command)) {
    return { name: "replay", rows: [], note: "Left out: the open sessions and `npm run build` are needed." };
  }
  const rows: BenchRow[] = [];
  for (const megabytes of sizes) rows.push(...(await inFolder((folder) => measured(folder, megabytes))));
  const note = `Three strategies at the budget of each session's model; ${availableParallelism()} threads. ${loadNote()}`;
  return { name: "replay", rows, note };
}

async function measured(folder: string, megabytes: number): Promise<readonly BenchRow[]> {
  const { files, bytes } = fill(folder, megabytes * 1e6);
  const size = bytes / 1e6;
  const begun = performance.now();
  const peak = await replayed(join(folder, "copies"));
  const seconds = (performance.now() - begun) / 1e3;
  const floor = size / parsed(join(folder, "copies"));
  const rate = size / seconds;
  return [
    {
      "MB": Math.round(size),
      files,
      "seconds": Number(seconds.toFixed(1)),
      "MB/s": Number(rate.toFixed(1)),
      "reading and parsing alone, MB/s": Number(floor.toFixed(1)),
      "most memory MB": peak,
    },
    goalRow(`${megabytes} MB: MB/s`, rate, { atLeast: 30 }),
    goalRow(`${megabytes} MB: most memory, MB`, peak, { atMost: 300 }),
  ];
}

/** Copies of the open sessions, of at least so many bytes together. */
function fill(folder: string, wanted: number): { readonly files: number; readonly bytes: number } {
  const originals = open.flatMap((from) =>
    readdirSync(from)
      .filter((name) => name.endsWith(".raw.jsonl.gz"))
      .map((name) => {
        const path = join(folder, name.replace(/\.gz$/, ""));
        writeFileSync(path, gunzipSync(readFileSync(join(from, name))));
        return { path, name: name.replace(/\.gz$/, "") };
      }),
  );
  const copies = join(folder, "copies");
  mkdirSync(copies);
  let [bytes, files] = [0, 0];
  for (; bytes < wanted; files += 1) {
    const { path, name } = originals[files % originals.length]!;
    linkSync(path, join(copies, `${files}-${name}`));
    bytes += statSync(path).size;
  }
  return { files, bytes };
}

/** Replays a folder; gives the most memory that the process had, in MB. */
async function replayed(folder: string): Promise<number> {
  const child = spawn(process.execPath, [command, "replay", folder, "--json"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  let peak = 0;
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // The process has ended, or this is no Linux: the figure is what was seen.
    }
  }, 100);
  const [code] = (await once(child, "exit")) as [number | null];
  clearInterval(look);
  if (code !== 0) throw new Error(`windrow replay ended with ${code}.`);
  return Math.round(peak / 1_024);
}

/** Seconds of reading and parsing every line in one thread. */
function parsed(folder: string): number {
  const begun = performance.now();
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n")) if (line !== "") JSON.parse(line);
  }
  return (performance.now() - begun) / 1e3;
}
