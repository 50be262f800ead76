/** Sessions out of files: Windrow's own come back as they were, those of other agents become sessions of their own. */
import type { ScopedOptions } from "../options.ts";
import { stat } from "node:fs/promises";
import type { Scope, SessionDump, Store } from "../../store/store.ts";
import type { ReadLimits } from "../../transcript/limits.ts";
import { readTranscripts } from "../../transcript/read.ts";
import type { TranscriptProblem } from "../../transcript/transcript.ts";
import { readSessionFile } from "../../transcript/windrow/session.ts";
import { weigh } from "../../store/shared/transfer.ts";
import { transferError } from "./transfer.ts";
import type { TransferError } from "./transfer.ts";
import { transcriptDump } from "./import-transcript.ts";

/** How files are imported. */
export interface ImportOptions extends ScopedOptions {
  /** Read as this format, whatever the file looks like: `windrow`, `openai-chat`, `claude-code`, `codex`, `pi`, … */
  readonly format?: string;
  /** Imported transcripts are finished sessions. Default false: they can be resumed. */
  readonly finished?: boolean;
  /** How much a file may hold, unpacked: bytes and lines. Default: 500 MB and 500,000. */
  readonly limits?: ReadLimits;
}

/** The outcome for one session of a file. */
export interface ImportedSession {
  readonly file: string;
  /** The id in the store. */
  readonly id: string;
  /** The id in the file. */
  readonly source: string;
  readonly format: string;
  /** `same`: an earlier import brought it already; `failed`: nothing of it is there. */
  readonly outcome: "imported" | "same" | "failed";
  readonly messages: number;
  /** Lines that could not be read; the rest was imported. */
  readonly problems: readonly TranscriptProblem[];
  /** Records and documents from which the store's mask took a secret. */
  readonly masked: number;
  readonly error?: TransferError;
}

/**
 * Imports the sessions of a file, each whole or not at all. A file of `windrow export` gives the very session with all its
 * records; a transcript of another agent gives its messages and usage, with an id that follows from what it holds, so that a
 * second import finds it there. What the store has is never changed. A session that fails stops no other.
 *
 * @throws WindrowError what `readTranscripts` throws for a file that is none; `bad-option`, `aborted`
 */
export async function importFile(
  store: Store,
  path: string,
  options: ImportOptions = {},
  signal?: AbortSignal,
): Promise<readonly ImportedSession[]> {
  const { scope = {}, format, finished = false, limits } = options;
  const isOwn = format === undefined || format === "windrow";
  const own = isOwn && (await isFile(path)) ? await readSessionFile(path, limits) : undefined;
  if (own) {
    const { tenant } = own.metadata;
    const owner = scope.tenant === undefined && typeof tenant === "string" ? { ...scope, tenant } : scope;
    const about = { file: path, id: own.id, source: own.id, format: "windrow", problems: [] };
    return [{ ...about, ...(await restored(store, owner, own, signal)) }];
  }
  const transcripts = await readTranscripts(
    path,
    { ...(format !== undefined && { format }), ...(limits && { limits }) },
    signal,
  );
  const { mtime } = await stat(path);
  const sessions: ImportedSession[] = [];
  for (const transcript of transcripts) {
    const dump = transcriptDump(transcript, { scope, finished, time: mtime.toISOString() });
    const { problems, id: source, format: found } = transcript;
    sessions.push({
      ...{ file: path, id: dump.id, source, format: found, problems },
      ...(await restored(store, scope, dump, signal)),
    });
  }
  return sessions;
}

async function restored(
  store: Store,
  scope: Scope,
  dump: SessionDump,
  signal: AbortSignal | undefined,
): Promise<Pick<ImportedSession, "outcome" | "messages" | "masked" | "error">> {
  const weighed = weigh(dump);
  try {
    const { outcome, masked } = await store.transfer.restore(scope, weighed.dump, signal);
    return { outcome: outcome === "same" ? "same" : "imported", messages: weighed.summary().lines.messages, masked };
  } catch (error) {
    return { outcome: "failed", messages: 0, masked: 0, error: transferError(error) };
  }
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
