import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "windrow/store/author";
import {
  everybody,
  everyKind,
  filesStore,
  listAll,
  messageRecord,
  newSession,
  sessionWith,
  stateOf,
  texts,
} from "../kit/inside/store.ts";
import { closing, filesFixture } from "../kit/stores.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeEach(async () => void (fixture = closing(await filesFixture())));

async function linesOf(path: string): Promise<readonly string[]> {
  return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
}

describe("the layout of seed 001", () => {
  it("running/<uuid>/ with its files while it runs, completed/<uuid>/ without .lock afterwards", async () => {
    const lock = await sessionWith(fixture.store, 1);
    const logs = ["calls", "edits", "messages", "snapshot", "summaries", "tools", "usage"];
    const files = [...logs.map((name) => `${name}.jsonl`), "metadata.json", "state.json"].sort();
    expect((await readdir(join(fixture.folder, "running", lock.id))).sort()).toEqual([".lock", ...files]);
    await fixture.store.finish(lock, stateOf("completed"));
    expect(await readdir(join(fixture.folder, "running"))).toEqual([]);
    expect((await readdir(join(fixture.folder, "completed", lock.id))).sort()).toEqual(files);
    expect((await fixture.store.info(everybody, lock.id)).location).toBe(join(fixture.folder, "completed", lock.id));
  });

  it("metadata.json, state.json and .lock have the seed's fields", async () => {
    const session = newSession();
    const lock = await fixture.store.create({ user: "notfolder" }, session);
    const folder = join(fixture.folder, "running", lock.id);
    const json = async (name: string) =>
      JSON.parse(await readFile(join(folder, name), "utf8")) as Record<string, unknown>;
    expect(Object.keys(await json("metadata.json"))).toEqual(
      "uuid task_key created_at process_id hostname config user format".split(" "),
    );
    expect((await json("metadata.json"))["config"]).toEqual(session.config);
    const counts = "llm_call_count tool_call_count total_tokens_used current_context_tokens compression_count";
    const state = `status started_at updated_at completed_at ${counts} last_activity error epoch_count`;
    expect(Object.keys(await json("state.json"))).toEqual(state.split(" "));
    const owner = await json(".lock");
    expect(owner).toMatchObject({ process_id: process.pid, generation: 1 });
    expect(Object.keys(owner).slice(0, 4)).toEqual(["process_id", "hostname", "acquired_at", "heartbeat_at"]);
    expect((await stat(join(folder, ".lock"))).size).toBe(512);
  });

  it("metadata.json never changes over the life of a session", async () => {
    const lock = await sessionWith(fixture.store, 0);
    const before = await readFile(join(fixture.folder, "running", lock.id, "metadata.json"), "utf8");
    await fixture.store.append(lock, everyKind());
    await fixture.store.setState(lock, stateOf("processing"));
    await fixture.store.finish(lock, stateOf("completed"));
    expect(await readFile(join(fixture.folder, "completed", lock.id, "metadata.json"), "utf8")).toBe(before);
  });

  it("lines are compact JSON in the seed's key order, greppable, with a checksum of what is before it", async () => {
    const lock = await sessionWith(fixture.store, 0);
    await fixture.store.append(lock, [
      messageRecord("日本語 first"),
      messageRecord("second", { role: "assistant" }),
      messageRecord("", { role: "tool", parts: [{ type: "tool-result", callId: "c", name: "run", content: "out" }] }),
    ]);
    await fixture.store.append(lock, everyKind());
    const folder = join(fixture.folder, "running", lock.id);
    const lines = await linesOf(join(folder, "messages.jsonl"));
    expect(lines[0]).toContain('"content":"日本語 first"');
    expect(lines.filter((line) => line.includes('"role":"assistant"'))).toHaveLength(1);
    expect(Object.keys(JSON.parse(lines[0]!) as object)).toEqual(
      "seq role content timestamp token_count id pos more crc".split(" "),
    );
    expect(Object.keys(JSON.parse(lines[2]!) as object)).toEqual(
      "seq role content timestamp token_count tool_name id pos tool_call_id more crc".split(" "),
    );
    const tool = JSON.parse((await linesOf(join(folder, "tools.jsonl")))[0]!) as object;
    expect(Object.keys(tool).slice(0, 7)).toEqual(
      "seq tool_name arguments result status duration_ms timestamp".split(" "),
    );
    for (const file of ["messages", "tools", "calls", "edits", "usage"]) {
      for (const line of await linesOf(join(folder, `${file}.jsonl`))) {
        const { crc } = JSON.parse(line) as { crc: string };
        const covered = line.slice(0, line.lastIndexOf(',"crc":'));
        expect(crc).toBe(crc32(Buffer.from(covered)).toString(16).padStart(8, "0"));
      }
    }
  });
});

it("a session that is being finished is found by another handle at every moment, in one state or the other", async () => {
  const other = await fixture.reopen();
  const seen = new Set<string>();
  for (let count = 0; count < 20; count += 1) {
    const lock = await sessionWith(fixture.store, 1);
    let done = false;
    const finishing = fixture.store.finish(lock, stateOf("completed")).then(() => (done = true));
    while (!done) {
      const [info, sessions] = await Promise.all([other.info(everybody, lock.id), listAll(other)]);
      const inFolder = info.location.includes("completed") ? "completed" : "running";
      seen.add(`${info.state.status} ${inFolder}`);
      expect(sessions).toHaveLength(count + 1);
      expect(await texts(other, lock.id)).toEqual(["1"]);
    }
    await finishing;
  }
  for (const one of seen) expect(["initializing running", "completed running", "completed completed"]).toContain(one);
});

it.each([0o000, 0o022, 0o077])("files and folders are the owner's alone under umask %o", async (umask) => {
  const before = process.umask(umask);
  try {
    const base = join(fixture.folder, "new", "base");
    const store = filesStore({ folder: base });
    const lock = await sessionWith(store, 1);
    await store.setState(lock, stateOf("processing"));
    const folder = join(base, "running", lock.id);
    for (const path of [join(fixture.folder, "new"), base, join(base, "running"), join(base, "completed"), folder]) {
      expect(((await stat(path)).mode & 0o777).toString(8), path).toBe("700");
    }
    for (const file of await readdir(folder)) {
      expect(((await stat(join(folder, file))).mode & 0o777).toString(8), file).toBe("600");
    }
    await store.close();
  } finally {
    process.umask(before);
  }
});

describe("the lock", () => {
  it("says every 30 seconds that its holder is alive, in place", async () => {
    let now = Date.parse("2024-01-15T10:30:00.000Z");
    const beats: { milliseconds: number; run: () => void }[] = [];
    const every: Clock["every"] = (milliseconds, run) => {
      beats.push({ milliseconds, run });
      return () => undefined;
    };
    const store = closing(filesStore({ folder: fixture.folder, clock: { now: () => now, every } }));
    const lock = await sessionWith(store, 0);
    const path = join(fixture.folder, "running", lock.id, ".lock");
    const inode = (await stat(path)).ino;
    expect(beats.map((beat) => beat.milliseconds)).toEqual([30_000]);
    now += 30_000;
    beats[0]!.run();
    await Promise.resolve();
    expect(lock.owner.heartbeatAt).toBe("2024-01-15T10:30:30.000Z");
    expect(await readFile(path, "utf8")).toContain('"heartbeat_at":"2024-01-15T10:30:30.000Z"');
    expect((await stat(path)).ino).toBe(inode);
  });

  it("an old heartbeat of a holder that lives is no invitation", async () => {
    const lock = await sessionWith(fixture.store, 0);
    await utimes(join(fixture.folder, "running", lock.id, ".lock"), 0, 0);
    const later = filesStore({
      folder: fixture.folder,
      clock: { now: () => Date.now() + 3_600_000, every: () => () => undefined },
    });
    await expect(later.lock(everybody, lock.id)).rejects.toMatchObject({
      code: "session-busy",
      message: expect.stringContaining(String(process.pid)) as string,
      data: { owner: { processId: process.pid, since: lock.owner.acquiredAt } },
    });
  });

  it("the seed's own .lock of a process that is gone is taken over at once", async () => {
    const lock = await sessionWith(fixture.store, 1);
    await lock.release();
    const path = join(fixture.folder, "running", lock.id, ".lock");
    const now = new Date().toISOString();
    const fields = { process_id: 1, hostname: "elsewhere", acquired_at: now, heartbeat_at: now };
    await writeFile(path, JSON.stringify(fields, null, 2));
    const { generation } = (await fixture.store.lock(everybody, lock.id)).owner;
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ process_id: process.pid, generation });
  });
});
