import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { folderArchive } from "windrow/store";

async function bucketIn() {
  const folder = await mkdtemp(join(tmpdir(), "windrow-archive-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folderArchive(folder);
}

it("an archive in a folder lists the names that begin so, whether or not a folder ends there", async () => {
  const bucket = await bucketIn();
  const keys = ["abc/x", "abc/y/z", "abd/x", "top"];
  for (const key of keys) await bucket.put(key, Buffer.from(key));
  for (const prefix of ["", "a", "ab", "abc", "abc/", "abc/y", "t", "no/x"]) {
    const listed: string[] = [];
    for await (const key of bucket.list(prefix)) listed.push(key);
    expect(listed.sort(), prefix).toEqual(keys.filter((key) => key.startsWith(prefix)));
  }
});

it("an object is written beside removals that take its folder, and listed beside others", async () => {
  const bucket = await bucketIn();
  await bucket.put("b/stays", Buffer.from("b"));
  for (let round = 0; round < 100; round += 1) {
    const removals = [1, 2, 3].map((number) => bucket.delete(`a/${number}`));
    const listed: string[] = [];
    const listing = (async () => {
      for await (const key of bucket.list("")) listed.push(key);
    })();
    await Promise.all([bucket.put("a/0", Buffer.from("a")), ...removals, listing]);
    expect(listed).toContain("b/stays");
    expect(await bucket.get("a/0")).toEqual(Buffer.from("a"));
    await bucket.delete("a/0");
  }
});
