/** `windrow view --html`: a session with all of its windows as one file for a browser. */
import { findSession } from "../../ops/look/find.ts";
import { printable } from "../../printable.ts";
import { storedSource } from "../../viewer/stored-source.ts";
import { viewerFile } from "../../viewer/file/viewer-file.ts";
import { exitStatus, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, ExitStatus } from "../command.ts";
import { count } from "../text/text.ts";
import { checkNewFile, writeNewFile } from "../new-file.ts";

/** The flags of the command that the file needs. */
export interface ViewHtmlFlags {
  readonly store: string;
  readonly html: string;
  readonly json?: boolean;
}

/** Writes the file, which must not exist, and tells its size. */
export async function writeViewHtml(
  name: string,
  flags: ViewHtmlFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const { html: file } = flags;
  await checkNewFile(file);
  return onStoreAbout(io, { store: flags.store }, flags.store, async (store, scope, progress) => {
    const { metadata } = await findSession(store, scope, name);
    const { mask } = io.storeOptions;
    const text = await viewerFile(storedSource(store, scope), [metadata.uuid], {
      ...(mask && { mask }),
      ...(signal && { signal }),
      onProgress: ({ done, total }) => progress.update(metadata.uuid, done, total),
    });
    progress.end();
    const bytes = await writeNewFile(file, [text]);
    const report = { id: metadata.uuid, file, bytes };
    writeReport(io, flags, report, () => `${printable(file)}: session ${metadata.uuid}, ${count(bytes)} bytes\n`);
    return exitStatus.done;
  });
}
