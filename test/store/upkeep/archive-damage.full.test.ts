import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { everybody, messageRecord, newSession, ramStore, stateOf, texts, wholeDump } from "../../kit/inside/store.ts";
import { closing, filesFixture } from "../../kit/stores.ts";
import { problems } from "../stage.ts";

const messages = 60;
let fixture: Awaited<ReturnType<typeof filesFixture>>;
let id: string;
let log: string;
let packed: Buffer;
let members: readonly number[];

beforeEach(async () => {
  fixture = closing(await filesFixture({ durability: "group" }));
  const lock = await fixture.store.create(everybody, newSession());
  const records = Array.from({ length: messages }, (_, number) =>
    messageRecord(`${number} ${randomBytes(22_000).toString("hex")}`),
  );
  await fixture.store.append(lock, records);
  await fixture.store.finish(lock, stateOf("completed"));
  id = lock.id;
  log = join(fixture.folder, "completed", id, "messages.jsonl");
  await fixture.store.upkeep.compress!(everybody, id);
  packed = readFileSync(`${log}.gz`);
  members = offsetsIn(packed);
  if (members.length !== 3) throw new Error("the log has three members");
});

/** Where members begin, by their magic. */
function offsetsIn(bytes: Buffer): readonly number[] {
  const found: number[] = [];
  const magic = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 2, 3]);
  for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + 1)) found.push(at);
  return found;
}

function flipped(offset: number): Buffer {
  const bytes = Buffer.from(packed);
  bytes[offset]! ^= 1;
  return bytes;
}

async function numbers(): Promise<readonly number[]> {
  return (await texts(fixture.store, id)).map((text) => Number.parseInt(text, 10));
}

/** A flip in a header or a trailer loses nothing; one in the data, a part that is cut out or put in, one member at most. */
const faults: Readonly<Record<string, { readonly change: () => Buffer; readonly lost: readonly [number, number] }>> = {
  "a flip in the first header": { change: () => flipped(10), lost: [0, 0] },
  "a flip in the magic": { change: () => flipped(0), lost: [0, 0] },
  "a flip in the length of the second member": { change: () => flipped(members[1]! + 17), lost: [0, 0] },
  "a flip in the trailer of the first member": { change: () => flipped(members[1]! - 6), lost: [0, 0] },
  "a flip in the data of the first member": { change: () => flipped(2_000), lost: [20, 26] },
  "a flip in the data of the second member": { change: () => flipped(members[1]! + 2_000), lost: [20, 26] },
  "garbage between two members": {
    change: () => Buffer.concat([packed.subarray(0, members[1]), Buffer.from("garbage"), packed.subarray(members[1])]),
    lost: [0, 1],
  },
  "a byte put into the second member": {
    change: () =>
      Buffer.concat([packed.subarray(0, members[1]! + 99), Buffer.of(7), packed.subarray(members[1]! + 99)]),
    lost: [20, 26],
  },
  "bytes cut out of the second member": {
    change: () => Buffer.concat([packed.subarray(0, members[1]! + 99), packed.subarray(members[1]! + 999)]),
    lost: [20, 26],
  },
  "zeros over the second header": {
    change: () => {
      const bytes = Buffer.from(packed);
      return bytes.fill(0, members[1], members[1]! + 44);
    },
    lost: [0, 0],
  },
  "the end of the last member cut off": { change: () => packed.subarray(0, packed.length - 300), lost: [5, 26] },
  "the last member cut off to a byte": { change: () => packed.subarray(0, members[2]), lost: [5, 26] },
};

describe("a damaged member of a compressed log", () => {
  it.each(Object.keys(faults))("%s: what stands around it is read, and the rest is told", async (name) => {
    const { change, lost } = faults[name]!;
    writeFileSync(`${log}.gz`, change());
    const left = await numbers();
    expect(left).toEqual(left.toSorted((one, other) => one - other));
    expect(messages - left.length).toBeGreaterThanOrEqual(lost[0]);
    expect(messages - left.length).toBeLessThanOrEqual(lost[1]);
    const told = await fixture.store.recovery(everybody, id);
    // Records that are gone are told beside the stretch they stood in, under the name of their log.
    const files = new Set(told.filter(({ problem }) => problem !== "missing").map(({ file }) => file));
    const isCut = name.includes("cut off");
    expect([...files]).toEqual(left.length < messages && !isCut ? ["messages.jsonl"] : []);
    const found = isCut ? [] : await problems(fixture.store);
    expect(found.length > 0).toBe(!isCut && left.length < messages);
    expect(readdirSync(join(log, "..")).filter((one) => one.includes("corrupt-at"))).toEqual([]);
  });

  it.each(Object.keys(faults))("%s: is never replaced by less", async (name) => {
    const bytes = faults[name]!.change();
    writeFileSync(`${log}.gz`, bytes);
    const before = await numbers();
    const isWhole = before.length === messages && !name.startsWith("garbage");
    const refusal: unknown = await fixture.store.upkeep.decompress!(everybody, id).then(
      () => undefined,
      (error: unknown) => error,
    );
    const place = { offset: expect.any(Number) as number, member: expect.any(Number) as number };
    const refused = {
      code: "store-corrupt",
      data: expect.objectContaining({ path: `${log}.gz`, ...place }) as unknown,
    };
    const rightly: unknown = expect.objectContaining(refused);
    expect([refusal]).toEqual([isWhole ? undefined : rightly]);
    const [path, wanted] = isWhole ? [log, gunzipSync(packed)] : [`${log}.gz`, bytes];
    expect([existsSync(log), readFileSync(path).equals(wanted)]).toEqual([isWhole, true]);
    expect(await numbers()).toEqual(before);
  });
});

describe("a log under both of its names", () => {
  it("that holds the same twice, as a crash leaves it, is one again", async () => {
    writeFileSync(log, gunzipSync(packed));
    await fixture.store.upkeep.compress!(everybody, id);
    expect([existsSync(log), readFileSync(`${log}.gz`).equals(packed)]).toEqual([false, true]);
    writeFileSync(log, gunzipSync(packed));
    await fixture.store.upkeep.decompress!(everybody, id);
    expect([existsSync(log), existsSync(`${log}.gz`)]).toEqual([true, false]);
  });

  it("that differs is refused by name, and both stay", async () => {
    writeFileSync(log, gunzipSync(packed).subarray(0, 2_000));
    for (const change of ["compress", "decompress"] as const) {
      const refused = fixture.store.upkeep![change]!(everybody, id);
      await expect(refused).rejects.toMatchObject({ code: "store-corrupt", data: { path: log } });
    }
    expect(readFileSync(`${log}.gz`).equals(packed)).toBe(true);
  });
});

it("messages that are missing are an error, not an empty list", async () => {
  copyFileSync(`${log}.gz`, `${log}.away`);
  rmSync(`${log}.gz`);
  await expect(numbers()).rejects.toMatchObject({ code: "store-corrupt", data: { id } });
  await expect(wholeDump(fixture.store.transfer, everybody, id)).rejects.toMatchObject({ code: "store-corrupt" });
});

it("a large value that is lost goes out as what it is, not as its beginning and end", async () => {
  const lock = await fixture.store.create(everybody, newSession());
  await fixture.store.append(lock, [messageRecord("x".repeat(200_000))]);
  await fixture.store.finish(lock, stateOf("completed"));
  const blobs = join(fixture.folder, "completed", lock.id, "blobs");
  for (const name of readdirSync(blobs)) rmSync(join(blobs, name));
  const lines: string[] = [];
  for await (const { line } of (await fixture.store.transfer.dump(everybody, lock.id)).lines()) lines.push(line);
  expect(lines.join("\n")).toContain('"blob":');
  expect(await fixture.store.recovery(everybody, lock.id)).toMatchObject([{ problem: "damaged" }]);
  const other = ramStore();
  await other.transfer.restore(everybody, await fixture.store.transfer.dump(everybody, lock.id));
});
