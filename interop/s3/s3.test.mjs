// An archive over the real client of S3: by its address, and as a client of one's own.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { S3 } from "@aws-sdk/client-s3";
import { SessionManager } from "windrow";
import { openStore, s3Archive } from "windrow/store";
import { withoutTypes } from "../../scripts/strip-types.mjs";

let folder;
let fake;
before(async () => {
  folder = await mkdtemp(join(import.meta.dirname, "node_modules", "run-"));
  const text = withoutTypes(await readFile(new URL("../../test/kit/fake-s3.ts", import.meta.url), "utf8"));
  await writeFile(join(folder, "fake-s3.mjs"), text);
  fake = await (await import(pathToFileURL(join(folder, "fake-s3.mjs")).href)).startFakeS3();
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" });
});
after(async () => {
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});

async function finished(store) {
  const manager = await SessionManager.open({ store });
  const session = await manager.create();
  for (let turn = 0; turn < 5; turn++) await session.append(`heron ${turn}`);
  await session.finish("completed");
  return session.id;
}

async function textsOf(store, id) {
  const texts = [];
  for await (const { message } of store.read({}, id, { kind: "message" })) texts.push(message.parts[0].text);
  return texts;
}

const archives = {
  "by its address": () =>
    `s3://agents/archive?region=us-east-1&endpoint=${encodeURIComponent(fake.url)}&path-style=true`,
  "by a client of one's own": () => {
    const client = new S3({ region: "us-east-1", endpoint: fake.url, forcePathStyle: true });
    return s3Archive({ client, bucket: "agents", prefix: "archive" });
  },
};

for (const [name, archive] of Object.entries(archives)) {
  test(`a session goes into a bucket and comes back, ${name}`, async () => {
    const store = await openStore(join(folder, name.replaceAll(" ", "-")), { archive: archive() });
    const id = await finished(store);
    const before = await textsOf(store, id);
    // The answer to the first write is lost: the SDK sends it again, and finds its own object.
    fake.faults.push({ method: "PUT", how: "cut", when: "after" });
    const { outcome, mark } = await store.archiving.archive({}, id);
    assert.equal(outcome, "archived");
    assert.deepEqual([...fake.objects.keys()], [`agents/archive/${mark.key}`]);
    assert.deepEqual(await textsOf(store, id), before);
    await store.archiving.unarchive({}, id);
    assert.deepEqual([await textsOf(store, id), fake.objects.size], [before, 0]);
    await store.archiving.archive({}, id);
    const [receipt] = await store.upkeep.erase({}, [id]);
    assert.equal(receipt.places.find(({ kind }) => kind === "archive").count, 1);
    assert.equal(fake.objects.size, 0);
    await store.close();
  });
}

test("an object that is there and holds something else is told, and stays", async () => {
  const store = await openStore(join(folder, "conflict"), { archive: archives["by its address"]() });
  const id = await finished(store);
  const { mark } = await store.archiving.archive({}, id);
  const key = `agents/archive/${mark.key}`;
  fake.objects.set(key, Buffer.from("nothing"));
  await assert.rejects(
    textsOf(await openStore(join(folder, "conflict"), { archive: archives["by its address"]() }), id),
    {
      code: "store-corrupt",
    },
  );
  assert.equal(fake.objects.get(key).toString(), "nothing");
  await store.close();
});
