import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { everybody, messageRecord, newSession, readAll, stateOf } from "../kit/inside/store.ts";
import { windrow } from "../cli/stage.ts";
import { dist } from "../kit/build.ts";
import { closedSession, startWriter, storePlace } from "./store-kit.ts";
import type { StoreFolder } from "./store-kit.ts";

let place: StoreFolder;
let store: Store;

beforeEach(async () => void ({ place, store } = await storePlace()));

const holder = () => startWriter(dist, place.folder);
const unlock = (id: string, ...flags: readonly string[]) => windrow(["unlock", id, "--store", place.folder, ...flags]);

describe("windrow unlock", () => {
  it("frees a session whose process died, which then counts as closed", async () => {
    const { id, processId, kill } = await holder();
    await kill();
    expect(await store.holding.holder(everybody, id)).toMatchObject({ state: "gone", owner: { processId } });
    const { status, stdout } = await unlock(id);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`process ${processId} on `)]);
    expect(await store.holding.holder(everybody, id)).toMatchObject({ state: "none" });
  });

  it("says so of a session that is free already, found by the beginning of its id, or as the latest", async () => {
    const id = await closedSession(store);
    for (const name of [id, id.slice(0, 8), "latest"]) {
      const { status, stdout } = await unlock(name, "--json");
      expect([status, JSON.parse(stdout)]).toMatchObject([0, { id, state: "none" }]);
    }
    expect(await unlock("nosuch")).toMatchObject({ status: 2, stderr: expect.stringContaining("latest") });
  });

  it("refuses to take one from a live process, unless forced and told why", async () => {
    const { id, processId } = await holder();
    expect(await unlock(id)).toMatchObject({ status: 1, stderr: expect.stringContaining(`process ${processId} on`) });
    expect(await unlock(id, "--force")).toMatchObject({ status: 2, stderr: expect.stringContaining("--reason") });
    await expect(store.holding.unlock(everybody, id, { force: true })).rejects.toMatchObject({ code: "bad-option" });
    await expect(store.lock(everybody, id)).rejects.toMatchObject({ code: "session-busy" });

    const forced = await unlock(id, "--force", "--reason", "it hangs");
    expect(forced).toMatchObject({ status: 0, stdout: expect.stringContaining("was taken from") });
    const [edit] = await readAll(store, id, { kind: "edit" });
    expect(edit).toMatchObject({ type: "unlocked", data: { reason: "it hangs", process_id: processId } });
    const lock = await store.lock(everybody, id);
    await store.append(lock, [messageRecord("mine now")]);
    await lock.release();
  });

  it("refuses a finished session and one that is not there", async () => {
    const lock = await store.create(everybody, newSession());
    await store.finish(lock, stateOf("completed"));
    expect(await unlock(lock.id)).toMatchObject({ status: 1, stderr: expect.stringContaining("read-only") });
    const other = newSession().uuid;
    expect(await unlock(other)).toMatchObject({ status: 1, stderr: expect.stringContaining("session-not-found") });
  });
});
