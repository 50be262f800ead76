import { appendFile, chmod, cp, readFile, readdir, stat, truncate, unlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { MemoryFiles } from "windrow/memory";
import { doctor } from "windrow/ops";
import { everybody, everyKind, messageRecord, newSession, stateOf, texts } from "../kit/inside/store.ts";
import { windrow } from "../cli/stage.ts";
import { closedSession, infoOf, storePlace } from "./store-kit.ts";
import type { StoreFolder } from "./store-kit.ts";
import { held } from "../kit/stores.ts";

let place: StoreFolder;
let store: Store;
beforeEach(async () => void ({ place, store } = await storePlace()));

const running = (id: string, ...names: readonly string[]): string => join(place.folder, "running", id, ...names);

/** Rewrites the message log of a session, line by line. */
async function edit(id: string, change: (lines: string[]) => unknown): Promise<void> {
  const log = running(id, "messages.jsonl");
  const lines = (await readFile(log, "utf8")).split("\n").slice(0, -1);
  change(lines);
  await writeFile(log, `${lines.join("\n")}\n`);
}

/** Ways to damage a session of five messages; what the doctor must call it, and which messages are left. */
interface Way {
  readonly damage: (id: string) => Promise<unknown>;
  readonly problem: string;
  readonly left?: readonly string[];
  /** Harmless: told, not mended. */
  readonly notice?: true;
  /** Records are lost: only a backup has them, however often it is mended. */
  readonly lost?: true;
}

const lines = (change: (lines: string[]) => unknown) => (id: string) => edit(id, change);
const harmless = { notice: true } as const;
const lost = (...left: readonly string[]) => ({ left, lost: true }) as const;

const ways: Readonly<Record<string, Way>> = {
  "a torn tail": {
    damage: async (id) => truncate(running(id, "messages.jsonl"), (await size(id)) - 30),
    problem: "torn-tail",
    left: ["1", "2", "3", "4"],
  },
  "a run of NULs at the end": {
    damage: (id) => appendFile(running(id, "messages.jsonl"), Buffer.alloc(700)),
    problem: "torn-tail",
  },
  "a run of NULs in the middle": {
    damage: lines((all) => (all[1] = "\0".repeat(300))),
    problem: "damaged",
    ...lost("1", "3", "4", "5"),
  },
  "half a line welded to the next": {
    damage: lines((all) => all.splice(1, 2, all[1]!.slice(0, 50) + all[2]!)),
    problem: "damaged",
    ...lost("1", "3", "4", "5"),
  },
  "JSON of the wrong type": {
    damage: lines((all) => (all[3] = '{"seq":4,"role":"user","content":[]}')),
    problem: "damaged",
    ...lost("1", "2", "3", "5"),
  },
  "a number that comes twice": {
    damage: lines((all) => all.splice(3, 0, all[2]!)),
    problem: "duplicate-seq",
    left: ["1", "2", "3", "3", "4", "5"],
    ...harmless,
  },
  "no state.json": { damage: (id) => unlink(running(id, "state.json")), problem: "state-missing" },
  "an empty state.json": { damage: (id) => truncate(running(id, "state.json"), 0), problem: "state-unreadable" },
  "a torn metadata.json": {
    damage: (id) => truncate(running(id, "metadata.json"), 260),
    problem: "metadata-unreadable",
  },
  "no metadata.json": { damage: (id) => unlink(running(id, "metadata.json")), problem: "metadata-unreadable" },
  "a final state in running/": {
    async damage(id) {
      const path = running(id, "state.json");
      await writeFile(path, (await readFile(path, "utf8")).replace('"initializing"', '"failed"'));
    },
    problem: "half-moved",
  },
  "files that others can read": { damage: (id) => chmod(running(id, "messages.jsonl"), 0o644), problem: "bad-mode" },
  "a draft that a crash left": {
    damage: (id) => writeFile(running(id, ".state.json.99999999.0.tmp"), "{", { mode: 0o600 }),
    problem: "draft",
  },
};

async function size(id: string): Promise<number> {
  return (await stat(running(id, "messages.jsonl"))).size;
}

/** Every file under the store with its content and mode. */
async function everything(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(place.folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode } = await stat(path);
    const content = entry.isFile() ? await readFile(path, "latin1") : "";
    found.push(`${relative(place.folder, path)} ${mode.toString(8)} ${content}`);
  }
  return found.sort();
}

describe("a store with nothing wrong", () => {
  it("is called so, and counted", async () => {
    await closedSession(store);
    const lock = await store.create(everybody, newSession());
    await store.append(lock, everyKind());
    await store.finish(lock, stateOf("completed"));
    const diagnosis = await doctor(store);
    expect(diagnosis).toMatchObject({ findings: [], open: 0, addsUp: true });
    expect(diagnosis.before).toMatchObject({ sessions: 2, records: 13, badBytes: 0 });
    expect(diagnosis.before.goodBytes).toBeGreaterThan(1_000);
  });

  it("is called so while a live writer is in the middle of a line", async () => {
    const lock = await held(store, "1");
    await appendFile(running(lock.id, "messages.jsonl"), '{"seq":2,"role":"us');
    for (const mend of [false, true]) {
      const { findings, before } = await doctor(place.open(), { mend });
      expect(findings).toEqual([]);
      expect(before).toMatchObject({ records: 1, badBytes: 0 });
    }
    expect(await size(lock.id)).toBeGreaterThan(100);
    await lock.release();
  });
});

describe.skipIf(process.platform === "win32")("each way to damage a store", () => {
  it.each(Object.entries(ways))("%s: found, and nothing changed; with mend it is mended", async (_name, way) => {
    const { damage, problem, left = ["1", "2", "3", "4", "5"], notice, lost = false } = way;
    const id = await closedSession(store);
    const healthy = await closedSession(store);
    await damage(id);

    const asFound = await everything();
    const found = await doctor(place.open());
    expect(found.findings.map((one) => one.problem)).toContain(problem);
    expect(found.findings.every((one) => one.sessionId === id && !one.mended)).toBe(true);
    expect(found.open === 0).toBe(notice === true);
    expect(await everything()).toEqual(asFound);

    const mended = await doctor(place.open(), { mend: true });
    expect(mended).toMatchObject({ open: Number(lost), toMend: 0, toRestore: Number(lost), addsUp: true });
    expect(mended.findings.filter(({ severity }) => severity === "damage").every((one) => one.mended)).toBe(!lost);
    expect(mended.before.records).toBe(left.length + 5);

    const again = await doctor(place.open());
    expect(again).toMatchObject({ open: Number(lost), toMend: 0, restore: lost ? [id] : [] });
    expect(again.findings.filter(({ severity }) => severity === "damage")).toHaveLength(Number(lost));
    expect(again.before.records).toBe(left.length + 5);
    expect(await texts(store, id)).toEqual(left);
    expect(await texts(store, healthy)).toEqual(["1", "2", "3", "4", "5"]);
    const { readOnly } = await infoOf(store, id);
    if (!readOnly) await (await store.lock(everybody, id)).release();
  });
});

describe("what lies around the sessions", () => {
  it("an index that says wrong things is made anew", async () => {
    const id = await closedSession(store);
    const path = join(place.folder, "index.jsonl");
    const right = await readFile(path, "utf8");
    expect(right).toContain(id);
    for (const text of [right.replace("}", ',"user":"mallory"}'), `${right}{"uuid":"`]) {
      await writeFile(path, text);
      const findings = [{ problem: "stale-index", file: "index.jsonl" }];
      expect(await doctor(store)).toMatchObject({ open: 1, findings });
      expect(await doctor(store, { mend: true })).toMatchObject({ open: 0, addsUp: true });
      expect(JSON.parse(await readFile(path, "utf8"))).toEqual(JSON.parse(right));
      expect(await doctor(store)).toMatchObject({ findings: [] });
    }
  });

  it("what a cut-short making or removal left goes, what is another's stays", async () => {
    const id = await closedSession(store);
    for (const name of [`running/..making-${id}.99999999.0.tmp`, `completed/.erased-${id}`]) {
      await cp(running(id), join(place.folder, name), { recursive: true });
    }
    await writeFile(join(place.folder, "running", "notes.txt"), "mine");
    const { findings } = await doctor(store, { mend: true });
    expect(findings.map(({ problem, mended }) => `${problem} ${mended}`).sort()).toEqual([
      "draft true",
      "draft true",
      "foreign false",
    ]);
    expect(await readdir(join(place.folder, "completed"))).toEqual([]);
    expect(await readdir(join(place.folder, "running"))).toEqual([id, "notes.txt"]);
    expect(await readFile(join(place.folder, "running", "notes.txt"), "utf8")).toBe("mine");
  });

  it("a large value that is gone is told", async () => {
    const lock = await store.create(everybody, newSession());
    await store.append(lock, [messageRecord("x".repeat(200_000))]);
    await lock.release();
    expect(await doctor(store)).toMatchObject({ findings: [] });
    const [blob = ""] = await readdir(running(lock.id, "blobs"));
    await unlink(running(lock.id, "blobs", blob));
    const { findings, open } = await doctor(store, { mend: true });
    expect(findings).toMatchObject([{ problem: "blob-missing", mended: false }]);
    expect([findings[0]?.file?.endsWith(blob), open]).toEqual([true, 1]);
  });
});

describe("mending", () => {
  it("keeps every byte that it takes out", async () => {
    const id = await closedSession(store);
    await appendFile(running(id, "messages.jsonl"), "torn away");
    await truncate(running(id, "metadata.json"), 100);
    const metadata = await readFile(running(id, "metadata.json"), "utf8");
    const { findings } = await doctor(store, { mend: true });
    const tail = findings.find(({ problem }) => problem === "torn-tail");
    expect(await readFile(join(place.folder, tail?.keptAs ?? ""), "utf8")).toBe("torn away");
    const { mark } = JSON.parse(await readFile(running(id, "mark.json"), "utf8")) as { mark: object };
    expect(mark).toEqual({ unreadable: [metadata] });
  });

  it.each(["torn", "flipped", "gone"])("knows a memory's log again whose metadata.json is %s", async (how) => {
    const owner = { user: "bob" };
    const files = new MemoryFiles(store, owner);
    await files.create("/memories/a.md", "kept");
    const path = running(files.sessionId, "metadata.json");
    const whole = await readFile(path, "utf8");
    if (how === "gone") await unlink(path);
    else await writeFile(path, how === "torn" ? `x${whole}` : whole.replace("task_key", "tusk_key"));
    await doctor(store, { mend: true });
    expect(await new MemoryFiles(store, owner).all()).toMatchObject([{ text: "kept" }]);
    const { metadata } = await store.info(owner, files.sessionId);
    expect(metadata).toMatchObject({ taskKey: { memory: "files" }, config: { purpose: "memory" } });
  });

  it("saves of a torn metadata.json what is still whole, and gives it to nobody else", async () => {
    const lock = await store.create({ user: "bob", tenant: "a" }, newSession());
    await lock.release();
    const path = running(lock.id, "metadata.json");
    const whole = await readFile(path, "utf8");
    const before = await store.info({ tenant: "a" }, lock.id);
    await writeFile(path, whole.slice(0, whole.lastIndexOf('"tenant"')));
    await doctor(store, { mend: true });
    await expect(store.info({ tenant: "b" }, lock.id)).rejects.toMatchObject({ code: "session-not-found" });
    const { createdAt, uuid, user, tenant } = before.metadata;
    expect(await store.info({ tenant: "a", user: "bob" }, lock.id), "the index knew").toMatchObject({
      metadata: { createdAt, uuid, user, tenant },
    });

    await unlink(join(place.folder, "index.jsonl"));
    await writeFile(path, whole.slice(0, whole.lastIndexOf('"tenant"')));
    await doctor(store, { mend: true });
    expect((await infoOf(store, lock.id)).metadata).toMatchObject({ createdAt, user: "bob" });
    await expect(store.info({ tenant: "b" }, lock.id)).rejects.toMatchObject({ code: "session-not-found" });
  });

  it("leaves two copies alone when each has what the other lacks", async () => {
    const id = await closedSession(store);
    const copy = join(place.folder, "completed", id);
    await cp(running(id), copy, { recursive: true });
    await edit(id, (lines) => lines.splice(0, 1));
    const { findings, open } = await doctor(store, { mend: true });
    expect(findings).toContainEqual(expect.objectContaining({ problem: "in-both-folders", mended: false }));
    expect(open).toBe(1);
    expect((await readdir(copy)).length).toBeGreaterThan(5);
    expect((await readdir(running(id))).length).toBeGreaterThan(5);
  });

  it("does not touch what a live process writes", async () => {
    const lock = await held(store, "1");
    await chmod(running(lock.id, "tools.jsonl"), 0o644);
    const { findings, open } = await doctor(place.open(), { mend: true });
    expect(findings).toMatchObject([{ problem: "bad-mode", mended: false }]);
    expect(open).toBe(1);
    await store.append(lock, [messageRecord("2")]);
    expect(await texts(store, lock.id)).toEqual(["1", "2"]);
    await lock.release();
  });
});

it("cannot look at a folder that holds no store", async () => {
  await expect(doctor(store)).rejects.toMatchObject({ code: "store-unavailable" });
});

it("windrow doctor says what is wrong with status 1, mends with --mend, and then all is well", async () => {
  const id = await closedSession(store);
  await appendFile(running(id, "messages.jsonl"), "torn away");
  const run = (...flags: readonly string[]) => windrow(["doctor", "--store", place.folder, ...flags]);
  const found = await run();
  expect(found.status).toBe(1);
  expect(found.stdout).toMatch(
    /torn-tail[\s\S]*1 that --mend can mend, 0 that only[^]*Next: windrow doctor .* --mend\n$/,
  );
  expect(found.stdout.split("\n")).toContain(running(id, "messages.jsonl"));
  const narrow = (await windrow(["doctor", "--store", place.folder], {}, true, 50)).stdout.split("\n");
  expect(narrow.filter((line) => line.startsWith("  ") && line.length > 50)).toEqual([]);
  expect(narrow).toContain(running(id, "messages.jsonl"));
  const mended = await run("--mend");
  expect(mended.status).toBe(0);
  expect(mended.stdout).toMatch(/5 records[\s\S]*Nothing was lost by mending\.[\s\S]*No damage is left\./);
  const { status, stdout } = await run("--json");
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ findings: [], before: { records: 5, badBytes: 0 } });
});
