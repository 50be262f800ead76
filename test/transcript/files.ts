/** Temporary files for tests that open real ones. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder that goes away when the test file is done. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-transcript-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a file and returns its path. */
export async function written(folder: string, name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}
