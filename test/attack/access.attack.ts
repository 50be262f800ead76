/** The access matrix: every command, as alice of acme, with sessions of others by id, in both kinds of stores. */
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as Windrow from "windrow";
import type * as Cli from "../kit/inside/cli.ts";
import { attack } from "./kit/attack.ts";
import type { Product, Report } from "./kit/attack.ts";

interface Owner {
  readonly user?: string;
  readonly tenant?: string;
  readonly word: string;
}

const alice: Owner = { user: "alice", tenant: "acme", word: "alpenglow" };

/** None of their words or ids may be shown to alice. */
const others: readonly Owner[] = [
  { user: "bob", tenant: "acme", word: "barracuda" },
  { user: "alice", tenant: "umbrella", word: "umbrellabird" },
  { user: "carol", tenant: "umbrella", word: "carbuncle" },
  { word: "nobodaddy" },
];

/** How alice asks: the flags, the configuration, and whether she is told the store's sessions at all. */
const ways: readonly { readonly name: string; readonly flags: readonly string[]; readonly config: string }[] = [
  { name: "by flags", flags: ["--user", "alice", "--tenant", "acme"], config: "" },
  { name: "by configuration", flags: [], config: "user: alice\ntenant: acme\naccess: { admins: [root] }\n" },
  {
    name: "as an admin she is not",
    flags: ["--admin"],
    config: "user: alice\ntenant: acme\naccess: { admins: [root] }\n",
  },
  { name: "as bob", flags: ["--user", "bob"], config: "user: alice\ntenant: acme\naccess: { admins: [root] }\n" },
];

const ofStore: readonly (readonly string[])[] = [
  ["stats"],
  ["stats", "--json"],
  ["logs"],
  ["top", "--once"],
  ["search", "secretword"],
  ["search", "secretword", "--json"],
  ["doctor"],
  ["scan", "--json"],
  ["cleanup"],
  ["audit"],
  ["monitor", "--once"],
  ["view", "latest"],
];

const ofSession: readonly ((id: string) => readonly string[])[] = [
  (id) => ["view", id],
  (id) => ["view", id, "--json"],
  (id) => ["compose", id, "--json"],
  (id) => ["logs", id],
  (id) => ["export", id, "--format", "windrow"],
  (id) => ["export", id, "--format", "openai"],
  (id) => ["keep", id],
  (id) => ["unkeep", id],
  (id) => ["archive", id],
  (id) => ["unlock", id, "--force", "--reason", "mine now"],
  (id) => ["compact", id],
  (id) => ["erase", id, "--yes"],
];

attack({
  name: "access",
  seeds: [
    {
      name: "a list without its scope",
      changes: [
        {
          file: "access/guarded.ts",
          from: 'if (of !== "scope") return given;',
          to: 'if (of !== "scope" || name === "list") return given;',
        },
      ],
    },
    {
      name: "a read without its scope",
      changes: [
        {
          file: "access/guarded.ts",
          from: 'if (of !== "scope") return given;',
          to: 'if (of !== "scope" || name === "info" || name === "read") return given;',
        },
      ],
    },
  ],
  async run(product, report) {
    for (const kind of ["files", "sqlite"]) await matrix(product, report, kind);
  },
});

async function matrix(product: Product, report: Report, kind: string): Promise<void> {
  const { SessionManager } = await product.load<typeof Windrow>("index.js");
  const { run } = await product.load<typeof Cli>("cli/program.js");
  const folder = join(product.scratch, kind);
  await mkdir(folder, { recursive: true });
  const store = kind === "files" ? join(folder, "contexts") : `sqlite:${join(folder, "contexts.db")}`;
  const ids = new Map<Owner, string>();
  for (const owner of [alice, ...others]) {
    const { word, ...scope } = owner;
    const manager = await SessionManager.open({ store, ...scope, budget: 8_000 });
    const session = await manager.create({ id: randomUUID(), taskKey: { about: word } });
    ids.set(owner, session.id);
    await session.append([
      { role: "user", parts: [{ type: "text", text: `the secretword is ${word}` }] },
      { role: "assistant", parts: [{ type: "text", text: `${word}, then` }] },
    ]);
    await session.finish("completed");
    await manager.close();
  }
  const home = process.cwd();
  let own = 0;
  try {
    for (const [place, { name, flags, config }] of ways.entries()) {
      const where = join(folder, `way-${place}`);
      await mkdir(where);
      if (config !== "") await writeFile(join(where, "windrow.config.yaml"), config);
      process.chdir(where);
      const foreign = others.map((owner) => ({ owner, id: ids.get(owner)! }));
      const asked = [
        ...ofStore.map((argv) => ({ argv, typed: "" })),
        ...foreign.flatMap(({ id }, at) =>
          ofSession
            .filter((_, command) => at === 0 || command % 3 === at % 3)
            .map((argv) => ({ argv: argv(id), typed: id })),
        ),
        { argv: ["view", ids.get(alice)!], typed: ids.get(alice)! },
      ];
      for (const { argv, typed } of asked) {
        let said = "";
        const write = (text: string): unknown => (said += text);
        const io = { stdout: { write, isTTY: false, columns: 120 }, stderr: { write }, env: { HOME: where } };
        await run([...argv, "--store", store, ...flags], io as never);
        own += Number(said.includes(alice.word));
        for (const { owner, id } of foreign) {
          const shown = said.includes(owner.word) || (id !== typed && said.includes(id));
          if (shown) report.failed(`${kind}, ${name}: ${argv.join(" ")} shows ${owner.word}: ${said.slice(0, 300)}`);
        }
      }
    }
  } finally {
    process.chdir(home);
  }
  if (own === 0) report.failed(`${kind}: alice was shown nothing of her own, so nothing was tried`);
  for (const owner of others) {
    const { word, ...scope } = owner;
    const manager = await SessionManager.open({ store, ...scope, budget: 8_000 });
    const texts = [];
    for await (const { parts } of manager.messages(ids.get(owner)!)) texts.push(JSON.stringify(parts));
    if (!texts.join("\n").includes(word)) report.failed(`${kind}: the session of ${word} was changed by alice`);
    await manager.close();
  }
}
