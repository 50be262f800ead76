/** An archive in a bucket: conditional writes, answers that are lost, and a name that is taken. */
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { s3Archive } from "windrow/store";
import type { ArchiveBucket } from "windrow/store";
import { everybody, messageRecord, newSession, readAll, stateOf } from "../../kit/inside/store.ts";
import { fakeS3Client, startFakeS3 } from "../../kit/fake-s3.ts";
import type { FakeS3 } from "../../kit/fake-s3.ts";
import { storeKinds } from "./kinds.ts";
import { opened } from "../stage.ts";

let s3: FakeS3;
beforeEach(async () => {
  s3 = await startFakeS3();
});
afterEach(async () => s3.close());

function bucketOf(): ArchiveBucket {
  const pause = async (): Promise<void> => undefined;
  return s3Archive({ client: fakeS3Client(s3.url), bucket: "agents", prefix: "archive", pause });
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`${kind.name} and a bucket`, () => {
    async function finished(store: Store): Promise<string> {
      const lock = await store.create(everybody, newSession());
      for (let turn = 0; turn < 5; turn++) await store.append(lock, [messageRecord(`turn ${turn}`)]);
      await store.finish(lock, { ...stateOf("completed"), llmCallCount: 0, toolCallCount: 0 });
      return lock.id;
    }
    const objects = (): readonly string[] => [...s3.objects.keys()];

    it.each(["500", "cut"] as const)("archive once, whatever answer is lost (%s)", async (how) => {
      const store = await opened(await kind.address(), { archive: bucketOf() });
      s3.delay = 2;
      for (const when of ["before", "after"] as const) {
        for (const method of ["PUT", "GET", "DELETE"]) {
          const id = await finished(store);
          s3.faults.push({ method, how, when });
          await store.archiving!.archive(everybody, id);
          expect(objects()).toHaveLength(1);
          expect(await readAll(store, id, { kind: "message" })).toHaveLength(5);
          await store.upkeep.erase(everybody, [id]);
          expect([objects(), s3.faults.splice(0).length]).toEqual([[], 0]);
        }
      }
    });

    it("stay as they are where the bucket cannot be asked, or does not hold what was written", async () => {
      const bucket = bucketOf();
      let wrong: ((body: Uint8Array) => Uint8Array) | undefined;
      const put = async (key: string, body: Uint8Array): Promise<void> => {
        // The name is taken by what is none, or by another session's object.
        if (wrong) await bucket.put(key, wrong(body));
        await bucket.put(key, body);
      };
      const store = await opened(await kind.address(), { archive: { ...bucket, put } });
      const id = await finished(store);
      const before = await readAll(store, id, { kind: "message" });
      for (let n = 0; n < 5; n++) s3.faults.push({ method: "PUT", how: "500", when: "before" });
      await expect(store.archiving!.archive(everybody, id)).rejects.toMatchObject({ code: "store-unavailable" });
      const another = (body: Uint8Array): Uint8Array =>
        gzipSync(gunzipSync(body).toString().replace("turn 2", "turn 9"));
      for (wrong of [another, () => bytes("nothing")]) {
        await expect(store.archiving!.archive(everybody, id)).rejects.toMatchObject({ code: "archive-conflict" });
        expect((await store.info(everybody, id)).state.archived).toBeUndefined();
        expect(await readAll(store, id, { kind: "message" })).toEqual(before);
        s3.objects.clear();
      }
      wrong = undefined;
      expect(await store.archiving!.archive(everybody, id)).toMatchObject({ outcome: "archived" });
      expect(await store.archiving!.archive(everybody, id)).toMatchObject({ outcome: "same" });
      expect(await readAll(store, id, { kind: "message" })).toEqual(before);
    });
  });
}
