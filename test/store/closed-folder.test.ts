/** A store of folders for each user, of which one is closed to the process: the others are listed, examined and cleaned. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { cleanup, doctor, stats } from "windrow/ops";
import { openStore } from "windrow/store";
import type { ListQuery } from "windrow/store";
import { findSession } from "../kit/inside/ops.ts";
import { refused, wholeDump } from "../kit/inside/store.ts";
import { newFolder } from "../kit/sessions.ts";
import { finished } from "./stage.ts";

/** A user of the system without rights of its own. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** Two users, of whom one's folders of these names are closed while the work is done. */
async function beside(
  closed: readonly string[],
  work: (two: { readonly store: Store; readonly ann: string; readonly bob: string }) => Promise<void>,
): Promise<void> {
  const folder = await newFolder();
  const base = join(folder, "store");
  const store = await openStore(base, { folderPerUser: true });
  const [ann, bob] = [await finished(store, { user: "ann" }), await finished(store, { user: "bob" })];
  mkdirSync(join(base, "users", "carl"));
  // Rights stop no process of root's.
  if (isRoot) execFileSync("chown", ["-R", `${nobody}`, folder]);
  const paths = closed.map((name) => join(base, "users", "bob", name));
  for (const path of paths) chmodSync(path, 0o000);
  if (isRoot) process.seteuid?.(nobody);
  try {
    await work({ store, ann, bob });
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const path of paths) chmodSync(path, 0o700);
    await store.close();
  }
}

/** The ids that a list gives, and the error that ends it. */
async function listed(store: Store, scope: Scope, query: ListQuery = {}): Promise<readonly unknown[]> {
  const ids: unknown[] = [];
  try {
    for await (const { metadata } of store.list(scope, query)) ids.push(metadata.uuid);
  } catch (error) {
    ids.push((error as { readonly code?: string }).code);
  }
  return ids;
}

const ways = [
  ["as a whole", [""]],
  ["inside", ["completed", "running"]],
] as const;

describe.skipIf(!process.seteuid).each(ways)("closed %s", (_how, closed) => {
  it("lists the others, and says which it cannot read", async () => {
    await beside(closed, async ({ store, ann }) => {
      const told: string[] = [];
      const unreadable: ListQuery["unreadable"] = (place, { code }) => void told.push(`${place} ${code}`);
      expect(await listed(store, {}, { unreadable })).toEqual([ann]);
      expect(told).toEqual([expect.stringMatching(/users\/bob store-unavailable$/)]);
      expect(await listed(store, {})).toEqual([ann, "store-unavailable"]);
      expect(await listed(store, { user: "ann" })).toEqual([ann]);
      expect(await listed(store, { user: "bob" })).toEqual(["store-unavailable"]);
      expect((await findSession(store, {}, ann.slice(0, 8))).metadata.uuid).toBe(ann);
      const report = await stats(store);
      expect(report.unreadable).toMatchObject([
        { sessionId: expect.stringMatching(/bob$/), code: "store-unavailable" },
      ]);
    });
  });

  it("holds up no new session, and none that is restored", async () => {
    await beside(closed, async ({ store, ann }) => {
      for (const user of ["ann", "dora"]) await finished(store, { user });
      const dump = await wholeDump(store.transfer!, { user: "ann" }, ann);
      await store.upkeep!.erase({ user: "ann" }, [ann]);
      await store.transfer!.restore({ user: "ann" }, dump);
      expect(await listed(store, { user: "ann" })).toContain(ann);
    });
  });

  it("is a finding of the doctor's, who examines the others", async () => {
    await beside(closed, async ({ store, ann }) => {
      const { findings, before, open, byHand } = await doctor(store);
      const one = { problem: "closed-folder", severity: "damage", file: join("users", "bob"), mended: false };
      expect(findings).toMatchObject([{ ...one, message: expect.stringContaining("EACCES") }]);
      expect([before.sessions, open, byHand]).toEqual([1, 1, 1]);
      expect(await store.checkup!.rebuildIndex().catch(() => 1)).toBe(1);
      expect(await listed(store, { user: "ann" })).toEqual([ann]);
    });
  });

  it.runIf(closed[0] === "")("keeps nobody from erasing what may be read", async () => {
    await beside(closed, async ({ store, ann, bob }) => {
      expect(await store.upkeep!.unerased({})).toEqual([]);
      expect(await store.upkeep!.erase({}, [ann])).toHaveLength(1);
      await refused(() => store.upkeep!.erase({}, [bob]), "session-not-found");
    });
  });

  it("is a failure that a clean-up tells, and the others are cleaned", async () => {
    await beside(closed, async ({ store, ann }) => {
      const now = (): Date => new Date("2026-06-01T00:00:00.000Z");
      const { failures, trashed } = await cleanup(store, { remove: true, deleteAfter: 0, now });
      expect(trashed.map(({ sessionId }) => sessionId)).toEqual([ann]);
      expect(failures.length).toBeGreaterThan(0);
      expect(failures.every(({ message }) => message.includes("bob"))).toBe(true);
    });
  });
});
