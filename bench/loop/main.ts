/**
 * The closed loop: jobs through Windrow's policies and those of other libraries.
 *
 *   npm run bench:loop                                        every family, seeds 1 to 3, 8k and 16k, 160 steps
 *   npm run bench:loop -- --policy none,adaptive --budget 8k --family service --seed 1
 *   npm run bench:loop -- --families                          each family in rows of its own
 *   npm run bench:loop -- --other                             the second bench, for judging; docs/loop.md
 *   npm run bench:loop -- --forgets 0.3 --own-words --overlooks   readers that are not perfect
 *   npm run bench:loop -- --policy adaptive+recall --family service --seed 1 --budget 8k --trace   call by call
 *   npm run --silent bench:loop -- --json                     one JSON document: { runs, totals }
 */
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { tokensOf } from "../../src/cli/values.ts";
import { gainLines, loopRow, traceText } from "./report.ts";
import { plainPolicy, policies, policiesOf } from "./policy.ts";
import type { LoopPolicy, MakeWindow } from "./policy.ts";
import { familiesOf, firstBench, runStudy, totalsOf } from "./study.ts";
import { loadCounter } from "../../src/tokens/exact.ts";
import { otherBench } from "../loop-other/families.ts";
import { loadWindowPeers, oneResultEach } from "../window/peer.ts";
import type { WindowPeer } from "../window/peer.ts";
import { clearToolUses } from "./clear-tool-uses.ts";

/** The short names of the libraries' ways, by the beginning of their whole ones. */
const shortNames: Readonly<Record<string, string>> = {
  "@langchain/": "langchain",
  "ai@": "ai-sdk",
  "@mastra/": "mastra",
};

/** Another library's way as a policy of the loop; the variant that begins with a user's message is left out. */
function peerPolicy(peer: WindowPeer): readonly LoopPolicy[] {
  const [, short] = Object.entries(shortNames).find(([beginning]) => peer.name.startsWith(beginning)) ?? [];
  if (short === undefined || peer.name.includes("startOn")) return [];
  const make: MakeWindow = (history, { room, tokens }) => peer.window(oneResultEach(history), room, tokens);
  return [plainPolicy(short, () => make)];
}

const { values } = parseArgs({
  options: {
    "policy": { type: "string" },
    "family": { type: "string" },
    "seed": { type: "string", default: "1,2,3" },
    "budget": { type: "string", default: "8k,16k" },
    "size": { type: "string", default: "160" },
    "other": { type: "boolean", default: false },
    "forgets": { type: "string", default: "0" },
    "own-words": { type: "boolean", default: false },
    "overlooks": { type: "boolean", default: false },
    "families": { type: "boolean", default: false },
    "trace": { type: "boolean", default: false },
    "windows": { type: "boolean", default: false },
    "json": { type: "boolean", default: false },
  },
});

const named = values.policy?.split(",");
const isOwn = named?.every((name) => !Object.values(shortNames).includes(name)) ?? false;
const { peers, missing } = isOwn ? { peers: [], missing: [] } : await loadWindowPeers();
for (const line of missing) console.error(line);
const bench = values.other ? otherBench : firstBench;
const all = [...policies, plainPolicy("clear-tool-uses", clearToolUses), ...peers.flatMap(peerPolicy)];
const started = performance.now();
const runs = await runStudy({
  policies: named ? policiesOf(named, all) : all,
  families: familiesOf(values.family?.split(","), bench),
  bench,
  faults: { forgets: Number(values.forgets), ownWords: values["own-words"], overlooks: values.overlooks },
  seeds: values.seed.split(",").map(Number),
  budgets: values.budget.split(",").map((text) => tokensOf("--budget", text)),
  size: Number(values.size),
  counter: await loadCounter("o200k"),
  onJob: (done, of, { policy, budget, family, seed }) => {
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    if (!process.stderr.isTTY && done % 5 !== 0) return;
    process.stderr.write(
      `${process.stderr.isTTY ? "\r" : "\n"}${done}/${of} ${seconds} s  ${policy} ${budget ?? ""} ${family} ${seed}`.padEnd(
        78,
      ),
    );
  },
  ...(values.trace && { onCall: (run, call) => console.log(traceText(run, call, values.windows)) }),
});
process.stderr.write("\r".padEnd(79) + "\r");

const totals = [...totalsOf(runs), ...(values.families ? totalsOf(runs, true) : [])];
if (values.json) console.log(JSON.stringify({ runs, totals }, null, 2));
else {
  const rows = totals.map(loopRow);
  const columns = Object.keys(rows[0] ?? {});
  const table = new Table({ head: columns, style: { head: [], border: [] } });
  for (const row of rows) table.push(columns.map((column) => row[column] ?? ""));
  console.log([table.toString(), ...gainLines(totals)].join("\n"));
}
