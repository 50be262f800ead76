/** Records vanish behind the product's back from compressed logs and databases: whoever looks first, a doctor has to miss them. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import type * as windrow from "windrow";
import type * as ops from "windrow/ops";
import type * as stores from "windrow/store";
import { attack } from "./kit/attack.ts";
import type { Product, Report } from "./kit/attack.ts";

type Windrow = typeof windrow;
type Ops = typeof ops;
type Stores = typeof stores;

interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): { all(...values: unknown[]): unknown[] };
  close(): unknown;
}

const messages = 24;

function openDatabase(file: string): Database | undefined {
  const own = process.getBuiltinModule?.("node:sqlite") as
    | { readonly DatabaseSync?: new (path: string) => Database }
    | undefined;
  try {
    const Driver = own?.DatabaseSync ?? (createRequire(import.meta.url)("libsql") as new (path: string) => Database);
    return new Driver(file);
  } catch {
    return undefined;
  }
}

/** A store with one session, in compressed files or a database, made once and copied for each damage. */
interface Origin {
  readonly name: string;
  readonly kind: "files" | "sqlite";
  readonly finished: boolean;
  readonly folder: string;
  readonly id: string;
}

const target = (origin: Pick<Origin, "kind">, folder: string): string =>
  origin.kind === "files" ? folder : `sqlite:${join(folder, "all.db")}`;

async function makeOrigin(product: Product, name: string, shape: Pick<Origin, "kind" | "finished">): Promise<Origin> {
  const { SessionManager } = await product.load<Windrow>("index.js");
  const { openStore } = await product.load<Stores>("access/open.js");
  const folder = join(product.scratch, `origin-${name}`);
  mkdirSync(folder, { mode: 0o700 });
  const origin = { name, ...shape, folder };
  const manager = await SessionManager.open({ store: target(origin, folder), budget: 50_000 });
  const session = await manager.create();
  for (let step = 1; step <= messages / 3; step += 1) {
    await session.append({ role: "user", parts: [{ type: "text", text: `question ${step} ${"x".repeat(300)}` }] });
    const call = { type: "tool-call", callId: `c${step}`, name: "read", args: { path: `a${step}.ts` } } as const;
    await session.append({ role: "assistant", parts: [call] });
    const run = await session.startTool(call);
    await run.finish(`result ${step}`);
    await session.endStep({ usage: { input: 10, output: 2 } });
  }
  if (shape.finished) await session.finish("completed");
  else await session.close();
  await manager.close();
  if (shape.kind === "files") {
    const store = await openStore(folder);
    await store.upkeep.compress?.({}, session.id);
    await store.close();
  }
  return { ...origin, id: session.id };
}

/** What is done to the lines of a log, whichever store keeps them: the numbers of those that go, or bytes that are cut. */
interface Damage {
  readonly name: string;
  readonly log: "messages" | "tools" | "usage";
  readonly gone?: (seq: number, last: number) => boolean;
  /** Overwrites bytes in the middle of the log. */
  readonly cut?: true;
  /** Files only: the log itself is removed. */
  readonly unlink?: true;
}

const damages: readonly Damage[] = [
  { name: "lines of the middle", log: "messages", gone: (seq) => seq >= 6 && seq <= 9 },
  { name: "the tail", log: "messages", gone: (seq, last) => seq > last - 4 },
  { name: "every message", log: "messages", gone: () => true },
  { name: "the whole file", log: "messages", unlink: true },
  { name: "bytes of the middle", log: "messages", cut: true },
  { name: "the first line", log: "messages", gone: (seq) => seq === 1 },
  { name: "the tail of the tool runs", log: "tools", gone: (seq, last) => seq > last - 2 },
  { name: "the whole usage", log: "usage", gone: () => true },
];

function damageFiles(folder: string, { id }: Origin, { log, gone, cut, unlink }: Damage): void {
  const plain = join(folder, "completed", id, `${log}.jsonl`);
  const isPacked = !existsSync(plain) && existsSync(`${plain}.gz`);
  const path = isPacked ? `${plain}.gz` : plain;
  if (unlink) return unlinkSync(path);
  const bytes = isPacked ? gunzipSync(readFileSync(path)) : readFileSync(path);
  let left = bytes;
  if (cut) left = Buffer.from(bytes).fill(0, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 900);
  else {
    const lines = bytes.toString().split("\n").slice(0, -1);
    const kept = lines.filter((line) => !gone!((JSON.parse(line) as { seq: number }).seq, lines.length));
    left = Buffer.from(kept.map((line) => `${line}\n`).join(""));
  }
  writeFileSync(path, isPacked ? gzipSync(left) : left);
}

function damageDatabase(folder: string, { log, gone, cut }: Damage): void {
  const table = log === "tools" ? "tool_calls" : log;
  const database = openDatabase(join(folder, "all.db"))!;
  const rows = database.prepare(`SELECT id, seq FROM ${table} ORDER BY seq`).all() as { id: number; seq: number }[];
  for (const { id, seq } of rows) {
    if (cut && seq >= 10 && seq <= 11) database.exec(`UPDATE ${table} SET line = substr(line, 1, 90) WHERE id = ${id}`);
    else if (gone?.(seq, rows.length)) database.exec(`DELETE FROM ${table} WHERE id = ${id}`);
  }
  database.close();
}

/** What somebody may have done before the doctor came. */
const visits = ["nobody", "a reader", "a resume", "a doctor that mends"] as const;

async function visit(product: Product, origin: Origin, folder: string, who: (typeof visits)[number]): Promise<void> {
  const { SessionManager } = await product.load<Windrow>("index.js");
  const { openStore } = await product.load<Stores>("access/open.js");
  const { doctor, viewSession } = await product.load<Ops>("ops/public.js");
  if (who === "nobody") return;
  const url = target(origin, folder);
  try {
    if (who === "a resume") {
      const manager = await SessionManager.open({ store: url, budget: 50_000 });
      try {
        const session = await manager.resume(origin.id, { readOnly: origin.finished });
        if (!origin.finished) await session.append({ role: "user", parts: [{ type: "text", text: "go on" }] });
        await session.compose();
      } finally {
        await manager.close();
      }
      return;
    }
    const store = await openStore(url);
    try {
      if (who === "a reader") await viewSession(store, {}, origin.id, { last: Infinity, tools: true });
      else await doctor(store, { mend: true });
    } finally {
      await store.close();
    }
  } catch (error) {
    // A clear refusal is no silence.
    if (!(error instanceof Error) || !("code" in error)) throw error;
  }
}

async function texts(product: Product, url: string, id: string): Promise<string> {
  const { SessionManager } = await product.load<Windrow>("index.js");
  const manager = await SessionManager.open({ store: url });
  const found: unknown[] = [];
  for await (const message of manager.messages(id)) found.push(message.parts);
  await manager.close();
  return JSON.stringify(found);
}

async function attackOne(
  product: Product,
  report: Report,
  origin: Origin,
  damage: Damage,
  who: (typeof visits)[number],
  backups: string,
): Promise<void> {
  const { openStore } = await product.load<Stores>("access/open.js");
  const { doctor, backup, restore } = await product.load<Ops>("ops/public.js");
  const what = `${origin.name}, ${damage.name}, ${who}`;
  const folder = join(product.scratch, what.replaceAll(/\W+/g, "-"));
  cpSync(origin.folder, folder, { recursive: true });
  if (origin.kind === "files") damageFiles(folder, origin, damage);
  else damageDatabase(folder, damage);
  await visit(product, origin, folder, who);
  const store = await openStore(target(origin, folder));
  try {
    for (const mend of [false, true, false]) {
      const { open, toMend, toRestore, restore: ids } = await doctor(store, { mend });
      if (open === 0) report.failed(`${what}: the doctor finds nothing${mend ? " when it mends" : ""}`);
      if (toRestore === 0 || !ids.includes(origin.id))
        report.failed(`${what}: only a backup helps, and it is not said`);
      if (mend && toMend > 0) report.failed(`${what}: after mending it still promises to mend`);
    }
    const own = join(folder, "own-backup");
    const taken = await backup(store, own, { running: true, verify: true });
    if (!taken.sessions.some(({ error }) => error)) report.failed(`${what}: backup --verify blesses the copy`);
    const after = await restore(backups, store, { ids: [origin.id], replace: true });
    if (after.restored !== 1) report.failed(`${what}: restore --replace: ${JSON.stringify(after.sessions)}`);
    const { findings } = await doctor(store);
    const left = findings.filter(({ severity }) => severity === "damage");
    if (left.length > 0) report.failed(`${what}: damage after the restore: ${JSON.stringify(left)}`);
  } finally {
    await store.close();
  }
  if (
    (await texts(product, target(origin, folder), origin.id)) !==
    (await texts(product, target(origin, origin.folder), origin.id))
  )
    report.failed(`${what}: the restored session reads otherwise`);
}

async function attackOrigin(product: Product, report: Report, origin: Origin): Promise<void> {
  const { openStore } = await product.load<Stores>("access/open.js");
  const { doctor, backup } = await product.load<Ops>("ops/public.js");
  const backups = join(product.scratch, `backups-${origin.name}`);
  const store = await openStore(target(origin, origin.folder));
  const { findings } = await doctor(store);
  if (findings.length > 0) report.failed(`${origin.name}, untouched: ${JSON.stringify(findings)}`);
  await backup(store, backups, { running: true });
  await store.close();
  const cases = damages.filter(({ unlink }) => !(unlink && origin.kind === "sqlite"));
  for (const [index, damage] of cases.entries()) {
    await attackOne(product, report, origin, damage, visits[index % visits.length]!, backups);
    if (index < 2) await attackOne(product, report, origin, damage, visits[(index + 1) % visits.length]!, backups);
  }
}

async function run(
  command: string,
  ...given: readonly string[]
): Promise<{ status: number; stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [command, ...given]);
    return { status: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}

/** The way out that the command prints, taken literally. */
async function commandLine(product: Product, report: Report, origin: Origin): Promise<void> {
  const backups = join(product.scratch, `backups-${origin.name}`);
  const folder = join(product.scratch, `cli-${origin.name}`);
  cpSync(origin.folder, folder, { recursive: true });
  const url = target(origin, folder);
  if (origin.kind === "files") damageFiles(folder, origin, damages[0]!);
  else damageDatabase(folder, damages[0]!);
  await run(product.command, "view", origin.id, "--store", url);
  const mended = await run(product.command, "doctor", "--mend", "--store", url, "--backup", backups);
  if (mended.status !== 1) report.failed(`${origin.name}: windrow doctor --mend ends with ${mended.status}`);
  if (/Nothing was lost/.test(mended.stdout)) report.failed(`${origin.name}: the doctor says that nothing was lost`);
  const command = /^ {2}windrow (restore .*--replace)$/m.exec(mended.stdout)?.[1];
  if (command === undefined) return report.failed(`${origin.name}: no command to copy:\n${mended.stdout}`);
  const restored = await run(product.command, ...command.split(" "));
  if (restored.status !== 0) report.failed(`${origin.name}: ${command}: ${restored.stderr}${restored.stdout}`);
  const well = await run(product.command, "doctor", "--store", url);
  if (well.status !== 0) report.failed(`${origin.name}: after the restore: ${well.stdout}`);
}

attack({
  name: "silent loss",
  seeds: [
    {
      name: "doctor compares no numbers",
      changes: [
        {
          file: "store/shared/losses.ts",
          from: "    if (seq <= expected) return undefined;",
          to: "    return undefined;",
        },
        {
          file: "store/shared/losses.ts",
          from: "const short = Math.max(0, counted - highest);",
          to: "const short = 0 * counted;",
        },
        {
          file: "store/shared/losses.ts",
          from: "const places = Math.max(0, holes - known);",
          to: "const places = 0 * holes;",
        },
        {
          file: "store/shared/losses.ts",
          from: "const differs = known + places === 0 &&",
          to: "const differs = known < 0 &&",
        },
      ],
    },
  ],
  async run(product, report) {
    const shapes: [string, Pick<Origin, "kind" | "finished">][] = [["compressed", { kind: "files", finished: true }]];
    const probe = openDatabase(join(product.scratch, "probe.db"));
    probe?.close();
    if (probe) {
      shapes.push(["finished-rows", { kind: "sqlite", finished: true }]);
      shapes.push(["running-rows", { kind: "sqlite", finished: false }]);
    }
    const origins: Origin[] = [];
    for (const [name, shape] of shapes) {
      const origin = await makeOrigin(product, name, shape);
      origins.push(origin);
      await attackOrigin(product, report, origin);
    }
    for (const origin of origins.filter(({ name }) => name !== "finished-rows"))
      await commandLine(product, report, origin);
  },
});
