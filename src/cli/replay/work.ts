/** The work of `windrow replay` on one source: its sessions are read and replayed. */
import { replay } from "../../replay/replay.ts";
import type { ReplayedSession, ReplayOptions, ReplayProgress } from "../../replay/replay.ts";
import type { Transcript, TranscriptProblem } from "../../transcript/transcript.ts";
import { namedByOptions } from "./options.ts";
import type { ReplaySettings } from "./options.ts";

/** A source that was replayed, as far as it could be. */
export interface SourceResult {
  /** The file, or the session's id. */
  readonly file: string;
  readonly sessions: readonly ReplayedSession[];
  /** The lines that could not be read, for each session that was. */
  readonly problems: readonly (readonly TranscriptProblem[])[];
  /** The reason why it ended early. */
  readonly error?: unknown;
}

/** The progress of a source's session. */
export type TellProgress = (session: string, progress: ReplayProgress) => void;

/** Replays a transcript under the settings of the command line. */
export function replayOne(
  transcript: Transcript,
  settings: ReplaySettings,
  tell: TellProgress,
  signal?: AbortSignal,
  run: typeof replay = replay,
): Promise<ReplayedSession> {
  const { prices } = settings;
  const options: ReplayOptions = {
    strategies: settings.strategies.map(namedByOptions),
    budgets: settings.budgetsFor(transcript.model),
    profile: settings.profileFor(transcript.model),
    counter: settings.counter,
    ...(prices && { prices }),
    ...(settings.farDistance !== undefined && { farDistance: settings.farDistance }),
    onProgress: (progress) => tell(transcript.id, progress),
  };
  return run(transcript, options, signal);
}

/**
 * Replays the sessions of a source; what fails ends it, and stands in its result.
 *
 * @param each - replays one session, and whatever else is done with it
 */
export async function replaySource(
  file: string,
  read: () => Promise<readonly Transcript[]>,
  each: (transcript: Transcript) => Promise<ReplayedSession>,
): Promise<SourceResult> {
  const sessions: ReplayedSession[] = [];
  const problems: (readonly TranscriptProblem[])[] = [];
  try {
    for (const transcript of await read()) {
      problems.push(transcript.problems);
      sessions.push(await each(transcript));
    }
  } catch (error) {
    return { file, sessions, problems, error };
  }
  return { file, sessions, problems };
}
