/** Recorded sessions of a file: all of them in a long run, else a few, spread evenly over the file. */

const long = process.env["WINDROW_LONG"] === "1";

/** Sessions of a file that an ordinary run takes. */
const ordinary = 8;

/** The sessions that this run takes. */
export function someOf<Session>(sessions: readonly Session[]): readonly Session[] {
  if (long || sessions.length <= ordinary) return sessions;
  return Array.from({ length: ordinary }, (_, index) => sessions[Math.floor((index * sessions.length) / ordinary)]!);
}
