/** A gateway in a process of its own, which is started again on the same port when it dies. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** A gateway that is kept up. */
export interface KeptGateway {
  /** `http://127.0.0.1:49152`, without a slash at its end; the same for as long as it is kept up. */
  readonly url: string;
  /** How often it was started again. */
  restarts(): number;
  /** The newest lines of its standard error. */
  complaints(): string;
  /** The newest lines of its standard output, of all its processes together. */
  said(): string;
  /** Ends it, and waits for its end. */
  close(): Promise<void>;
}

/** Starts that may fail one after the other, before the pause between them grows to its longest. */
const pauses = [0, 50, 100, 200, 400, 800] as const;
const mostHeld = 4_096;

/** The settings of a gateway that is kept up. */
export interface KeepSettings {
  /** 0 for a free one. */
  readonly port: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The arguments of `windrow` for a port. */
  readonly argumentsAt: (port: number) => readonly string[];
}

/**
 * Starts a gateway and waits until it listens.
 *
 * @throws Error with the gateway's own words, where it cannot be started
 */
export async function keepGateway({ port: wanted, env, argumentsAt }: KeepSettings): Promise<KeptGateway> {
  let [complaints, said] = ["", ""];
  let restarts = 0;
  let failures = 0;
  let isClosing = false;
  let waiting: NodeJS.Timeout | undefined;
  let child = start(wanted);
  const url = await listening(child);
  const port = Number(new URL(url).port);
  failures = 0;
  child.once("close", again);

  function start(at: number): ChildProcess {
    // A process group of its own: Ctrl-C in a terminal is for the command alone. Its input ends with this process.
    const started = spawn(process.execPath, [process.argv[1]!, ...argumentsAt(at)], {
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      env: { ...env },
    });
    started.stdin!.on("error", () => undefined);
    started.on("error", (error) => (complaints += `${error.message}\n`));
    started.stderr!.setEncoding("utf8").on("data", (text: string) => {
      complaints = (complaints + text).slice(-mostHeld);
    });
    started.stdout!.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-mostHeld);
    });
    return started;
  }

  async function listening(started: ChildProcess): Promise<string> {
    const ended = once(started, "close");
    for (;;) {
      const found = /https?:\/\/[\d.[\]:a-z]+:\d+/.exec(said);
      if (found) return found[0];
      const isEnded = await Promise.race([once(started.stdout!, "data").then(() => false), ended.then(() => true)]);
      if (isEnded) break;
    }
    throw new Error(complaints.trim() || "it ended without a word");
  }

  function again(): void {
    if (isClosing) return;
    waiting = setTimeout(
      () => {
        restarts += 1;
        failures += 1;
        child = start(port);
        child.once("close", again);
        // One that listened has mended whatever was wrong.
        child.stdout!.once("data", () => (failures = 0));
      },
      pauses[Math.min(failures, pauses.length - 1)],
    );
  }

  return {
    url,
    restarts: () => restarts,
    complaints: () => complaints,
    said: () => said,
    async close() {
      isClosing = true;
      clearTimeout(waiting);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "close");
      child.kill("SIGTERM");
      const killed = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(killed);
    },
  };
}
