/** A bucket of S3 by itself: objects that are written once, lists in pages, answers that are lost. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { s3Archive } from "windrow/store";
import type { ArchiveBucket } from "windrow/store";
import { fakeS3Client, startFakeS3 } from "../../kit/fake-s3.ts";
import type { FakeS3, S3Fault } from "../../kit/fake-s3.ts";

let s3: FakeS3;
beforeEach(async () => {
  s3 = await startFakeS3();
});
afterEach(async () => s3.close());

function bucketOf(pauses: number[] = []): ArchiveBucket {
  const pause = async (milliseconds: number): Promise<void> => void pauses.push(milliseconds);
  return s3Archive({ client: fakeS3Client(s3.url), bucket: "agents", prefix: "archive", pause });
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a bucket of S3", () => {
  it("writes an object once, gives it back, lists by page and removes", async () => {
    const bucket = bucketOf();
    expect(bucket.location).toBe("s3://agents/archive");
    for (const text of ["one", "two"]) await bucket.put("a&b/1", bytes(text));
    for (const key of ["a&b/2", "a&b/3", "b/1"]) await bucket.put(key, bytes(key));
    expect(Buffer.from((await bucket.get("a&b/1"))!).toString()).toBe("one");
    expect(await bucket.get("none")).toBeUndefined();
    const keys = [];
    for await (const key of bucket.list("a&b/")) keys.push(key);
    expect(keys).toEqual(["a&b/1", "a&b/2", "a&b/3"]);
    await bucket.delete("a&b/1");
    await bucket.delete("a&b/1");
    expect(await bucket.get("a&b/1")).toBeUndefined();
    expect([...s3.objects.keys()].every((key) => key.startsWith("agents/archive/"))).toBe(true);
  });

  it("asks again where an answer is lost, with pauses that grow, and gives up in the end", async () => {
    const pauses: number[] = [];
    const bucket = bucketOf(pauses);
    const faults: readonly S3Fault[] = [
      { method: "PUT", how: "500", when: "before" },
      { method: "PUT", how: "cut", when: "after" },
    ];
    s3.faults.push(...faults);
    // The second write was carried out; the third finds it.
    await bucket.put("k", bytes("body"));
    expect([pauses, s3.objects.size]).toEqual([[200, 400], 1]);
    for (let n = 0; n < 9; n++) s3.faults.push({ method: "GET", how: "500", when: "before" });
    await expect(bucket.get("k")).rejects.toMatchObject({ code: "store-unavailable", data: { status: 500 } });
    expect(pauses).toEqual([200, 400, 200, 400, 800, 1_600]);
  });
});
