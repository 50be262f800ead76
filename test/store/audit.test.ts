/** The audit of a store: a line for every access, and nothing secret in it. */
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { createMask, guardedStore, openAudit, readAudit } from "windrow/store";
import type { AuditEntry, AuditQuery } from "windrow/store";
import { ramStore } from "../kit/inside/store.ts";
import { listed, newFolder } from "../kit/sessions.ts";

const entries = (file: string, query?: AuditQuery): Promise<readonly AuditEntry[]> => listed(readAudit(file, query));

const clockAt = (time: string) => ({ now: () => Date.parse(time), every: () => () => undefined });

it("says who did what to which file, when", async () => {
  const base = await newFolder();
  const manager = await SessionManager.open({ store: base, user: "alice", audit: true });
  const session = await manager.create();
  await session.append("hello");
  await session.finish("completed");
  await manager.close();
  const found = await entries(join(base, "audit.jsonl"), { sessionId: session.id });
  expect(new Set(found.map(({ who }) => who))).toEqual(new Set(["alice"]));
  expect(found.map(({ action, file }) => `${action} ${file}`)).toEqual(
    expect.arrayContaining(["create metadata.json", "write messages.jsonl", "read metadata.json", "finish state.json"]),
  );
  expect(found.every(({ time, processId }) => Date.parse(time) > 0 && processId === process.pid)).toBe(true);
});

it("is only ever added to, is nobody else's to read, and keeps secrets out", async () => {
  const base = await newFolder();
  const file = join(base, "audit.jsonl");
  const secret = `ghp_${"k3JvQ8zR1mXw7LtY5nBc2HdF9sGp4AeU6iTo"}`;
  const first = openAudit(file);
  first.record({ who: secret, action: "list" });
  const before = await readFile(file, "utf8");
  first.close();
  const second = openAudit(file);
  second.record({ who: "bob", action: "list" });
  second.close();
  const after = await readFile(file, "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect(after).not.toContain(secret);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it("answers by person, session, action and time, and passes over lines that a crash tore", async () => {
  const file = join(await newFolder(), "audit.jsonl");
  for (const [who, action, time] of [
    ["alice", "read", "2026-01-01T10:00:00.000Z"],
    ["bob", "export", "2026-01-02T10:00:00.000Z"],
    ["alice", "write", "2026-01-03T10:00:00.000Z"],
  ] as const) {
    const audit = openAudit(file, { clock: clockAt(time) });
    audit.record({ who, action, sessionId: `${who}-1` });
    audit.close();
    await appendFile(file, '{"time":"2026-01-0');
  }
  expect(await entries(file)).toHaveLength(3);
  expect(await entries(file, { who: "alice" })).toHaveLength(2);
  expect(await entries(file, { sessionId: "bob" })).toHaveLength(1);
  expect(await entries(file, { action: "export" })).toHaveLength(1);
  expect(await entries(file, { from: "2026-01-02", to: "2026-01-02" })).toHaveLength(1);
  expect(await entries(file, { to: "2026-01-02T10:00:00Z" })).toHaveLength(1);
  await expect(entries(file, { from: "yesterday" })).rejects.toMatchObject({ code: "bad-option" });
  expect(await entries(join(file, "none"))).toEqual([]);
});

it("does not do what it cannot write down", async () => {
  const base = await newFolder();
  await writeFile(join(base, "taken"), "a file where a folder should be");
  const behind = ramStore();
  const store = guardedStore(behind, { who: "alice", audit: openAudit(join(base, "taken", "audit.jsonl")) });
  const uuid = crypto.randomUUID();
  const session = { uuid, taskKey: {}, config: {}, createdAt: "2026-01-01T00:00:00.000Z" };
  await expect(store.create({}, session)).rejects.toMatchObject({ code: "not-durable" });
  await expect(behind.info({}, uuid)).rejects.toMatchObject({ code: "session-not-found" });
});

it("leaves nothing where there is no store", async () => {
  const base = join(await newFolder(), "mistyped");
  const manager = await SessionManager.open({ store: base, audit: true });
  for await (const info of manager.list()) expect(info).toBeUndefined();
  await manager.close();
  await expect(stat(base)).rejects.toMatchObject({ code: "ENOENT" });
});

it("makes the folder of a file of one's own with the first access, whatever that is", async () => {
  const base = await newFolder();
  const file = join(base, "logs", "audit.jsonl");
  const audit = openAudit(file);
  audit.record({ who: "alice", action: "read" });
  audit.close();
  expect(await entries(file)).toHaveLength(1);
});

it("names who asks by their address, also where addresses are masked", async () => {
  const file = join(await newFolder(), "audit.jsonl");
  const audit = openAudit(file, { mask: createMask({ email: true }) });
  audit.record({ who: "ann@example.org", action: "read", tenant: "b@example.org", sessionId: "ann@example.org" });
  audit.close();
  expect(await entries(file)).toMatchObject([
    { who: "ann@example.org", tenant: "b@example.org", sessionId: "[EMAIL]" },
  ]);
});
