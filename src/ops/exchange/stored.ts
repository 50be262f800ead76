/** A stored session as a transcript, for commands that read sessions of any program alike. */
import type { Scope, Store } from "../../store/store.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import { windrow } from "../../transcript/windrow/read.ts";
import { exportSession } from "./export.ts";

/**
 * Reads a session of a store whole, as a file that `windrow export` writes would be read.
 *
 * @throws WindrowError `session-not-found`, `bad-option` for a store that gives no session out
 */
export async function storedTranscript(store: Store, scope: Scope, id: string): Promise<readonly Transcript[]> {
  const { lines } = await exportSession(store, scope, id);
  const entries: { line: number; value: unknown }[] = [];
  for await (const line of lines) entries.push({ line: entries.length + 1, value: JSON.parse(line) as unknown });
  return windrow.decode({ name: id, entries });
}
