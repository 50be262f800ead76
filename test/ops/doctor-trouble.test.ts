/** The doctor and trouble that is no damage (seed 001 §8.2): a full disk, a silent holder, a window that outgrew. */
import { expect, it } from "vitest";
import { doctor, monitor } from "windrow/ops";
import type { MonitorEvent } from "windrow/ops";
import { everybody, filesStore, newSession, stateOf } from "../kit/inside/store.ts";
import { newFolder, windrow } from "../cli/stage.ts";
import { closing } from "../kit/stores.ts";

it("tells of a disk with little room, and what the sessions take of it", async () => {
  const folder = await newFolder();
  const store = closing(filesStore({ folder }));
  await store.finish(await store.create(everybody, newSession()), stateOf("completed"));
  const look = async (free: number): Promise<readonly string[]> => {
    const { findings, open } = await doctor(store, { folder, freeBytes: async () => free });
    expect(open).toBe(0);
    return findings.map(({ problem, severity }) => `${severity} ${problem}`);
  };
  expect(await look(1e9)).toEqual([]);
  expect(await look(0.9e9)).toEqual(["notice disk-low"]);
  expect(await look(5e6)).toEqual(["notice disk-full"]);
  const [finding] = (await doctor(store, { folder, freeBytes: async () => 5e6 })).findings;
  expect(finding?.message).toMatch(/^5 MB are free .* in running, .* in completed\. .*No space left.*windrow cleanup/);
});

it("tells of a live process that holds a session and is silent", async () => {
  const store = closing(filesStore({ folder: await newFolder() }));
  const lock = await store.create(everybody, newSession());
  expect((await doctor(store)).findings).toEqual([]);
  const now = (): Date => new Date(Date.now() + 600_000);
  const { findings } = await doctor(store, { now });
  expect(findings).toMatchObject([{ problem: "holder-silent", severity: "notice", sessionId: lock.id }]);
  expect(findings[0]?.message).toContain(`Process ${process.pid} on `);
  await lock.release();
  expect((await doctor(store, { now })).findings).toEqual([]);
});

it("tells of a window over its budget that nothing was taken out of", async () => {
  const store = closing(filesStore({ folder: await newFolder() }));
  const lock = await store.create(everybody, newSession({ config: { budget: 1_000 } }));
  const state = { ...stateOf("processing"), compressionCount: 0, epochCount: 0 };
  const look = async (change: object): Promise<readonly string[]> => {
    await store.setState(lock, { ...state, ...change });
    return (await doctor(store)).findings.map(({ problem }) => problem);
  };
  expect(await look({ currentContextTokens: 1_000 })).toEqual([]);
  expect(await look({ currentContextTokens: 1_001 })).toEqual(["never-compressed"]);
  expect(await look({ currentContextTokens: 1_001, compressionCount: 1 })).toEqual([]);
  expect(await look({ currentContextTokens: 1_001, epochCount: 1 })).toEqual([]);
  await lock.release();
});

it("tells of a session that another program left completing, which the monitor ends", async () => {
  const store = closing(filesStore({ folder: await newFolder() }));
  const lock = await store.create(everybody, newSession());
  await store.setState(lock, stateOf("completing"));
  expect((await doctor(store)).findings, "its program may end it yet").toEqual([]);
  await lock.release();
  expect((await doctor(store)).findings).toMatchObject([{ problem: "left-completing", sessionId: lock.id }]);
  const events: MonitorEvent[] = [];
  await monitor(store, { once: true, onEvent: (event) => events.push(event) });
  expect(events[0]).toEqual({ type: "session-moved", sessionId: lock.id });
  expect((await store.info(everybody, lock.id)).state).toMatchObject({ status: "completed", error: null });
  expect((await doctor(store)).findings).toEqual([]);
});

it("says it in the language of who asks", async () => {
  const folder = await newFolder();
  await (await closing(filesStore({ folder })).create(everybody, newSession())).release();
  const said = async (lang: string): Promise<string> =>
    (await windrow(["doctor", "--store", folder, "--lang", lang])).stdout;
  expect(await said("en")).toContain("Nothing is wrong.");
  expect(await said("ja")).toContain("問題はない。");
  expect(await said("zh")).toContain("没有问题。");
  expect((await windrow(["doctor", "--store", folder, "--lang", "xx"])).status).toBe(2);
  expect((await windrow(["doctor", "--help"])).stdout).toContain("windrow doctor --mend");
});
