/** Every kind of store that lasts, with several managers in each process and commands beside them. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openStore } from "windrow/store";
import { temporaryFolder } from "../kit/stores.ts";
import { driver } from "../kit/sqlite-stores.ts";
import { dist } from "../kit/build.ts";
import { calm, readBack, storm, windrow } from "../kit/storm.ts";

const rounds = 4;

/** A kind that is added here is put through all of it. */
const kinds: readonly (readonly [name: string, url: (folder: string) => string])[] = [
  ["files", (folder) => join(folder, "store")],
  ["sqlite", (folder) => `sqlite:${join(folder, "all.db")}`],
];

it.for(kinds)(
  "a storm of processes with three managers each, %s: nothing acknowledged is lost",
  async ([name, url], { skip }) => {
    if (name === "sqlite" && !driver) return skip("there is no SQLite driver");
    const scratch = await temporaryFolder();
    const target = { root: dist, url: url(scratch), scratch };
    for (const outcome of [await calm(target), await storm(target, rounds)]) {
      expect(outcome.refused).toEqual([]);
      const store = await openStore(target.url, { create: false });
      const { lost, wrong } = await readBack(store, outcome.acknowledged);
      await store.close();
      expect({ lost, wrong }).toEqual({ lost: [], wrong: [] });
    }
    // A process that is killed while it makes a session leaves one without a log, which no doctor can mend.
    const mended = await windrow(target, ["doctor", "--mend", "--json"]);
    const { findings, addsUp } = JSON.parse(mended.stdout) as {
      readonly findings: readonly Readonly<Record<"problem" | "severity", string> & { readonly mended: boolean }>[];
      readonly addsUp: boolean;
    };
    const open = findings.filter((finding) => finding.severity === "damage" && !finding.mended);
    expect(open.filter(({ problem }) => !["log-missing", "metadata-unreadable"].includes(problem))).toEqual([]);
    expect(addsUp).toBe(true);
    await rm(scratch, { recursive: true });
  },
);
