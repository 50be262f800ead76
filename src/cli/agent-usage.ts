/** The sessions of agents on this machine: where they and the notes on them are, and what they used. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { collectUsage } from "../ops/usage/collect.ts";
import type { Collected } from "../ops/usage/collect.ts";
import { discoverUsage } from "../transcript/discover.ts";
import type { FoundUsage } from "../transcript/usage/usage.ts";
import type { CommandIo } from "./command.ts";
import { Progress } from "./text/progress.ts";

/** The person's home folder. */
export function homeOf(env: CommandIo["env"]): string {
  return env["HOME"] ?? homedir();
}

/** The user's cache folder; undefined where the environment names none. */
export function cacheFolder(env: CommandIo["env"]): string | undefined {
  const { XDG_CACHE_HOME: cache, HOME: home } = env;
  if (cache !== undefined && isAbsolute(cache)) return join(cache, "windrow");
  return home === undefined || home === "" ? undefined : join(home, ".cache", "windrow");
}

/**
 * Reads what agents' sessions used; what the cache knows is not read again.
 *
 * @param cache - the folder of the cache; undefined for none
 * @param wanted - the places to read
 */
export async function agentUsage(
  io: CommandIo,
  cache: string | undefined,
  wanted: (place: FoundUsage) => boolean,
  signal: AbortSignal | undefined,
): Promise<Collected> {
  const progress = new Progress(io);
  const collected = await collectUsage(await discoverUsage({ home: homeOf(io.env), env: io.env }), wanted, {
    ...(cache !== undefined && { cache }),
    signal,
    onProgress: (done, total) =>
      progress.update("reading sessions, MB", Math.round(done / 1e6), Math.round(total / 1e6)),
  });
  progress.end();
  return collected;
}
