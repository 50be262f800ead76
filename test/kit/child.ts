/** Processes of a test: what they say line by line, what they are told, and how they end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

/** A process that runs beside the test. */
export interface Child {
  readonly pid: number;
  /** The whole lines of its standard output so far. */
  lines(): readonly string[];
  /** Waits until its lines satisfy a condition. Throws when the process ends before they do. */
  until(condition: (lines: readonly string[]) => boolean): Promise<void>;
  /** Waits for the line with this index. */
  line(index: number): Promise<string>;
  /** Writes a line to its standard input. */
  tell(line: string): void;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Kills it with SIGKILL, unless it has ended, and waits for its end. */
  readonly kill: () => Promise<void>;
  /** Closes its standard input and waits for its end. */
  readonly end: () => Promise<void>;
  /** Settles at its end, with its exit status, or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** What it wrote to its standard error so far, where {@link ChildOptions.errors} is "read". */
  errors(): string;
}

export interface ChildOptions {
  /** A command that node runs under, as strace or unshare. */
  readonly under?: readonly string[];
  /** Where standard error goes: to the test's own (default), or to {@link Child.errors}. */
  readonly errors?: "inherit" | "read";
}

/** Starts a script in a process of its own. A path is relative to the repository. */
export function startChild(script: string, args: readonly string[] = [], options: ChildOptions = {}): Child {
  const { under = [], errors = "inherit" } = options;
  const [command, ...given] = [...under, process.execPath, resolve(script), ...args];
  const child = spawn(command!, given, { stdio: ["pipe", "pipe", errors === "read" ? "pipe" : "inherit"] });
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  let said = "";
  let complaints = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  // The process may be gone when it is told something.
  child.stdin!.on("error", () => undefined);
  const lines = (): readonly string[] => said.split("\n").slice(0, -1);
  const until = async (condition: (lines: readonly string[]) => boolean): Promise<void> => {
    while (!condition(lines())) {
      if (hasEnded) throw new Error(`${script} ended with ${await ended}: ${said.slice(-500)}`);
      await Promise.race([once(child.stdout!, "data"), ended]);
    }
  };
  return {
    pid: child.pid ?? 0,
    lines,
    until,
    async line(index) {
      await until((all) => all.length > index);
      return lines()[index]!;
    },
    tell: (line) => void child.stdin!.write(`${line}\n`),
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async end() {
      child.stdin!.end();
      await ended;
    },
    ended,
    errors: () => complaints,
  };
}
