import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { rmSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import type { StoreFixture } from "windrow/testing";
import { everybody, messageRecord, newSession, readAll, stateOf, texts } from "../../kit/inside/store.ts";
import { closing, filesFixture } from "../../kit/stores.ts";

let fixture: StoreFixture & { readonly folder: string };

beforeEach(async () => void (fixture = closing(await filesFixture({ durability: "group" }))));

const large = 60;

/** About six MiB of messages, so that the compressed log has several members. */
async function longSession(): Promise<{ readonly id: string; readonly log: string }> {
  const { store, folder } = fixture;
  const lock = await store.create(everybody, newSession());
  for (let number = 1; number <= large; number++) {
    const words = Array.from({ length: 6_000 }, (_, place) => (place * number * 7919).toString(36));
    await store.append(lock, [messageRecord(`${number} `), messageRecord(words.join(" ").slice(0, 40_000))]);
  }
  await store.finish(lock, stateOf("completed"));
  return { id: lock.id, log: join(folder, "completed", lock.id, "messages.jsonl") };
}

describe("a compressed log", () => {
  it("is gzip as every program reads it, and gives any record as before", async () => {
    const { store } = fixture;
    const { id, log } = await longSession();
    const plain = await readFile(log);
    expect(plain.length).toBeGreaterThan(2_000_000);
    const queries = [{ from: 3, to: 5 }, { from: 2 * large - 1 }, { last: 4 }, { limit: 2 }, { from: 57, limit: 3 }];
    const ask = async () => {
      const found = [];
      for (const query of queries) found.push(await readAll(store, id, { kind: "message", ...query }));
      return found;
    };
    const before = await ask();
    await store.upkeep.compress!(everybody, id);
    expect(gunzipSync(await readFile(`${log}.gz`)).equals(plain)).toBe(true);
    expect(await ask()).toEqual(before);
    await store.upkeep.decompress!(everybody, id);
    expect((await readFile(log)).equals(plain)).toBe(true);
  });

  it("that another program compressed is read too", async () => {
    const { store } = fixture;
    const { id, log } = await longSession();
    const before = await texts(store, id, { last: 5 });
    const plain = await readFile(log);
    await writeFile(`${log}.gz`, gzipSync(plain));
    rmSync(log);
    expect(await texts(store, id, { last: 5 })).toEqual(before);
    expect((await store.upkeep.size(everybody, id)).plainBytes).toBeGreaterThan(plain.length);
    await store.upkeep.decompress!(everybody, id);
    expect((await readFile(log)).equals(plain)).toBe(true);
  });
});
