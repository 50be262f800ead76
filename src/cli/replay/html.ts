/** `windrow replay --html`: the replayed sessions as one file for a browser. */
import type { Mask } from "../../mask/mask.ts";
import type { ReplayedSession, ReplayOptions } from "../../replay/replay.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import type { FileSession } from "../../viewer/file/data.ts";
import { encodeReplay, replayFile } from "../../viewer/file/replay-file.ts";
import { checkNewFile, writeNewFile } from "../new-file.ts";

/** A file that sessions are put into while they are replayed. */
export class ReplayHtml {
  readonly #path: string;
  readonly #mask: Mask | undefined;
  readonly #sessions: FileSession[] = [];

  private constructor(path: string, mask: Mask | undefined) {
    this.#path = path;
    this.#mask = mask;
  }

  /**
   * Begins a file that must not exist.
   *
   * @throws WindrowError `bad-option`
   */
  static async begin(path: string, mask: Mask | undefined): Promise<ReplayHtml> {
    await checkNewFile(path);
    return new ReplayHtml(path, mask);
  }

  /** Replays a session, as it is with its secrets masked. */
  async replay(
    transcript: Transcript,
    options: ReplayOptions,
    signal: AbortSignal | undefined,
  ): Promise<ReplayedSession> {
    const { file, replayed } = await encodeReplay(
      transcript,
      { ...options, ...(this.#mask && { mask: this.#mask }) },
      signal,
    );
    this.#sessions.push(file);
    return replayed;
  }

  /** Writes the file; its size in bytes, undefined where no session was replayed. */
  async write(): Promise<number | undefined> {
    const [first] = this.#sessions;
    if (!first) return undefined;
    const title = first.session.title === "" ? first.session.id : first.session.title;
    return writeNewFile(this.#path, [await replayFile(this.#sessions, `Replay: ${title}`)]);
  }
}
