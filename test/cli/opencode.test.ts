/** Every door that reads sessions takes opencode's export, its folder and its database. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { driver } from "../kit/sqlite-stores.ts";
import { opencode, openCodeDatabase, openCodeFolder } from "../transcript/opencode-sessions.ts";
import { emptyStore, newFolder, windrow } from "./stage.ts";

async function exported(data: string): Promise<string> {
  const path = join(data, "export.json");
  await writeFile(path, opencode.join("\n"));
  return path;
}

const places = [
  ["export", exported],
  ["folder", (data: string) => openCodeFolder(data, opencode)],
  ...(driver ? [["database", (data: string) => openCodeDatabase(data, opencode)] as const] : []),
] as const;

describe.each(places)("opencode's %s", (_name, made) => {
  it("is imported, viewed, replayed and composed, and names its sessions where one is to be picked", async () => {
    const [path, store] = [await made(await newFolder()), await emptyStore()];
    const imported = await windrow(["import", path, "--store", store, "--finished"]);
    expect(imported).toMatchObject({ status: 0, stderr: "" });
    expect(imported.stdout.match(/ opencode +imported +\d/g)).toEqual([
      " opencode  imported         8",
      " opencode  imported         1",
    ]);
    const viewed = await windrow(["view", "latest", "--messages", "--store", store]);
    expect(viewed.stdout).toMatch(/Mend a\.txt[^]*So far: a\.txt was mended/);
    const replayed = await windrow(["replay", path, "--json", "-s", "adaptive", "-b", "8k"]);
    const { sessions } = JSON.parse(replayed.stdout) as { sessions: readonly { readonly id: string }[] };
    expect(sessions.map(({ id }) => id)).toEqual(["ses_b", "ses_a"]);
    const composed = await windrow(["compose", path]);
    expect(composed.stderr).toMatch(
      /--session 1 {2}ses_b, 8 messages: Mend a\.txt.*\n {2}--session 2 {2}ses_a, 1 messages: Find a\.txt/,
    );
    expect((await windrow(["compose", path, "--session", "2"])).stdout).toContain("Session: ses_a");
  });
});
