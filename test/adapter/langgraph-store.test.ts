/** LangGraph's store: owners apart, wrong operations, what an erased session put, a copy of each item. Its real package is in interop/langchain. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Scope } from "windrow";
import { createLangGraphStore } from "windrow/langchain";
import { forgetByUser } from "../kit/inside/memory.ts";
import { ramStore } from "../kit/inside/store.ts";

/** The one method that LangGraph's stores have to bring. */
abstract class BaseStore {
  abstract batch(operations: readonly object[]): Promise<unknown[]>;
}

interface Found {
  readonly key: string;
  readonly value: { text: string };
}

async function one(store: BaseStore, operation: object): Promise<unknown> {
  return (await store.batch([operation]))[0];
}

it("keeps the items of owners apart, whatever they put, search and list", async () => {
  const owners: readonly Scope[] = [
    {},
    { user: "ann" },
    { user: "bob" },
    { user: "ann", tenant: "t" },
    { tenant: "t" },
  ];
  const label = fc.constantFrom("a", "b", "ann");
  const operation = fc.record({
    owner: fc.nat(owners.length - 1),
    namespace: fc.array(label, { minLength: 1, maxLength: 3 }),
    key: label,
    isDeleted: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 20 }), async (operations) => {
      const store = ramStore();
      const stores = owners.map((owner) => createLangGraphStore(BaseStore, store, owner));
      const expected = owners.map(() => new Map<string, string>());
      for (const [at, { owner, namespace, key, isDeleted }] of operations.entries()) {
        const text = `heron ${at} of owner <${owner}>`;
        await stores[owner]?.batch([{ namespace, key, value: isDeleted ? null : { text } }]);
        const place = JSON.stringify([...namespace, key]);
        if (isDeleted) expected[owner]?.delete(place);
        else expected[owner]?.set(place, text);
      }
      for (const [at, own] of stores.entries()) {
        const everything = { namespacePrefix: [], limit: 100 };
        const listed = (await one(own, everything)) as readonly Found[];
        const texts = [...(expected[at]?.values() ?? [])].toSorted();
        expect(listed.map(({ value }) => value.text).toSorted()).toEqual(texts);
        const found = (await one(own, { ...everything, query: "heron" })) as readonly Found[];
        expect(found.map(({ value }) => value.text).toSorted()).toEqual(texts);
      }
    }),
    { numRuns: 30 },
  );
});

it.each([
  [{ namespace: [], key: "k", value: {} }, /A namespace is a list of texts, one or more/],
  [{ namespace: ["a", ""], key: "k" }, /none empty/],
  [{ namespace: "a", key: "k", value: {} }, /not "a"/],
  [{ namespace: ["a"], key: 5, value: {} }, /A key is a text, not 5/],
  [{ namespace: ["a"], key: "k", value: "text" }, /A value is an object, or null for none/],
])("refuses %j, and puts nothing of its batch", async (operation, told) => {
  const store = createLangGraphStore(BaseStore, ramStore());
  const fine = { namespace: ["a"], key: "fine", value: { text: "x" } };
  await expect(store.batch([fine, operation])).rejects.toThrow(told);
  expect(await one(store, { namespacePrefix: [] })).toEqual([]);
});

it("gives copies: what a caller changes in an item changes nothing", async () => {
  const store = createLangGraphStore(BaseStore, ramStore());
  const place = { namespace: ["a"], key: "k" };
  const value = { text: "kept" };
  await one(store, { ...place, value });
  value.text = "changed";
  ((await one(store, place)) as Found).value.text = "changed";
  expect(await one(store, place)).toMatchObject({ value: { text: "kept" } });
});

it("loses what an erased session put, and goes back to what others had put before", async () => {
  const store = ramStore();
  const by = (sessionId: string): BaseStore => createLangGraphStore(BaseStore, store, { user: "ann" }, { sessionId });
  const place = { namespace: ["a"], key: "k" };
  await one(by("stays"), { ...place, value: { text: "fine" } });
  await one(by("erased"), { ...place, value: { text: "canary" } });
  await one(by("erased"), { ...place, key: "other", value: { text: "canary" } });
  await forgetByUser(store, { user: "ann" }, new Map([["ann", ["erased"]]]));
  const left = (await one(by("stays"), { namespacePrefix: [] })) as readonly Found[];
  expect(left.map(({ value }) => value.text)).toEqual(["fine"]);
});
