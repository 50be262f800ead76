/**
 * Kill storms on every kind of store that lasts: several processes with several managers each, commands beside them,
 * SIGKILL and SIGSTOP at any moment. Everything acknowledged is read back: there, once, in its order.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Opening from "windrow/store";
import { calm, readBack, storm, windrow } from "../kit/storm.ts";
import type { Outcome, Target } from "../kit/storm.ts";
import { attack } from "./kit/attack.ts";
import type { Product, Report } from "./kit/attack.ts";

const rounds = 3;

const kinds: Readonly<Record<string, (place: string) => string>> = {
  ...(hasSqlite() && { sqlite: (place: string) => `sqlite:${place}.db` }),
  files: (place) => place,
};

/** What a process leaves that was killed: each is mended by whoever opens the session next, or by the doctor. */
const leftovers: readonly string[] = ["torn-tail", "draft", "stale-index", "state-missing", "half-moved", "bad-mode"];

function hasSqlite(): boolean {
  try {
    const own = process.getBuiltinModule?.("node:sqlite") as object | undefined;
    return own !== undefined || Boolean(createRequire(import.meta.url)("libsql"));
  } catch {
    console.warn("No SQLite driver: its storms are left out.");
    return false;
  }
}

async function judge(product: Product, report: Report, target: Target, outcome: Outcome): Promise<void> {
  const { acknowledged, refused } = outcome;
  report.count("kills", outcome.kills);
  report.count("stops", outcome.stops);
  report.count("commands beside writers", outcome.commands);
  report.count("acknowledged messages", acknowledged.length);
  for (const refusal of refused) report.failed(`an append beside other processes was refused: ${refusal}`);
  const { openStore } = await product.load<typeof Opening>("access/open.js");
  const store = await openStore(target.url, { create: false });
  const { lost, wrong } = await readBack(store, acknowledged);
  await store.close();
  report.count("lost messages", lost.length);
  if (lost.length > 0) report.failed(`${lost.length} of ${acknowledged.length} acknowledged messages are lost`);
  for (const what of wrong) report.failed(what);
  // It asks SQLite for an `integrity_check`.
  const { stdout } = await windrow(target, ["doctor", "--json"]);
  const { findings } = JSON.parse(stdout) as {
    readonly findings: readonly Readonly<Record<"problem" | "severity" | "message" | "sessionId", string>>[];
  };
  const unborn = ["log-missing", "metadata-unreadable", "state-unreadable"];
  const told = new Set(acknowledged.map(({ session }) => session));
  for (const { problem, severity, message, sessionId } of findings) {
    // A process that is killed while it makes a session leaves files out, or empty; nothing of it was acknowledged.
    const isLeftover = leftovers.includes(problem) || (unborn.includes(problem) && !told.has(sessionId));
    if (severity === "damage" && !isLeftover) report.failed(`the doctor finds ${problem}: ${message}`);
  }
}

attack({
  name: "kill storms",
  seeds: [
    {
      name: "an existing database file is opened and closed by hand",
      changes: [
        {
          file: "store/sqlite/connection/file.ts",
          from: "  if (!existsSync(file)) makeFile(file);\n",
          to: '  closeSync(openSync(file, "a", fileMode));\n',
        },
        {
          file: "store/sqlite/connection/open-databases.ts",
          from: '    const found = registry().open.get(identityOf(file) ?? "");\n    if (found) return share(found);\n',
          to: "",
        },
        {
          file: "store/sqlite/connection/open-databases.ts",
          from: "  entry.lost ??= lossOf(file, identity, log);\n  if (entry.lost !== null) throw unusable",
          to: "  if (entry.lost !== null) throw unusable",
        },
      ],
    },
  ],
  async run(product, report) {
    const scratch = product.scratch;
    for (const part of [calm, (target: Target): Promise<Outcome> => storm(target, rounds)]) {
      for (const [kind, url] of Object.entries(kinds)) {
        const target = { root: product.root, url: url(join(scratch, `${kind}-${part.name || "storm"}`)), scratch };
        await judge(product, report, target, await part(target));
      }
    }
  },
});
