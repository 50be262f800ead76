/** The state of a session with summaries: the same numbers live, on disk, after a crash and counted again. */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, Session } from "windrow";
import type { Model } from "windrow/model";
import type { SessionState } from "windrow/store";
import { driver, openDatabase } from "../kit/sqlite-stores.ts";
import { answered, asked } from "../kit/sessions.ts";

const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "windrow-summary-state-"));
  undo.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

const answering: Model = async () => ({ text: "All went well.", usage: { input: 300, output: 9 }, finish: "stop" });

async function open(store: string, options: ManagerOptions = {}): Promise<SessionManager> {
  const strategy = { use: "summary-at-threshold", ratio: 0.5 };
  const manager = await SessionManager.open({
    store,
    strategy,
    budget: 2_000,
    summarizer: answering,
    compaction: "blocking",
    ...options,
  });
  undo.push(() => manager.close());
  return manager;
}

/** One turn of about 130 tokens, and whether a summary was made in it. */
async function turn(session: Session, index: number): Promise<boolean> {
  const before = session.stats().state.compressionCount;
  await session.append(asked(`question ${index}: ${"why ".repeat(60)}`));
  await session.compose({ system: "Be brief. ".repeat(10) });
  await session.append(answered(`answer ${index}: ${"so ".repeat(60)}`));
  await session.endStep({ usage: { input: 100, output: 10 } });
  return session.stats().state.compressionCount > before;
}

/** Turns until the first summary. */
async function untilSummary(session: Session): Promise<number> {
  for (let index = 1; index < 40; index++) if (await turn(session, index)) return index;
  throw new Error("no summary was made");
}

function numbersOf(state: SessionState): Partial<SessionState> {
  return { ...state, updatedAt: "", lastActivity: "" };
}

it("is on disk as it is in memory once a summary is committed, with what the summary cost", async () => {
  const store = await folder();
  const manager = await open(store);
  const session = await manager.create();
  const turns = await untilSummary(session);
  const { state } = session.stats();
  expect(state).toMatchObject({
    status: "processing",
    llmCallCount: turns,
    totalTokensUsed: turns * 110 + 309,
    compressionCount: 1,
    epochCount: 1,
  });
  expect(state.currentContextTokens).toBe((await session.compose({ system: "Be brief. ".repeat(10) })).tokens);
  const disk = JSON.parse(await readFile(join(store, "running", session.id, "state.json"), "utf8")) as object;
  expect(disk).toMatchObject({ compression_count: 1, epoch_count: 1, total_tokens_used: turns * 110 + 309 });
  expect((await manager.info(session.id)).state).toEqual(session.stats().state);
});

it.each(["without state.json", "with the state of an earlier call"])("has the same numbers %s", async (loss) => {
  const [store, other] = [await folder(), await folder()];
  const session = await (await open(store)).create();
  const path = join("running", session.id, "state.json");
  await turn(session, 0);
  const early = await readFile(join(store, path), "utf8");
  await untilSummary(session);
  // The copy is what a power cut leaves: nobody let go of the lock.
  await cp(store, other, { recursive: true });
  if (loss === "without state.json") await rm(join(other, path));
  else await writeFile(join(other, path), early);
  const again = await (await open(other)).resume(session.id);
  expect(numbersOf(again.stats().state)).toEqual(numbersOf(session.stats().state));
  const disk = (await (await open(other)).info(session.id)).state;
  expect(numbersOf(disk)).toEqual(numbersOf(session.stats().state));
});

it.skipIf(!driver)(
  "has the same numbers behind a dead writer of a SQLite store, whose last state is older than its lines",
  async () => {
    const file = join(await folder(), "store.db");
    const session = await (await open(`sqlite:${file}`)).create();
    await turn(session, 0);
    const earlier = openDatabase(file);
    const { state: early } = earlier.prepare("SELECT state FROM sessions").get() as { readonly state: string };
    earlier.close();
    await untilSummary(session);
    const other = join(await folder(), "store.db");
    const living = openDatabase(file);
    living.exec(`VACUUM INTO '${other}'`);
    living.close();
    // The copy is what a power cut leaves: its holder is a process that is gone.
    const copy = openDatabase(other);
    copy.prepare("UPDATE sessions SET state = ?, holder = json_set(holder, '$.processStart', '1')").run(early);
    copy.close();
    const again = await (await open(`sqlite:${other}`)).resume(session.id);
    expect(numbersOf(again.stats().state)).toEqual(numbersOf(session.stats().state));
    const disk = (await (await open(`sqlite:${other}`)).info(session.id)).state;
    expect(numbersOf(disk)).toEqual(numbersOf(session.stats().state));
  },
);

it("says `compressing` while a model is asked, and `processing` before the first answer comes", async () => {
  const seen: string[] = [];
  const store = await folder();
  const summarizer: Model = async (request) => {
    seen.push((await manager.info(session.id)).state.status);
    return answering(request);
  };
  const manager = await open(store, { summarizer });
  const session = await manager.create();
  await session.append(asked("Begin."));
  expect((await manager.info(session.id)).state.status).toBe("initializing");
  await session.compose();
  expect((await manager.info(session.id)).state.status).toBe("processing");
  await untilSummary(session);
  expect(seen).toEqual(["compressing"]);
  expect((await manager.info(session.id)).state.status).toBe("processing");
});

it("is `processing` again where the model fails, and what it cost is counted", async () => {
  const lying: Model = async () => ({ text: "", usage: { input: 50, output: 0 }, finish: "stop" });
  const manager = await open("ram:", { summarizer: lying });
  const session = await manager.create();
  for (let index = 1; index <= 12; index++) await turn(session, index);
  const { state, breaker } = session.stats();
  expect(breaker.failures).toBeGreaterThan(0);
  expect(state).toMatchObject({ status: "processing", compressionCount: 0 });
  expect(state.totalTokensUsed).toBe(12 * 110 + 50 * breaker.failures);
  expect((await manager.info(session.id)).state).toEqual(state);
});
