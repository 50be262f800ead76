import { existsSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Message, Store } from "windrow";
import type { Model } from "windrow/model";
import { exportSession, importFile } from "windrow/ops";
import { createMask } from "windrow/store";
import { readTranscripts } from "windrow/transcript";
import { exportFormats } from "../kit/inside/ops.ts";
import {
  everybody,
  everyKind,
  filesStore,
  messageRecord,
  newSession,
  ramStore,
  readAll,
  stateOf,
  summaryOf,
} from "../kit/inside/store.ts";
import { answered } from "../kit/sessions.ts";
import { chatLines, claudeCodeLines, newFolder, put, windrow } from "../cli/stage.ts";
import { closing, held } from "../kit/stores.ts";

async function collect(lines: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const line of lines) text += `${line}\n`;
  return text;
}

async function messagesOf(store: Store, id: string): Promise<readonly Message[]> {
  return (await readAll(store, id, { kind: "message" })).map(({ message }) => message);
}

describe("windrow's own format", () => {
  it("brings back the very session: every record, finished or not, large values and odd line ends in it", async () => {
    const [from, to, folder] = [filesStore({ folder: await newFolder() }), ramStore({}), await newFolder()];
    const finished = await from.create(everybody, newSession());
    await from.append(finished, [...everyKind(), messageRecord("ü\u2028".repeat(60_000))]);
    await from.finish(finished, stateOf("failed"));
    const running = await from.create({ tenant: "acme", user: "me" }, newSession());
    await from.append(running, [messageRecord("at work")]);
    for (const [lock, scope] of [
      [finished, everybody],
      [running, { tenant: "acme" }],
    ] as const) {
      const { lines, lost } = await exportSession(from, scope, lock.id);
      expect(lost).toEqual([]);
      const text = await collect(lines);
      const plain = await put(folder, `${lock.id}.jsonl`, text);
      expect(await importFile(to, plain)).toMatchObject([{ id: lock.id, format: "windrow", outcome: "imported" }]);
      const packed = join(folder, `${lock.id}.gz`);
      writeFileSync(packed, gzipSync(text));
      expect(await importFile(to, packed)).toMatchObject([{ outcome: "same", problems: [] }]);
      const kept = await summaryOf(await to.transfer.dump(scope, lock.id));
      expect(kept.hash).toBe((await summaryOf(await from.transfer.dump(scope, lock.id))).hash);
    }
    const replayed = await windrow(["compose", join(folder, `${finished.id}.jsonl`), "--budget", "200k", "--json"]);
    expect([replayed.status, replayed.stderr]).toEqual([0, ""]);
    await from.close();
  });

  it("says what each call used, as the store does: answers, summaries, and answers that were not kept", async () => {
    const store = await newFolder();
    const answer = { text: "All went well.", usage: { input: 900, output: 90 }, finish: "stop" } as const;
    const summarizer: Model = async () => answer;
    const manager = await SessionManager.open({ store, budget: 8_000, model: "claude-sonnet-4-5", summarizer });
    const session = await manager.create();
    for (const [index, input] of [10, 20, 30].entries()) {
      const usage = { input, output: 1 };
      await session.append(`Question ${index}`);
      await session.append({ ...answered(`Answer ${index}.`), ...(index === 0 && { usage }) });
      await session.endStep({ usage });
    }
    await session.endStep({ usage: { input: 40, output: 4 } });
    for (let more = 0; more < 8; more++) await session.append(`More: ${"word ".repeat(400)}`);
    expect(await session.compact()).toBe(true);
    await session.finish("completed");
    await manager.close();
    const own = closing(filesStore({ folder: store }));
    const { lines } = await exportSession(own, everybody, session.id);
    const file = await put(await newFolder(), "session.jsonl", await collect(lines));
    const [read] = await readTranscripts(file);
    expect(read?.messages.flatMap(({ usage, model }) => (usage ? [[usage.input, model]] : []))).toEqual([
      [10, undefined],
      [20, "claude-sonnet-4-5"],
      [30, "claude-sonnet-4-5"],
    ]);
    expect(read?.otherCalls?.map(({ usage }) => usage.input)).toEqual([40, 900]);
  });

  it.each(["windrow", "claude-code", "openai"])("tells what a session lacks, writes the rest: %s", async (format) => {
    const [base, folder] = [await newFolder(), await newFolder()];
    const store = filesStore({ folder: base });
    const whole = await held(store, "one");
    await store.finish(whole, stateOf("completed"));
    const lock = await store.create(everybody, newSession());
    for (let line = 1; line <= 20; line += 1) await store.append(lock, [messageRecord(`message ${line}`)]);
    await store.finish(lock, stateOf("completed"));
    await store.close();
    const log = join(base, "completed", lock.id, "messages.jsonl");
    const lines = readFileSync(log, "utf8").split("\n");
    for (const [name, left, missing] of [
      ["middle", [...lines.slice(0, 4), ...lines.slice(8)], 4],
      ["end", [...lines.slice(0, 15), ""], 5],
      ["all", [""], 20],
    ] as const) {
      writeFileSync(log, left.join("\n"));
      const output = join(folder, `${name}.jsonl`);
      const toFile = await windrow(["export", lock.id, "--store", base, "--format", format, "-o", output]);
      const toPipe = await windrow(["export", lock.id, "--store", base, "--format", format]);
      for (const { status, stderr } of [toFile, toPipe]) {
        expect([name, status]).toEqual([name, 1]);
        expect(stderr).toContain(`Session ${lock.id} lacks ${missing} of its records`);
      }
      expect(readFileSync(output, "utf8").match(/message \d+/g)?.length ?? 0).toBeGreaterThanOrEqual(20 - missing);
    }
    expect(await windrow(["export", whole.id, "--store", base, "--format", format])).toMatchObject({ status: 0 });
  });

  it("takes over nothing of a file that is cut off or changed", async () => {
    const [from, folder] = [ramStore({}), await newFolder()];
    const lock = await from.create(everybody, newSession());
    for (let line = 0; line < 20; line += 1) await from.append(lock, [messageRecord(`message ${line}`)]);
    const text = await collect((await exportSession(from, everybody, lock.id)).lines);
    const lines = text.split("\n");
    const broken = {
      "no end": lines.slice(0, 12).join("\n"),
      "in a line": text.slice(0, text.length / 2),
      "a line less": [...lines.slice(0, 4), ...lines.slice(5)].join("\n"),
      "another text": text.replace("message 7", "message 8"),
    };
    for (const [name, content] of Object.entries(broken)) {
      const to = filesStore({ folder: await newFolder() });
      const path = await put(folder, `${name}.jsonl`, content);
      const error = { code: "input-unreadable" };
      expect([name, ...(await importFile(to, path))]).toMatchObject([name, { outcome: "failed", error }]);
      await expect(to.info(everybody, lock.id)).rejects.toMatchObject({ code: "session-not-found" });
      await to.close();
    }
    const path = join(folder, "torn.gz");
    writeFileSync(path, gzipSync(text));
    truncateSync(path, statSync(path).size - 30);
    await expect(importFile(ramStore({}), path)).resolves.toMatchObject([{ outcome: "failed" }]);
  });

  it("passes the mask on the way out, in every format", async () => {
    const store = ramStore({ mask: createMask({ rules: [] }) });
    const lock = await store.create(everybody, newSession());
    const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    await store.append(lock, [messageRecord(`token ${secret}`)]);
    for (const format of exportFormats) {
      const text = await collect((await exportSession(store, everybody, lock.id, { format })).lines);
      expect([format, text.includes(secret), text.includes("[GITHUB_TOKEN]")]).toEqual([format, false, true]);
    }
    await expect(exportSession(store, everybody, lock.id, { format: "codecs" })).rejects.toThrow("codex");
  });
});

describe("transcripts of other agents", () => {
  it.each(exportFormats.slice(1))("round trip through %s: out, in, out again is the same file", async (format) => {
    const folder = await newFolder();
    const source = await put(folder, "claude.jsonl", claudeCodeLines());
    const [first, second] = [ramStore({}), ramStore({})];
    const [{ id } = { id: "" }] = await importFile(first, source);
    const text = await collect((await exportSession(first, everybody, id, { format })).lines);
    const path = await put(folder, "again.jsonl", text);
    const [again] = await importFile(second, path);
    expect(again).toMatchObject({ format, outcome: "imported", problems: [] });
    const said = (messages: readonly Message[]): unknown => messages.map(({ role, parts }) => [role, parts]);
    expect(said(await messagesOf(second, again!.id))).toEqual(said(await messagesOf(first, id)));
  });

  it("an import can be resumed or is finished, counts what was used, and a second one finds it there", async () => {
    const folder = await newFolder();
    const path = await put(folder, "chat.jsonl", chatLines(5));
    utimesSync(path, new Date("2025-05-05T05:05:05Z"), new Date("2025-05-05T05:05:05Z"));
    const store = filesStore({ folder: join(folder, "contexts") });
    const [session] = await importFile(store, path);
    expect(session).toMatchObject({ source: "chat", format: "openai-chat", outcome: "imported", messages: 12 });
    expect(await importFile(store, path)).toMatchObject([{ id: session!.id, outcome: "same" }]);
    const { metadata, state } = await store.info(everybody, session!.id);
    expect(metadata.createdAt).toBe("2025-05-05T05:05:05.000Z");
    expect(state).toMatchObject({ status: "processing", llmCallCount: 6, toolCallCount: 5, lastActivity: "imported" });
    await store.close();

    const manager = await SessionManager.open({ store: join(folder, "contexts") });
    const resumed = await manager.resume(session!.id);
    await resumed.append("and now?");
    const { messages } = await resumed.compose({ budget: 20_000 });
    expect(messages.at(-1)?.parts).toEqual([{ type: "text", text: "and now?" }]);
    expect(messages.length).toBe(13);
    await manager.close();
    const other = ramStore({});
    const [over] = await importFile(other, path, { finished: true });
    await expect(other.lock(everybody, over!.id)).rejects.toMatchObject({ code: "read-only" });
  });
});

describe("windrow export and import", () => {
  it("write a new file, tell what is lost, and read it back", async () => {
    const folder = await newFolder();
    const source = await put(folder, "claude.jsonl", claudeCodeLines());
    const store = join(folder, "contexts");
    const brought = await windrow(["import", source, "--store", store, "--json"]);
    expect([brought.status, brought.stderr]).toEqual([0, ""]);
    const file = join(folder, "out.jsonl");
    const done = await windrow(["export", "latest", "--store", store, "--format", "openai", "-o", file]);
    expect([done.status, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toContain("openai-chat could not hold: 6 × ids of messages");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const twice = await windrow(["export", "latest", "--store", store, "-o", file]);
    expect(twice).toMatchObject({ status: 2, stderr: expect.stringContaining("is not overwritten") as unknown });
    const printed = await windrow(["export", "latest", "--store", store, "--format", "openai"]);
    expect(printed.stdout).toBe(readFileSync(file, "utf8"));
    expect(printed.stderr).toContain("could not hold");
    const other = join(folder, "other");
    const table = await windrow(["import", file, source, join(folder, "none"), "--store", other]);
    expect(table.status).toBe(1);
    expect(table.stdout).toMatch(/openai-chat +imported +6 .*\n.*claude-code +imported +6 /);
    expect(table.stdout).toContain("input-not-found: There is no file");
  });

  it("name what is wrong", async () => {
    const folder = await newFolder();
    const store = join(folder, "contexts");
    const plain = await put(folder, "notes.txt", "just words\n");
    for (const [argv, status, text] of [
      [["import", plain, "--store", store], 1, "no line of it is JSON"],
      [["import", plain, "--store", store, "--format", "codx"], 2, 'Did you mean "codex"?'],
      [["export", "latest", "--store", join(folder, "none")], 1, "There is no store"],
      [["export", "latest", "--format", "word"], 2, "There is no format"],
      [["export", "latest", "--json"], 2, "--output"],
      [["backup", join(folder, "b"), "--keep", "0"], 2, "--keep"],
      [["backup", join(folder, "b"), "--store", join(folder, "none")], 1, "There is no store"],
      [["restore", "--from", folder, "--to", "ram:"], 2, "--all"],
      [["restore", "--all", "--from", folder, "--to", "ram:"], 1, "There is no backup"],
    ] as const) {
      const outcome = await windrow(argv);
      expect(outcome.status, argv.join(" ")).toBe(status);
      expect(outcome.stdout + outcome.stderr).toContain(text);
    }
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  it("are written down in the audit", async () => {
    const folder = await newFolder();
    const config = await put(folder, "windrow.config.yaml", `store: ${join(folder, "c")}\naudit: true\nuser: alice\n`);
    const source = await put(folder, "chat.jsonl", chatLines(2));
    expect(await windrow(["import", source, "--config", config])).toMatchObject({ status: 0, stderr: "" });
    expect(await windrow(["export", "latest", "--config", config])).toMatchObject({ status: 0 });
    expect(await windrow(["backup", join(folder, "b"), "--running", "--config", config])).toMatchObject({ status: 0 });
    const { stdout } = await windrow(["audit", "--config", config, "--json"]);
    const { entries } = JSON.parse(stdout) as { entries: readonly { action: string; who: string }[] };
    const told = entries.filter(({ action }) => action === "export" || action === "import");
    expect(told.map(({ action, who }) => `${who} ${action}`)).toEqual(["alice import", "alice export", "alice export"]);
  });
});
