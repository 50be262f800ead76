/** The results of `windrow replay`, source by source: in threads where that helps, else one after the other. */
import type { Listener } from "../../session/events.ts";
import { statsLogger } from "../../session/stats-line.ts";
import type { replay } from "../../replay/replay.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import type { CommandIo } from "../command.ts";
import type { Progress } from "../text/progress.ts";
import type { ReplayHtml } from "./html.ts";
import type { ReplayFlags, ReplaySettings } from "./options.ts";
import { recordSession } from "./record.ts";
import { isShareable, replayShared } from "./shared.ts";
import type { ReplaySource } from "./sources.ts";
import { replayOne, replaySource } from "./work.ts";
import type { SourceResult, TellProgress } from "./work.ts";

/** The work that one command line asks for. */
export interface ReplayWork {
  readonly sources: readonly ReplaySource[];
  readonly settings: ReplaySettings;
  readonly flags: ReplayFlags;
  readonly html: ReplayHtml | undefined;
  readonly progress: Progress;
  readonly io: CommandIo;
}

/**
 * The sources in their order. Files are shared among threads, unless windows are kept of them here.
 *
 * @param kept - takes the folders of sessions that were written
 */
export async function* resultsOf(
  work: ReplayWork,
  kept: string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<SourceResult> {
  const { sources, settings, flags, html, progress } = work;
  const files = sources.flatMap(({ file }) => (file ? [file] : []));
  const isPlain = html === undefined && settings.keep === undefined && files.length === sources.length;
  if (isPlain && (await isShareable(files))) {
    const tell = (done: number, total: number): void => progress.update("sessions", done, total);
    yield* replayShared(files, flags, tell, signal);
    return;
  }
  const tell: TellProgress = (session, { done, total }) => progress.update(session, done, total);
  const run: typeof replay | undefined = html && ((...given) => html.replay(...given));
  for (const source of sources) {
    const each = async (transcript: Transcript): ReturnType<typeof replay> => {
      const replayed = await replayOne(transcript, settings, tell, signal, run);
      if (settings.keep !== undefined) kept.push(await keep(transcript, source.name, settings.keep, work, signal));
      return replayed;
    };
    yield await replaySource(source.name, () => source.read(), each);
  }
}

/** Writes a session through the file store; answers its folder. */
async function keep(
  transcript: Transcript,
  file: string,
  folder: string,
  { settings, progress, io }: ReplayWork,
  signal: AbortSignal | undefined,
): Promise<string> {
  const onProgress = (done: number, total: number): void => progress.update(`keeping ${transcript.id}`, done, total);
  const store = await io.openStore(folder);
  const count = statsLogger({ debugEvery: 5, log: (line) => void io.stderr.write(`${line}\n`) });
  const on: Listener = (event) => {
    if (event.type === "window-composed") count?.(event.messages, event.report.tokens);
    io.log(event);
  };
  return recordSession(transcript, { file, store, settings, onProgress, ...(io.debug === true && { on }) }, signal);
}
