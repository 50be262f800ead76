/** Whatever the umask, what Windrow writes is its owner's alone: every file 0600, every folder 0700, in every store. */
import { statSync } from "node:fs";
import { appendFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { driver } from "../kit/sqlite-stores.ts";
import { commands, filledPlace } from "./every-command.ts";
import { newFolder, windrow } from "./stage.ts";

async function wrongModes(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const wrong: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    // A database that was closed may take its side files away only now.
    const mode = statSync(path, { throwIfNoEntry: false })?.mode;
    if (mode === undefined) continue;
    if ((mode & 0o777) !== (entry.isDirectory() ? 0o700 : 0o600)) wrong.push(`${path} ${(mode & 0o777).toString(8)}`);
  }
  expect(entries.length).toBeGreaterThan(1);
  return wrong;
}

const schemes: Readonly<Record<string, string>> = { files: "", ...(driver && { sqlite: "sqlite:" }) };

describe.skipIf(process.platform === "win32").each(Object.entries(schemes))("umask 000, %s", (_name, scheme) => {
  it("is kept from everybody else by every command", { timeout: 60_000 }, async () => {
    const before = process.umask(0o000);
    onTestFinished(() => void process.umask(before));
    const inside = await newFolder();
    const base = join(inside, "store");
    const store = `${scheme}${base}`;
    const env = { WINDROW_AUDIT: "true" };
    const place = await filledPlace(inside, "alice", { store });
    const log = join(base, "running", place.open, "messages.jsonl");
    for (const [name, lines] of Object.entries(commands)) {
      if (name === "config") continue; // it writes nothing, and knows no model of that name
      if (name === "archive" && scheme !== "") continue; // a database compresses nothing
      if (name === "doctor" && scheme === "") await appendFile(log, '{"seq":9,"half of a li');
      for (const argvOf of lines) {
        const { status, stderr } = await windrow([name, ...argvOf(place)], env);
        expect(stderr, name).not.toContain("unforeseen");
        expect(status, `${name}: ${stderr}`).toBeLessThan(2);
      }
    }
    expect(await wrongModes(inside)).toEqual([]);
  });
});
