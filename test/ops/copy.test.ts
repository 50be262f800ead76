import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { openStore } from "windrow/store";
import type { StoreTransfer } from "windrow/store/author";
import { copy } from "../kit/inside/ops.ts";
import {
  everybody,
  everyKind,
  everyRecordKind,
  listAll,
  messageRecord,
  newSession,
  ramStore,
  readAll,
  sessionWith,
  stateOf,
} from "../kit/inside/store.ts";
import { windrow } from "../cli/stage.ts";
import { newFolder } from "../kit/sessions.ts";
import { opened, over } from "../kit/stores.ts";
import { driver, openDatabase } from "../kit/sqlite-stores.ts";

/** A files store with a running and a finished session, written by Windrow in calls of one and of many records. */
async function filled(folder: string, rounds = 30): Promise<{ readonly running: string; readonly finished: string }> {
  const store = await openStore(folder);
  const ids: string[] = [];
  for (const status of ["processing", "completed"] as const) {
    const lock = await store.create({ user: "me" }, newSession());
    for (let round = 0; round < rounds; round += 1) {
      await store.append(lock, [messageRecord(`日本語 ${round} ${"x".repeat(round * 100)}`), ...everyKind()]);
      await store.append(lock, [messageRecord(round === 7 ? "ü".repeat(200_000) : String(round))]);
    }
    if (status === "completed") await store.finish(lock, stateOf(status));
    else await store.setState(lock, stateOf(status));
    ids.push(lock.id);
  }
  await store.close();
  return { running: ids[0]!, finished: ids[1]! };
}

/** The documents, logs and large values of a session. */
function filesOf(folder: string): Readonly<Record<string, string>> {
  const names = (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
    /^(blobs\W[0-9a-f]{64}|[a-z]+\.jsonl?)$/.test(name),
  );
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

describe.skipIf(!driver)("copying from files to SQLite and back", () => {
  it("gives the same bytes for what Windrow wrote; what is finished is finished", { tags: ["slow"] }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const { running, finished } = await filled(from);
    const database = await opened(`sqlite:${join(to, "contexts.db")}`);
    const there = await copy(await opened(from), database);
    expect(there).toMatchObject({ copied: 2, same: 0, failed: 0 });
    const back = await copy(database, await opened(join(to, "again")));
    expect(back).toMatchObject({ copied: 2, same: 0, failed: 0 });
    const pairs = (report: typeof back): unknown =>
      report.sessions.map(({ id, hash, lines }) => `${id} ${hash} ${lines}`).sort();
    expect(pairs(back)).toEqual(pairs(there));
    expect(there.sessions[0]).toMatchObject({ masked: 0, damaged: 0, lines: 30 * 10 });
    for (const place of [join("running", running), join("completed", finished)]) {
      const files = filesOf(join(from, place));
      expect(Object.keys(files).length).toBe(10);
      expect(filesOf(join(to, "again", place))).toEqual(files);
    }
    expect(readFileSync(join(to, "again/running", running, "messages.jsonl"), "utf8")).toContain('"more":1');
    await expect(database.lock(everybody, finished)).rejects.toMatchObject({ code: "read-only" });
    const lock = await database.lock(everybody, running);
    const [next] = await database.append(lock, [messageRecord("next")]);
    expect([next?.seq, next?.pos]).toEqual([91, 301]);
  });

  it("keeps lines and fields of other programs, and tells of what is no line", { tags: ["slow"] }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const { running } = await filled(from);
    const folder = join(from, "running", running);
    const foreign =
      '{ "seq": 91, "role":"user","content":"from afar","timestamp":"2024-01-15T10:31:00Z","token_count":3, "mood":{"a":[1.50]} }';
    appendFileSync(join(folder, "messages.jsonl"), `no line at all\n${foreign}\r\n\n`);
    const seedSummary =
      '{"summary_id":31,"start_seq":10,"end_seq":50,"summary":"Fixed it","created_at":"2024-01-15T10:32:00.000Z",' +
      '"original_tokens":12000,"summary_tokens":800,"compression_ratio":0.067}';
    appendFileSync(join(folder, "summaries.jsonl"), `${seedSummary}\n`);
    const metadata = JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8")) as object;
    writeFileSync(join(folder, "metadata.json"), JSON.stringify({ ...metadata, colour: "blue" }));
    const database = await opened(`sqlite:${join(to, "contexts.db")}`);
    const report = await copy(await opened(from), database, { ids: [running] });
    expect(report.sessions).toMatchObject([{ outcome: "copied", damaged: 1, masked: 0, lines: 302 }]);
    await copy(database, await opened(join(to, "again")));
    const files = filesOf(join(to, "again/running", running));
    const whole = filesOf(folder);
    const expected = whole["messages.jsonl"]?.replace("no line at all\n", "").replace("\r\n\n", "\n");
    expect(files["messages.jsonl"]).toBe(expected);
    expect(files["summaries.jsonl"]).toBe(whole["summaries.jsonl"]);
    expect(JSON.parse(files["metadata.json"] ?? "")).toEqual({ ...metadata, colour: "blue" });
    const last = await readAll(database, running, { kind: "message", last: 1 });
    expect(last[0]?.message.parts).toEqual([{ type: "text", text: "from afar" }]);
  });

  it("reads back equal when it was interrupted, and passes over what is there", { tags: ["slow"] }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    // What it holds is the test's above; here it is copied six times.
    await filled(from, 3);
    await filled(from, 3);
    const source = await opened(from);
    for (const target of [`sqlite:${join(to, "contexts.db")}`, join(to, "files")]) {
      const store = await opened(target);
      const stop = new AbortController();
      const stopped = copy(source, store, { onProgress: ({ done }) => done === 2 && stop.abort() }, stop.signal);
      await expect(stopped).rejects.toMatchObject({ code: "aborted" });
      expect(await listAll(store)).toHaveLength(2);
      expect(await copy(source, store)).toMatchObject({ copied: 2, same: 2, failed: 0 });
      expect(await copy(source, store)).toMatchObject({ copied: 0, same: 4, failed: 0 });
    }
  });

  it("starts anew what a killed copy left half done", { tags: ["slow"] }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const { running } = await filled(from);
    const file = join(to, "contexts.db");
    await (await openStore(`sqlite:${file}`)).close();
    const raw = openDatabase(file);
    const gone = JSON.stringify({ processId: 1, hostname: "elsewhere" });
    raw.exec(
      "INSERT INTO sessions (id, status, created_ms, hidden, metadata, state, mark, made, revision, origin, generation, " +
        `holder, heartbeat_at) VALUES ('${running}', 'processing', 0, 1, '{}', '{}', '{"isRestoring":true}', 1, 1, 1, 1, ` +
        `'${gone}', '2024-01-15T10:30:00.000Z'); ` +
        `INSERT INTO messages (session_id, seq, pos, line) VALUES ('${running}', 1, 1, '{}')`,
    );
    raw.close();
    const left = join(to, "files/trash", running);
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, "messages.jsonl"), "half a li");
    writeFileSync(join(left, "mark.json"), '{"mark":{"isRestoring":true}}');
    for (const target of [`sqlite:${file}`, join(to, "files")]) {
      const store = await opened(target);
      await expect(store.info(everybody, running)).rejects.toMatchObject({ code: "session-not-found" });
      const report = await copy(await opened(from), store, { ids: [running] });
      expect(report.sessions).toMatchObject([{ outcome: "copied", lines: 300 }]);
    }
    expect(existsSync(left)).toBe(false);
  });
});

/** A store whose session is erased behind a line of its dump, and is not found from then on. */
function goingAt(store: Store, line: number): Store {
  const transfer: StoreTransfer = {
    ...store.transfer,
    async dump(scope, id) {
      const dump = await store.transfer.dump(scope, id);
      return {
        ...dump,
        async *lines() {
          let count = 0;
          for await (const one of dump.lines()) {
            yield one;
            if (++count === line) await store.upkeep.erase(scope, [id]);
            if (count < 100) await store.info(scope, id);
          }
        },
      };
    },
  };
  return over(store, { transfer });
}

describe("copying", () => {
  it("never touches a session that differs, and goes on with the others", async () => {
    const [one, two] = [ramStore(), ramStore()];
    const mine = await sessionWith(one, 3);
    const other = await sessionWith(one, 2);
    await copy(one, two, { ids: [mine.id] });
    const lock = await two.lock(everybody, mine.id);
    await two.append(lock, [messageRecord("only there")]);
    const report = await copy(one, two);
    expect(report).toMatchObject({ copied: 1, same: 0, failed: 1 });
    expect(report.sessions.find(({ id }) => id === mine.id)).toMatchObject({ error: { code: "session-exists" } });
    expect((await readAll(two, mine.id, { kind: "message" })).length).toBe(4);
    expect((await readAll(two, other.id, { kind: "message" })).length).toBe(2);
  });

  it("finds a store that keeps something else than it was given", async () => {
    const [one, two] = [ramStore(), ramStore()];
    const lock = await sessionWith(one, 3);
    const transfer: StoreTransfer = over(two.transfer, {
      async dump(scope, id) {
        const dump = await two.transfer.dump(scope, id);
        return {
          ...dump,
          async *lines() {
            for await (const line of dump.lines()) if (!line.line.includes('"seq":2')) yield line;
          },
        };
      },
    });
    const report = await copy(one, over(two, { transfer }));
    expect(report.sessions).toMatchObject([{ id: lock.id, outcome: "failed", error: { code: "store-corrupt" } }]);
  });

  it("of a session that goes behind its last line is a copy; of one that goes before is none", async () => {
    for (const [at, copied] of [
      [100, 1],
      [1, 0],
    ] as const) {
      const [from, to] = [ramStore(), ramStore()];
      const lock = await sessionWith(from, 100);
      await from.finish(lock, stateOf("completed"));
      const report = await copy(goingAt(from, at), to);
      expect(report).toMatchObject({ copied, failed: 1 - copied });
      expect((await listAll(to)).map(({ metadata }) => metadata.uuid)).toEqual(copied === 1 ? [lock.id] : []);
    }
  });

  it("of one session while it is written takes a beginning of it without a gap", { tags: ["slow"] }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const writer = await opened(from);
    const lock = await writer.create(everybody, newSession());
    let stopped = false;
    let written = 0;
    const writing = (async () => {
      for (; !stopped; written += 1) await writer.append(lock, [messageRecord(String(written)), ...everyKind()]);
    })();
    const reader = await opened(from);
    for (let round = 0; round < 5; round += 1) {
      while (written < 3 * (round + 1)) await nextTurn();
      const target = await opened(join(to, String(round)));
      expect(await copy(reader, target)).toMatchObject({ copied: 1, failed: 0 });
      const places: number[] = [];
      for (const kind of everyRecordKind) {
        places.push(...(await readAll(target, lock.id, { kind })).map(({ pos }) => pos));
      }
      expect(places.sort((a, b) => a - b)).toEqual(places.map((_, index) => index + 1));
    }
    stopped = true;
    await writing;
  });
});

describe.skipIf(!driver)("windrow copy", () => {
  it("copies a store, says what it did, and on a second run that all is there", { tags: ["slow"] }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const { running } = await filled(from);
    const target = `sqlite:${join(to, "contexts.db")}`;
    const first = await windrow(["copy", "--from", from, "--to", target, "--session", running]);
    expect(first).toMatchObject({ status: 0, stderr: "" });
    expect(first.stdout).toBe("1 copied, 0 there already, 0 failed; 300 lines compared, all equal\n");
    const second = await windrow(["copy", "--from", from, "--to", target, "--json"]);
    expect(JSON.parse(second.stdout)).toMatchObject({ copied: 1, same: 1, failed: 0 });
  });

  it("fails with the name of one that differs, and makes no store to copy from", { tags: ["slow"] }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const { running } = await filled(from);
    await windrow(["copy", "--from", from, "--to", to]);
    appendFileSync(
      join(to, "running", running, "messages.jsonl"),
      '{"seq":91,"role":"user","content":"x","timestamp":"2024-01-15T10:31:00Z","token_count":1}\n',
    );
    const outcome = await windrow(["copy", "--from", from, "--to", to]);
    expect(outcome.status).toBe(1);
    expect(outcome.stdout).toContain(`${running}  session-exists: `);
    expect(outcome.stdout).toContain("0 copied, 1 there already, 1 failed");
    const nowhere = join(to, "nowhere.db");
    expect((await windrow(["copy", "--from", `sqlite:${nowhere}`, "--to", to])).stderr).toContain("store-unavailable");
    expect(existsSync(nowhere)).toBe(false);
    expect((await windrow(["copy", "--from", "sqlit:x", "--to", to])).status).toBe(2);
  });
});
