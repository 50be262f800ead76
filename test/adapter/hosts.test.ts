/** Every host over a session: its windows, its journal, a resume, a replaced history, and a store that masks or fails. */
import { describe, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import type { Message, Session, Store } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { createMask, openStore } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { newFolder } from "../cli/stage.ts";
import { load, testedHosts } from "./hosts.ts";
import type { HostConversation, TestedHost } from "./hosts.ts";
import { textOf } from "./replaced-histories.ts";
import { longRun } from "./transcripts.ts";
import { listed } from "../kit/sessions.ts";

const run = longRun(20);
const says = (...texts: readonly string[]): readonly Message[] =>
  texts.map((text, at) => ({
    ...{ id: `said-${text}-${at}`, timestamp: "2026-11-01T00:00:00.000Z" },
    role: at % 2 === 0 ? "user" : "assistant",
    parts: [{ type: "text", text }],
  }));

interface Stage extends HostConversation {
  readonly told: () => readonly string[];
  /** How many messages the store has. */
  readonly logged: () => Promise<number>;
  /** Goes on in what another process would make of the store. */
  readonly resume: () => Promise<Stage>;
}

async function stage(host: TestedHost, open: () => Promise<Store>, id?: string): Promise<Stage> {
  const events: AdapterEvent[] = [];
  const manager = await SessionManager.open({ store: await open(), budget: 4_000, profile: host.profile! });
  onTestFinished(() => manager.close());
  const session: Session = id === undefined ? await manager.create() : await manager.resume(id);
  return {
    ...(await host.open(load, { session, on: (event) => void events.push(event) }, manager)),
    told: () => events.map(({ type }) => type),
    async logged() {
      const sessions = await listed(manager.list());
      const logs = await Promise.all(sessions.map(({ metadata }) => listed(manager.messages(metadata.uuid))));
      return logs.flat().length;
    },
    async resume() {
      await manager.close();
      return stage(host, open, session.id);
    },
  };
}

const hosts = testedHosts.filter(({ name, profile }) => profile !== undefined && !name.includes("cleared"));

describe.each(hosts)("$name", (host) => {
  it("gives the same window for the same messages, also after a resume, and appends nothing twice", async () => {
    const folder = await newFolder();
    const here = await stage(host, () => openStore(folder));
    const windows = [await here.send(run), await here.send(run)];
    expect(here.told()).toEqual(["window-sent", "window-sent"]);
    const resumed = await here.resume();
    windows.push(await resumed.send(run));
    expect(JSON.stringify(windows[0]).length).toBeLessThan(0.7 * JSON.stringify(run).length);
    expect(windows.slice(1)).toEqual([windows[0], windows[0]]);
    expect(await resumed.logged()).toBe(run.length);
    expect(textOf(await resumed.send([...run, ...says("", "Done.").slice(1)]))).toContain("Done.");
    expect(await resumed.logged()).toBe(run.length + 1);
    expect(resumed.told()).toEqual(["window-sent", "window-sent"]);
  });

  it("keeps equal messages apart", async () => {
    const here = await stage(host, () => openStore("ram:"));
    await here.send(says("yes", "ok", "yes"));
    expect(await here.logged()).toBe(3);
  });

  it("tells once of a history that was replaced, goes on with it alone, and keeps both", async () => {
    const here = await stage(host, () => openStore("ram:"));
    await here.send(says("One", "Two"));
    for (const other of [says("Three"), says("Three", "Four")]) {
      const window = textOf(await here.send(other));
      expect(window).toContain("Three");
      expect(window).not.toMatch(/One|Two/);
    }
    expect(here.told()).toEqual(["window-sent", "history-replaced", "window-sent", "window-sent"]);
    expect(await here.logged()).toBe(4);
  });

  it("sends everything while its store fails, tells it once, and appends what is missing later", async () => {
    const faulty = faultyStore(await openStore("ram:"));
    const here = await stage(host, async () => faulty.store);
    await here.send(run.slice(0, 5));
    faulty.fail("append");
    for (const messages of [run.slice(0, 9), run]) {
      // OpenStarry has windows from its context manager alone: they are made of the messages then.
      const least = host.name === "openstarry" ? 15 : 15 * (messages.length - 1);
      expect(textOf(await here.send(messages)).match(/compute\(\d+\)/g)?.length).toBeGreaterThanOrEqual(least);
    }
    faulty.mend();
    await here.send(run);
    expect(await here.logged()).toBe(run.length);
    const failures = here.told().filter((type) => type !== "window-sent");
    expect(failures).toEqual(["adapter-failed"]);
  });

  it("shows placeholders where the live window is masked, also after a resume and of another history", async () => {
    const secret = "Zebra-Crossing-77";
    const folder = await newFolder();
    const mask = createMask({ values: { OWN: secret }, liveMask: true });
    const here = await stage(host, () => openStore(folder, { mask }));
    const texts = says(`The password is ${secret}`, "Go on");
    const windows = [await here.send(texts)];
    const resumed = await here.resume();
    windows.push(await resumed.send(texts), await resumed.send(says(`Another: ${secret}`)));
    for (const window of windows.map(textOf)) {
      expect(window).toContain("[OWN]");
      expect(window).not.toContain(secret);
    }
  });
});

const free = testedHosts.filter(({ isFree, name }) => isFree && !["openstarry", "pi's coding agent"].includes(name));

it.each(free)("$name sends its own messages where no window can be made", async (host) => {
  const told: string[] = [];
  const opened = await host.open(load, { on: ({ type }) => told.push(type) });
  for (let time = 0; time < 2; time++) expect(await opened.send(says("Hi"))).toHaveLength(1);
  expect(told).toEqual(["adapter-failed"]);
});
