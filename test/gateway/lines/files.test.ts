/** The files of lines: each open session has some, and a system has only so many. */
import { expect, test } from "vitest";
import { WindrowError } from "windrow";
import type { Lock, Store } from "windrow";
import { ramStore } from "../../kit/inside/store.ts";
import { answered, bodyOf, exchange, openStage, requestOf, user } from "./stage.ts";

const session = { "x-claude-code-session-id": "session-1" };

/** A store that counts the sessions that are open, and that opens only so many at once. */
function counting(most = Infinity): { readonly store: Store; readonly open: Set<Lock> } {
  const inner = ramStore();
  const open = new Set<Lock>();
  const counted = async (lock: () => Promise<Lock>): Promise<Lock> => {
    if (open.size >= most) {
      const cause = Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
      throw new WindrowError("store-unavailable", "No file is left.", { reason: "EMFILE" }, { cause });
    }
    const made = await lock();
    open.add(made);
    const release = made.release.bind(made);
    made.release = () => (open.delete(made), release());
    return made;
  };
  const store = new Proxy(inner, {
    get(target, name) {
      if (name === "create") return (...given: Parameters<Store["create"]>) => counted(() => target.create(...given));
      if (name === "lock") return (...given: Parameters<Store["lock"]>) => counted(() => target.lock(...given));
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { store, open };
}

const requestFor = (task: string, ...more: readonly object[]) => requestOf(bodyOf([user(task), ...more]), session);

test(
  "of many conversations under one name only the newest are open, also while an answer is waited for",
  { timeout: 60_000 },
  async () => {
    const { store, open } = counting();
    const stage = await openStage({ store });
    const long = await stage.lines.send(requestFor("Think long."), "tenant-a");
    for (let task = 0; task < 100; task++) await exchange(stage.lines, requestFor(`Task ${task}.`), answered("Done."));
    await expect.poll(() => open.size).toBeLessThanOrEqual(64);
    // One that rests goes on where it was.
    const said = { role: "assistant", content: "Done." };
    await exchange(stage.lines, requestFor("Task 3.", said, user("More.")), answered("More."));
    await long.keep(answered("Thought."));
    const sessions = await stage.sessions();
    expect(sessions).toHaveLength(101);
    const lengths = await Promise.all(
      sessions.map(async ({ metadata }) => (await stage.messages(metadata.uuid)).length),
    );
    expect(lengths.filter((length) => length === 2)).toHaveLength(100);
    expect(lengths.filter((length) => length === 4)).toHaveLength(1);
    expect(stage.events).toEqual([]);
  },
);

test("of many names only the newest lines are open", async () => {
  const { store, open } = counting();
  const stage = await openStage({ store });
  for (let task = 0; task < 100; task++)
    await exchange(
      stage.lines,
      requestOf(bodyOf([user("Go.")]), { "x-windrow-session": `s-${task}` }),
      answered("Done."),
    );
  await expect.poll(() => open.size).toBeLessThanOrEqual(64);
  expect(await stage.sessions()).toHaveLength(100);
});

test.each(["one name", "many names"])("where no file is left, other lines close theirs: %s", async (names) => {
  const { store, open } = counting(10);
  const stage = await openStage({ store });
  for (let task = 0; task < 30; task++) {
    const headers = names === "one name" ? session : { "x-windrow-session": `s-${task}` };
    await exchange(stage.lines, requestOf(bodyOf([user(`Task ${task}.`)]), headers), answered("Done."));
  }
  expect(stage.events).toEqual([]);
  const sessions = await stage.sessions();
  expect(sessions).toHaveLength(30);
  for (const { metadata } of sessions) expect(await stage.messages(metadata.uuid)).toHaveLength(2);
  expect(open.size).toBeLessThanOrEqual(10);
});

test(
  "lines that wait for no answer leave the memory also while another one does",
  { tags: ["slow"], timeout: 60_000 },
  async () => {
    const stage = await openStage({ store: ramStore() });
    const long = await stage.lines.send(requestFor("Think long."), "tenant-a");
    for (let task = 0; task < 300; task++) await exchange(stage.lines, requestFor(`Task ${task}.`), answered("Done."));
    await long.keep(answered("Thought."));
    const said = { role: "assistant", content: "Thought." };
    await exchange(stage.lines, requestFor("Think long.", said, user("On.")), answered("Thought on."));
    const lengths = await Promise.all(
      (await stage.sessions()).map(async ({ metadata }) => (await stage.messages(metadata.uuid)).length),
    );
    expect(lengths.filter((length) => length === 4)).toHaveLength(1);
    expect(lengths).toHaveLength(301);
  },
);
