/** Epochs are recorded as differences: what they say comes back, and a lost line costs no window its validity. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { validateWindow } from "windrow";
import type { Composed, Store, SessionManager } from "windrow";
import { viewSession } from "windrow/ops";
import type { StoredRecordOf } from "windrow/store/author";
import { codingSession } from "../kit/inside/message.ts";
import { newestEdits, newestOutline, recordedEpoch } from "../kit/inside/session.ts";
import { filesStore } from "../kit/inside/store.ts";
import { EpochReader, epochOf, epochRecord, initialState, openaiChat } from "../kit/inside/window.ts";
import { asked, listed, newFolder, openManager } from "../kit/sessions.ts";

async function open(folder: string, budget = 6_000): Promise<{ manager: SessionManager; store: Store }> {
  const store = filesStore({ folder, durability: "group" });
  const manager = await openManager({ store, budget });
  return { manager, store };
}

interface Run {
  readonly folder: string;
  readonly id: string;
  readonly windows: readonly Composed[];
  readonly edits: string;
}

/** Runs an agent, resumed every so many calls. */
async function run(resumeEvery = Infinity): Promise<Run> {
  const folder = await newFolder();
  let { manager } = await open(folder);
  let session = await manager.create();
  const windows: Composed[] = [];
  let calls = 0;
  for (const message of codingSession(120, 20)) {
    if (message.role === "assistant") {
      calls++;
      if (calls % resumeEvery === 0) {
        await manager.close();
        ({ manager } = await open(folder));
        session = await manager.resume(session.id);
      }
      windows.push(await session.compose());
    }
    await session.append(message);
  }
  await manager.close();
  return { folder, id: session.id, windows, edits: join(folder, "running", session.id, "edits.jsonl") };
}

async function linesOf(store: Store, id: string): Promise<readonly StoredRecordOf<"edit">[]> {
  return (await listed(store.read({}, id, { kind: "edit" }))).filter(({ type }) => type === "epoch");
}

/** The messages that a line copies from, as docs/format.md has them. */
function messagesIn(line: StoredRecordOf<"edit"> | undefined): readonly number[] {
  const { copies = "" } = (line?.data["texts"] ?? {}) as { readonly copies?: string };
  const named = copies.split(",").map((item) => item.replace("+", "").split("."));
  return named.flatMap(([seq = "0", , length]) => (length !== undefined && seq !== "0" ? [parseInt(seq, 36)] : []));
}

/** Damages a line of a log on disk. */
async function damage(path: string, isHit: (line: string) => boolean): Promise<void> {
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, lines.map((line) => (isHit(line) ? line.replace("timestamp", "timestomp") : line)).join("\n"));
}

it.each([
  ...["slot", "inserts", "reverted", "forced", "horizon", "sizing"].map((name) => ({ [name]: "damaged" })),
  { sizing: { size: 16_000, calls: 9, returns: 1 } },
  ...["pins", "goal", "masked", "task_seq"].map((name) => ({ held: { [name]: "damaged" } })),
])("an epoch's line with %j is passed over", (damaged) => {
  const facts = { strategy: "", profile: "", counter: "", budget: 1, tokensBefore: 0, tokensAfter: 0 };
  const state = { ...initialState, epoch: 1, opened: 3 };
  const { data } = epochRecord({ state, historyTokens: 0 }, { ...facts, reason: "first" }, "2026-01-01T00:00:00Z");
  expect(epochOf(data)?.state.epoch).toBe(1);
  expect(epochOf({ ...data, ...damaged })).toBeUndefined();
});

describe("epochs in copies", () => {
  it("come back as the windows had them, numbered, and resumes change nothing", { tags: ["slow"] }, async () => {
    const { folder, id, windows } = await run();
    const { store } = await open(folder);
    const lines = await linesOf(store, id);
    const short = lines.filter(({ data }) => data["version"] === 2);
    expect(short.length).toBeGreaterThan(4);
    const reader = new EpochReader(store, {}, id);
    for (const line of lines) {
      const epoch = await reader.epoch(line);
      const state = epoch && windows.find((window) => window.state.epoch === epoch.state.epoch)?.state;
      expect(state?.edits).toEqual(epoch?.state.edits);
      expect((await recordedEpoch({ store, scope: {}, id }, epoch?.state.epoch ?? -1)).state.edits).toEqual(
        state?.edits,
      );
    }
    const newest = await newestEdits({ store, scope: {}, id });
    expect(newest.epoch?.state.edits).toEqual(windows.at(-1)?.state.edits);
    expect((await newestOutline({ store, scope: {}, id }))?.state.epoch).toBe(newest.epoch?.state.epoch);

    const resumed = await run(7);
    expect(resumed.windows.map(({ report }) => report.windowHash)).toEqual(
      windows.map(({ report }) => report.windowHash),
    );
  });

  it("are shown by a look at the session as complete lines are", async () => {
    const { folder, id, windows } = await run();
    const { store } = await open(folder);
    const { epochs } = await viewSession(store, {}, id, { epochs: true, last: Infinity });
    const opened = windows.filter(({ report }) => report.opened);
    expect(epochs?.shown.map(({ epoch }) => epoch)).toEqual(opened.map(({ state }) => state.epoch));
    expect(epochs?.shown.map(({ edits }) => Object.values(edits).reduce((sum, one) => sum + one, 0))).toEqual(
      opened.map(({ state }) => state.edits.length),
    );
  });

  it("copy from a log that an earlier process wrote", async () => {
    const { folder, id, windows } = await run();
    const { manager, store } = await open(folder, 3_000);
    const session = await manager.resume(id);
    const { report, state } = await session.compose();
    expect([report.opened !== undefined, state.epoch]).toEqual([true, (windows.at(-1)?.state.epoch ?? 0) + 1]);
    const line = (await linesOf(store, id)).at(-1);
    expect(messagesIn(line).length).toBeGreaterThan(0);
  });

  it("are passed over where a line they rest on is damaged: the resumed window is valid, and the next ones", async () => {
    const { folder, id, edits } = await run();
    const { store: whole } = await open(folder);
    const lines = await linesOf(whole, id);
    const { base: lost } = (lines.at(-1)?.data["texts"] ?? {}) as { readonly base?: number };
    expect(lost).toBeDefined();
    await damage(edits, (line) => line.startsWith(`{"seq":${lost},`));
    const { manager, store } = await open(folder);
    const found = await newestEdits({ store, scope: {}, id });
    expect(found.base?.seq).toBeLessThan(lost ?? 0);
    const session = await manager.resume(id);
    for (let turn = 0; turn < 4; turn++) {
      const window = await session.compose();
      expect(validateWindow(window.messages, openaiChat)).toEqual([]);
      expect(window.tokens).toBeLessThanOrEqual(6_000);
      await session.append(asked(`next ${"words ".repeat(900)}`));
    }
    await manager.close();
    const { store: after } = await open(folder);
    expect((await newestEdits({ store: after, scope: {}, id })).epoch?.state.epoch).toBeGreaterThan(
      found.epoch?.state.epoch ?? 0,
    );
  });

  it("are composed anew from the log where a message is lost that all of them copy", async () => {
    const { folder, id } = await run();
    const { store } = await open(folder);
    const line = (await linesOf(store, id)).find(({ data }) => data["version"] === 2);
    const [first] = messagesIn(line);
    await damage(join(folder, "running", id, "messages.jsonl"), (text) => text.startsWith(`{"seq":${first},`));
    const { manager, store: damaged } = await open(folder);
    expect(line && (await new EpochReader(damaged, {}, id).epoch(line))).toBeUndefined();
    const window = await (await manager.resume(id)).compose();
    expect(validateWindow(window.messages, openaiChat)).toEqual([]);
    expect(window.tokens).toBeLessThanOrEqual(6_000);
  });

  it("are undone to what an earlier line says", async () => {
    const { folder, id, windows } = await run();
    const { manager, store } = await open(folder);
    const session = await manager.resume(id);
    const { state } = windows.at(-1) as Composed;
    const back = windows.find((window) => window.state.epoch === state.previous)?.state;
    await session.undo();
    const { epoch } = await newestEdits({ store, scope: {}, id });
    const texts = (edits: Composed["state"]["edits"] = []): unknown => edits.flatMap(({ text }) => text ?? []);
    expect(texts(epoch?.state.edits)).toEqual(texts(back?.edits));
    const undone = await session.compose();
    await manager.close();
    const again = await (await open(folder)).manager.resume(id);
    expect((await again.compose()).report.windowHash).toBe(undone.report.windowHash);
  });

  it("are copied from none of the messages that the store has masked", async () => {
    const folder = await newFolder();
    const { manager, store } = await open(folder);
    const session = await manager.create();
    for (const [at, message] of codingSession(80, 20).entries()) {
      if (message.role === "assistant") await session.compose();
      await session.append(message);
      if (message.role !== "tool" || at % 4 !== 0) continue;
      const secret = ["ghp", "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"].join("_");
      await session.append(asked(`the token of step ${at} is ${secret}`));
    }
    const kept = await listed(store.read({}, session.id, { kind: "message" }));
    const masked = kept.flatMap(({ seq, message }) => (message.masks ? [seq] : []));
    expect(masked.length).toBeGreaterThan(0);
    const reader = new EpochReader(store, {}, session.id);
    const lines = await linesOf(store, session.id);
    expect(lines.some(({ data }) => data["version"] === 2)).toBe(true);
    for (const line of lines) {
      expect(await reader.epoch(line)).toBeDefined();
      for (const seq of messagesIn(line)) expect(masked).not.toContain(seq);
    }
  });
});
