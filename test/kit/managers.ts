/** Processes with several managers on one store each, and what they were told is safe. */
import { startChild } from "./child.ts";

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
export function startManagers(build: string, store: string, name: string): Managers {
  const child = startChild("test/kit/managers.js", [build, store, name]);
  let told = 0;
  const starting = (word: string): readonly string[] => child.lines().filter((line) => line.split(" ")[0] === word);
  const start = (command: object): void => {
    told += 1;
    child.tell(JSON.stringify(command));
  };
  return {
    start,
    async tell(...commands) {
      for (const command of commands) start(command);
      await child.until(() => starting("done").length + starting("failed").length === told);
    },
    until: (count) => child.until(() => starting("ack").length >= count || starting("failed").length > 0),
    failures: () => starting("failed"),
    acknowledged: () =>
      starting("ack").map((line) => {
        const [, tenant = "", session = "", text = ""] = line.split(" ");
        return { tenant, session, text };
      }),
    signal: child.signal,
    kill: child.kill,
    async end() {
      start({ do: "end" });
      await child.end();
    },
  };
}
