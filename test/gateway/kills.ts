/** A gateway in a process of its own that is killed at random moments and started again on the same port. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../kit/free-port.ts";

export interface KilledGateway {
  readonly url: string;
  /** How often it was killed so far. */
  kills(): number;
  /** Waits until it listens. */
  readonly up: () => Promise<unknown>;
  /** Kills it no more, and ends it. Answers with all that it wrote to its standard error. */
  end(): Promise<string>;
}

export interface KillOptions {
  /** The compiled command. */
  readonly command: string;
  readonly store: string;
  /** The address of the fake that stands for every provider. */
  readonly upstream: string;
  readonly kills: number;
  readonly flags?: readonly string[];
  /** Waits until so many requests more reached the upstream. */
  readonly passed: (requests: number) => Promise<void>;
  /** A number from 0 to 1 that makes the moments. */
  readonly random: () => number;
}

/** Most requests that pass one of them, and most milliseconds that it lives on behind the last of them. */
const mostRequests = 6;
const longestRest = 80;

/** Starts one. It is killed until the number of kills is reached, and lives on then. */
export async function startKilled(options: KillOptions): Promise<KilledGateway> {
  const { command, store, upstream, random, flags = [] } = options;
  const port = await freePort();
  const named = ["anthropic", "openai", "gemini", "ollama"].map((name) => `${name}=${upstream}`);
  const words = ["gateway", "--tied", "--port", String(port), "--store", store, ...flags, "--upstream", ...named];
  let kills = 0;
  let errors = "";
  let isEnding = false;
  let child: ChildProcess;
  let listening: Promise<unknown>;

  function start(): void {
    child = spawn(process.execPath, [command, ...words], { stdio: ["pipe", "pipe", "pipe"] });
    child.stdin!.on("error", () => undefined);
    child.stderr!.setEncoding("utf8").on("data", (text: string) => (errors += text));
    listening = Promise.race([once(child.stdout!, "data"), once(child, "close")]);
  }

  async function reign(): Promise<void> {
    while (!isEnding && kills < options.kills) {
      // One in eight dies while it starts.
      if (random() > 0.125) {
        await listening;
        await options.passed(Math.floor(random() * mostRequests));
      }
      await sleep(random() * longestRest);
      if (isEnding) return;
      if (child.exitCode !== null) throw new Error(`The gateway ended by itself: ${errors}`);
      const closed = once(child, "close");
      child.kill("SIGKILL");
      kills += 1;
      await closed;
      start();
    }
  }

  start();
  await listening!;
  const over = reign();
  over.catch(() => undefined);
  return {
    url: `http://127.0.0.1:${port}`,
    kills: () => kills,
    up: () => listening,
    async end() {
      isEnding = true;
      await over;
      await listening;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      child.stdin!.end();
      await closed;
      return errors;
    },
  };
}

/** Numbers from 0 to 1 by a seed, the same for the same seed. */
export function randomBy(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
