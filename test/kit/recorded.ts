/** Recorded sessions of a file: all of them in a long run, else a few, spread evenly over the file. */
import { runs } from "./runs.ts";

/** Sessions of a file that an ordinary run takes. */
const ordinary = 8;

/** The sessions that this run takes. */
export function someOf<Session>(sessions: readonly Session[]): readonly Session[] {
  if (runs > 1_000 || sessions.length <= ordinary) return sessions;
  return Array.from({ length: ordinary }, (_, index) => sessions[Math.floor((index * sessions.length) / ordinary)]!);
}
