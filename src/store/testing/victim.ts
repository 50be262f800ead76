/** A process of the crash cases, started to be killed. */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

/** A process that is to be killed, and what it said. */
export interface Victim {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Whole lines so far. */
  lines(): readonly string[];
  /** Waits for so many lines that begin so. */
  until(beginning: string, count?: number): Promise<void>;
  /** Waits for one more line, and fails with what the process complained of where it ended instead. */
  assertAlive(): Promise<void>;
  kill(): Promise<void>;
}

/** Starts a process of crash-child.ts. @param given - its arguments */
export function startVictim(...given: readonly string[]): Victim {
  const script = fileURLToPath(new URL("./crash-child.js", import.meta.url));
  const child = spawn(process.execPath, [script, ...given], { stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(child, "close");
  let said = "";
  let complaints = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
    process.stderr.write(text);
  });
  const more = async (): Promise<void> => {
    if (child.exitCode !== null) throw new Error(`the process ended with ${child.exitCode}: ${complaints || said}`);
    await Promise.race([once(child.stdout, "data"), closed]);
  };
  child.stdin.on("error", () => undefined);
  const lines = (): readonly string[] => said.split("\n").slice(0, -1);
  return {
    child,
    lines,
    async until(beginning, count = 1) {
      while (lines().filter((line) => line.startsWith(beginning)).length < count) await more();
    },
    async assertAlive() {
      const count = lines().length;
      while (lines().length === count) await more();
    },
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
