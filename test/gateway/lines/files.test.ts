/** The files of lines: each open session has some, and a system has only so many. */
import { expect, test } from "vitest";
import { WindrowError } from "windrow";
import type { Lock, Store } from "windrow";
import { answered, assistant, openStage, session, storeWith, user } from "./stage.ts";

/** A store that counts the sessions that are open, and that opens only so many at once. */
function counting(most = Infinity): { readonly store: Store; readonly open: Set<Lock> } {
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
  const store = storeWith((inner, name) => {
    if (name === "create") return (...given: Parameters<Store["create"]>) => counted(() => inner.create(...given));
    if (name === "lock") return (...given: Parameters<Store["lock"]>) => counted(() => inner.lock(...given));
    return undefined;
  });
  return { store, open };
}

test.each([100, 300])(
  "of %i conversations under one name only the newest are open, also while an answer is waited for",
  { tags: ["slow"], timeout: 60_000 },
  async (count) => {
    const { store, open } = counting();
    const stage = await openStage({ store });
    const long = await stage.send([user("Think long.")]);
    for (let task = 0; task < count; task++) await stage.exchange([user(`Task ${task}.`)], "Done.");
    await expect.poll(() => open.size).toBeLessThanOrEqual(64);
    await long.keep(answered("Thought."));
    // Those that rest or were waited for go on where they were.
    await stage.exchange([user("Task 3."), assistant("Done."), user("More.")], "More.");
    await stage.exchange([user("Think long."), assistant("Thought."), user("On.")], "Thought on.");
    const lengths = await stage.lengths();
    expect(lengths).toHaveLength(count + 1);
    expect(lengths.filter((length) => length !== 2)).toEqual([4, 4]);
    expect(stage.events).toEqual([]);
  },
);

test.each([
  ["one name", 10, 30],
  ["many names", 10, 30],
  ["many names", Infinity, 100],
])("of lines under %s, where %d files are there, some close theirs", async (names, most, count) => {
  const { store, open } = counting(most);
  const stage = await openStage({ store });
  for (let task = 0; task < count; task++) {
    const headers = names === "one name" ? session : { "x-windrow-session": `s-${task}` };
    await stage.exchange([user(`Task ${task}.`)], "Done.", { headers });
  }
  await expect.poll(() => open.size).toBeLessThanOrEqual(Math.min(most, 64));
  expect(stage.events).toEqual([]);
  expect(await stage.lengths()).toEqual(Array.from({ length: count }, () => 2));
});
