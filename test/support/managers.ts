/** Processes with several managers on one store each, and what they were told is safe. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

/** A message that was acknowledged. */
export interface Acknowledged {
  readonly tenant: string;
  readonly session: string;
  readonly text: string;
}

/** A process with managers. */
export interface Managers {
  /** Does one thing after the other, and waits until all are done. */
  tell(...commands: readonly object[]): Promise<void>;
  /** Starts something that does not end. */
  start(command: object): void;
  /** Waits until so many messages were acknowledged. */
  until(count: number): Promise<void>;
  /** Refusals of what it was told to do. */
  failures(): readonly string[];
  acknowledged(): readonly Acknowledged[];
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  kill(): Promise<void>;
  /** Closes every manager and ends. */
  end(): Promise<void>;
}

/**
 * Starts one.
 *
 * @param name - begins the text of each message
 */
export function startManagers(
  build: string,
  store: string,
  name: string,
  node: readonly string[] = [process.execPath],
): Managers {
  const [command, ...given] = [...node, resolve("test/support/managers.js"), build, store, name];
  const child = spawn(command!, given, { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  child.stdin.on("error", () => undefined);
  let said = "";
  let told = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const lines = (): readonly string[] => said.split("\n").slice(0, -1);
  const starting = (word: string): readonly string[] => lines().filter((line) => line.split(" ")[0] === word);
  const waited = async (is: () => boolean): Promise<void> => {
    while (!is()) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended: ${said.slice(-500)}`);
      await Promise.race([once(child.stdout, "data"), closed]);
    }
  };
  const start = (command: object): void => {
    told += 1;
    child.stdin.write(`${JSON.stringify(command)}\n`);
  };
  return {
    start,
    async tell(...commands) {
      for (const command of commands) start(command);
      await waited(() => starting("done").length + starting("failed").length === told);
    },
    until: (count) => waited(() => starting("ack").length >= count || starting("failed").length > 0),
    failures: () => starting("failed"),
    acknowledged: () =>
      starting("ack").map((line) => {
        const [, tenant = "", session = "", text = ""] = line.split(" ");
        return { tenant, session, text };
      }),
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    async end() {
      start({ do: "end" });
      child.stdin.end();
      await closed;
    },
  };
}
