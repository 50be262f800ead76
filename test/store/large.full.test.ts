import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Lock, Part } from "windrow";
import { everybody, messageRecord, readAll, sessionWith, stateOf, texts } from "../kit/inside/store.ts";
import { closing, filesFixture } from "../kit/stores.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
let lock: Lock;
let folder: string;
beforeEach(async () => {
  fixture = closing(await filesFixture());
  lock = await sessionWith(fixture.store, 0);
  folder = join(fixture.folder, "running", lock.id);
});

const long = (name: string): string => `${name} 日本語 `.repeat(8_000);

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

describe("a value above 64 KiB", () => {
  it("stands in a file of its own, 0600, once, and comes back as it was", async () => {
    const parts: readonly Part[] = [
      { type: "reasoning", text: long("reasoning"), signature: "s" },
      { type: "text", text: long("text") },
      { type: "text", text: long("second") },
      { type: "tool-call", callId: "c", name: "write", args: { content: long("args") } },
      { type: "image", mediaType: "image/png", data: "A".repeat(70_000) },
    ];
    const result: readonly Part[] = [
      { type: "tool-result", callId: "c", content: long("result") },
      { type: "tool-result", callId: "d", content: [{ type: "text", text: long("text") }] },
    ];
    const records = [
      messageRecord("", { id: "a", role: "assistant", parts }),
      messageRecord("", { id: "b", role: "tool", parts: result }),
      messageRecord(long("text"), { id: "c" }),
    ];
    await fixture.store.append(lock, records);
    const found = await readAll(await fixture.reopen(), lock.id, { kind: "message" });
    expect(found.map((one) => one.message)).toEqual(records.map((one) => one.message));
    const blobs = await readdir(join(folder, "blobs"));
    const values = ["reasoning", "text", "second", "result"].map((name) => sha256(long(name)));
    const others = [sha256(JSON.stringify({ content: long("args") })), sha256("A".repeat(70_000))];
    expect(blobs.sort()).toEqual([...values, ...others].sort());
    for (const blob of blobs) expect((await stat(join(folder, "blobs", blob))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "blobs"))).mode & 0o777).toBe(0o700);
    const lines = (await readFile(join(folder, "messages.jsonl"), "utf8")).split("\n");
    for (const line of lines) expect(line.length).toBeLessThan(16_000);
    expect(lines[2]).toContain("text 日本語");
    expect(lines[2]).toContain(sha256(long("text")));
  });

  it("goes with its session to completed/, and its absence is told and shows both ends", async () => {
    await fixture.store.append(lock, [messageRecord(long("text"))]);
    await fixture.store.finish(lock, stateOf("completed"));
    const store = await fixture.reopen();
    expect(await texts(store, lock.id)).toEqual([long("text")]);
    const name = sha256(long("text"));
    await rm(join(fixture.folder, "completed", lock.id, "blobs", name));
    const [text = ""] = await texts(store, lock.id);
    expect(text.startsWith(long("text").slice(0, 500))).toBe(true);
    expect(text.endsWith(long("text").slice(-500))).toBe(true);
    expect(text).toContain(name);
    expect(await store.recovery(everybody, lock.id)).toMatchObject([{ file: `blobs/${name}`, problem: "damaged" }]);
  });

  it("with a lone surrogate stays in its line, exactly", async () => {
    const text = `\ud800${"x".repeat(70_000)}`;
    await fixture.store.append(lock, [messageRecord(text)]);
    expect(await texts(fixture.store, lock.id)).toEqual([text]);
  });
});
