/** The record of a resume: in both stores, and of those that write alone. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { logTo, sessionLog } from "windrow/ops";
import { openStore } from "windrow/store";
import type { EditRecord } from "../kit/inside/message.ts";
import { asked, listed, newFolder } from "../kit/sessions.ts";

/** What the log of a session says of resumes and how it began, and the records behind it. */
async function toldOf(address: string, id: string): Promise<{ texts: readonly string[]; records: EditRecord[] }> {
  const store = await openStore(address);
  const texts = (await listed(sessionLog(store, {}, await store.info({}, id)))).map(({ text }) => text);
  const records = (await listed(store.read({}, id, { kind: "edit" }))).filter(({ type }) => type === "resumed");
  await store.close();
  return { texts: texts.filter((text) => text.startsWith("Task")), records };
}

describe.each(["file", "sqlite"])("a resume over %s:", (kind) => {
  it("names its process in the log; a reader and a fork leave no such line", async () => {
    const folder = await newFolder();
    const address = kind === "file" ? folder : `sqlite:${join(folder, "sessions.db")}`;
    const lines: string[] = [];
    const on = logTo((line) => lines.push(line.slice(line.indexOf("] ") + 2)));
    const manager = await SessionManager.open({ store: address, budget: 4_000, on });
    const made = await manager.create();
    await made.append(asked("hello"));
    const window = (await made.compose()).messages;
    await made.close();
    const resumed = await manager.resume(made.id);
    expect((await resumed.compose()).messages).toEqual(window);
    await resumed.close();
    const reader = await manager.resume(made.id, { readOnly: true });
    await reader.close();
    const { texts, records } = await toldOf(address, made.id);
    expect(texts).toEqual(["Task started", "Task resumed"]);
    expect(records.map(({ data }) => data)).toEqual([
      { process_id: process.pid, hostname: expect.any(String) as string, generation: 2 },
    ]);
    lines.length = 0;
    const fork = await manager.fork(made.id, { at: 0 });
    await manager.close();
    expect(lines).toEqual(["Task started"]);
    expect(await toldOf(address, fork.id)).toEqual({ texts: ["Task started"], records: [] });
  });

  it("hundreds of resumes behind an epoch change no window, and no pin is lost", { tags: ["slow"] }, async () => {
    const folder = await newFolder();
    const address = kind === "file" ? folder : `sqlite:${join(folder, "sessions.db")}`;
    const manager = await SessionManager.open({ store: address, budget: 4_000 });
    const made = await manager.create();
    await made.append(asked("hello"));
    await made.compose();
    await made.pin("never deploy on a Friday");
    const window = (await made.compose()).messages;
    await made.close();
    for (let count = 0; count < 140; count++) await (await manager.resume(made.id)).close();
    const resumed = await manager.resume(made.id);
    expect((await resumed.compose()).messages).toEqual(window);
    await manager.close();
    expect((await toldOf(address, made.id)).records).toHaveLength(141);
  });
});
