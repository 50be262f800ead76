import { describe, expect, it } from "vitest";
import { faultyStore, register, storeConformance } from "windrow/testing";
import { everybody, messageRecord, readAll, refused, sessionWith, stateOf, texts } from "../kit/inside/store.ts";
import { filesFixture, ramFixture } from "../kit/stores.ts";
import { closing } from "./stage.ts";

describe("in front of a store that conforms it conforms, while nothing fails", () => {
  const capabilities = { durable: false, shared: false };
  const open = async () => {
    const fixture = await ramFixture();
    return { ...fixture, store: faultyStore(fixture.store).store };
  };
  register(storeConformance(capabilities, open), { describe, it });
});

describe("a store that was told to fail", () => {
  it("fails so often and with that code, and nothing was done", async () => {
    const fixture = closing(await filesFixture());
    const faulty = faultyStore(fixture.store);
    const lock = await sessionWith(faulty.store, 1);
    faulty.fail("append", { times: 2 });
    faulty.fail("setState", { code: "store-unavailable" });
    for (const _ of [1, 2]) {
      await expect(faulty.store.append(lock, [messageRecord("lost")])).rejects.toMatchObject({ code: "not-durable" });
    }
    await faulty.store.append(lock, [messageRecord("2")]);
    await refused(() => faulty.store.setState(lock, stateOf("processing")), "store-unavailable");
    expect(await texts(faulty.store, lock.id)).toEqual(["1", "2"]);
    expect(faulty.calls.get("append")).toBe(4);
    faulty.mend();
    await faulty.store.setState(lock, stateOf("processing"));
  });

  it("can lose only the answer, fail in the middle of a stream's life, and fail a method of a facet", async () => {
    const fixture = closing(await ramFixture());
    const faulty = faultyStore(fixture.store);
    const lock = await sessionWith(faulty.store, 1);
    faulty.fail("append", { when: "after", times: 1 });
    await expect(faulty.store.append(lock, [messageRecord("2")])).rejects.toMatchObject({ code: "not-durable" });
    expect(await texts(faulty.store, lock.id)).toEqual(["1", "2"]);
    faulty.fail("read", { code: "store-corrupt" });
    await expect(readAll(faulty.store, lock.id, { kind: "message" })).rejects.toMatchObject({ code: "store-corrupt" });
    faulty.fail("dump", { code: "store-unavailable", times: 1 });
    await expect(faulty.store.transfer.dump(everybody, lock.id)).rejects.toMatchObject({ code: "store-unavailable" });
    expect((await faulty.store.transfer.dump(everybody, lock.id)).id).toBe(lock.id);
    expect(faulty.calls.get("dump")).toBe(2);
  });

  it("can hold calls until they are let through", async () => {
    const fixture = closing(await ramFixture());
    const faulty = faultyStore(fixture.store);
    const lock = await sessionWith(faulty.store, 0);
    const letThrough = faulty.hold("append");
    const appended = faulty.store.append(lock, [messageRecord("1")]);
    expect((await faulty.store.info(everybody, lock.id)).state.status).toBe("initializing");
    expect(await texts(faulty.store, lock.id)).toEqual([]);
    letThrough();
    await appended;
    expect(await texts(faulty.store, lock.id)).toEqual(["1"]);
  });
});
