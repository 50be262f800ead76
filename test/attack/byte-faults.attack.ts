/**
 * One fault in one file of a store, and then every command that reads or keeps it: none ends in a stack trace, and none
 * gives a changed message for a good one.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import type * as commands from "../kit/inside/cli.ts";
import type * as front from "windrow";
import { attack } from "./kit/attack.ts";
import type { Product, Report } from "./kit/attack.ts";

const shown = "1.".repeat(700);

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly all: string;
}

/** The command in this process: `main.js` gives it the process, and an error that gets out of it would end that. */
async function run(product: Product, words: readonly string[]): Promise<Ran> {
  const program = await product.load<typeof commands>("cli/program.js");
  let [out, error] = ["", ""];
  const io = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (error += text) },
    env: { HOME: product.scratch, XDG_CONFIG_HOME: product.scratch, NO_COLOR: "1" },
  };
  const status = await program.run(words, io).catch((thrown: unknown) => {
    error += `\n    at nothing caught it (${String(thrown)}:1:1)`;
    return null;
  });
  return { status, out, all: out + error };
}

/** Three finished sessions, and what each message of them says. */
async function madeStore(product: Product, folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const { SessionManager } = await product.load<typeof front>("index.js");
  const manager = await SessionManager.open({ store: folder, model: "gpt-4o" });
  const said = new Map<string, readonly string[]>();
  for (const name of ["one", "two", "three"]) {
    const session = await manager.create({ taskKey: { name } });
    const texts: string[] = [];
    for (let number = 1; number <= 40; number++) {
      const text = `${name} says ${number}: ${shown}${number === 7 ? "large ".repeat(20_000) : ""}`;
      texts.push(text);
      await session.append([{ role: "user", parts: [{ type: "text", text }] }]);
    }
    await session.finish("completed");
    said.set(session.id, texts);
  }
  await manager.close();
  return said;
}

/** The files of a folder with what they hold. */
function contents(folder: string): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) found.set(relative(folder, path), readFileSync(path));
  }
  return found;
}

const faults: Readonly<Record<string, (bytes: Buffer, at: number) => Buffer>> = {
  "flip": (bytes, at) => {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 4;
    return changed;
  },
  "truncate": (bytes, at) => bytes.subarray(0, at),
  "nuls": (bytes, at) => {
    const changed = Buffer.from(bytes);
    return changed.fill(0, at, Math.min(bytes.length, at + 200));
  },
  "insert": (bytes, at) => Buffer.concat([bytes.subarray(0, at), Buffer.from("fault"), bytes.subarray(at)]),
  "delete lines": (bytes, at) => {
    const end = bytes.indexOf(10, at);
    return end < 0 ? bytes.subarray(0, at) : Buffer.concat([bytes.subarray(0, at), bytes.subarray(end + 1)]);
  },
  "cut out": (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 100)]),
};

/** A command must not end by an error that it did not foresee. */
function noStack(report: Report, what: string, { status, all }: Ran): void {
  if (status === null || status > 2 || /^\s+at .+:\d+:\d+\)?$/m.test(all)) {
    report.failed(`${what}: status ${status}, ${all.slice(0, 400)}`);
  }
}

/** The texts that a session still gives, each of which must be what was said. */
async function messagesOf(
  product: Product,
  store: string,
  id: string,
  texts: readonly string[],
  report: Report,
  what: string,
): Promise<void> {
  const ran = await run(product, ["view", id, "--store", store, "--messages", "--json"]);
  noStack(report, `${what}, view`, ran);
  if (!ran.out.startsWith("{")) return;
  const { messages } = JSON.parse(ran.out) as { messages?: { shown?: readonly { seq: number; text: string }[] } };
  for (const { seq, text } of messages?.shown ?? []) {
    const right = texts[seq - 1];
    if (right !== undefined && (text === right || text.includes(" bytes in blobs/") || right.startsWith(text)))
      continue;
    report.failed(`${what}: message ${seq} reads "${text.slice(0, 80)}"`);
  }
}

attack({
  name: "byte faults",
  seeds: [
    {
      name: "checksums are not looked at",
      changes: [
        {
          file: "store/format/lines.ts",
          from: "return crc32(bytes.subarray(0, bytes.length - crcTailBytes)) === Number.parseInt(crc, 16);",
          to: 'return bytes.length > 0 && crc !== "";',
        },
      ],
    },
  ],
  async run(product, report) {
    const whole = join(product.scratch, "whole");
    const said = await madeStore(product, whole);
    const ids = [...said.keys()];
    const [id = ""] = ids;
    const loose = join(product.scratch, "loose");
    cpSync(whole, loose, { recursive: true });
    noStack(report, "archive", await run(product, ["archive", ...ids, "--store", whole]));
    await faultsOver(product, report, { name: "compressed", whole, id, texts: said.get(id)! });
    await faultsOver(product, report, { name: "plain", whole: loose, id, texts: said.get(id)! });
    await databaseFaults(product, report);
  },
});

/** Every fault in every file of a store that is no other session's, each followed by two commands in turn. */
async function faultsOver(
  product: Product,
  report: Report,
  { name: kind, whole, id, texts }: { name: string; whole: string; id: string; texts: readonly string[] },
): Promise<void> {
  let round = 0;
  for (const [file, bytes] of contents(whole)) {
    const isOthers = file.startsWith("completed/") && !file.startsWith(join("completed", id));
    if (bytes.length === 0 || isOthers) continue;
    // Each fault at two places of the file.
    for (const [name, change] of [...Object.entries(faults), ...Object.entries(faults)]) {
      const store = join(product.scratch, `${kind}-${round++}`);
      cpSync(whole, store, { recursive: true });
      const at = (round * 7919) % Math.max(1, bytes.length);
      writeFileSync(join(store, file), change(bytes, at));
      const what = `${kind}: ${name} at byte ${at} of ${file}`;
      // In turn, so that every command meets every kind of fault over the files.
      for (const words of [sweep[round % sweep.length]!, sweep[(3 * round + 1) % sweep.length]!]) {
        const command = words.map((word) => (word === "BACKUPS" ? `${store}-backups` : word === "ID" ? id : word));
        noStack(report, `${what}, ${command.join(" ")}`, await run(product, [...command, "--store", store]));
      }
      if (basename(file).startsWith("messages")) await messagesOf(product, store, id, texts, report, what);
      rmSync(store, { recursive: true });
      rmSync(`${store}-backups`, { recursive: true, force: true });
    }
  }
}

/** The same faults in a database that nobody has open. */
async function databaseFaults(product: Product, report: Report): Promise<void> {
  const whole = join(product.scratch, "whole.db");
  const said = await madeStore(product, `sqlite:${whole}`);
  const [id = ""] = said.keys();
  const bytes = readFileSync(whole);
  let round = 0;
  for (const share of [0.001, 0.3, 0.7]) {
    for (const [name, change] of Object.entries(faults)) {
      const file = join(product.scratch, `fault-${round++}.db`);
      const at = Math.floor(bytes.length * share) + round;
      writeFileSync(file, change(bytes, at));
      const command = sweep[round % sweep.length]!.map((word) =>
        word === "BACKUPS" ? `${file}-backups` : word === "ID" ? id : word,
      );
      const what = `sqlite: ${name} at byte ${at}`;
      noStack(report, `${what}, ${command.join(" ")}`, await run(product, [...command, "--store", `sqlite:${file}`]));
      await messagesOf(product, `sqlite:${file}`, id, said.get(id)!, report, what);
    }
  }
}

const sweep: readonly (readonly string[])[] = [
  ["stats"],
  ["doctor"],
  ["search", "says", "--no-index"],
  ["scan"],
  ["logs"],
  ["top", "--once"],
  ["cleanup", "--older-than", "0", "--yes"],
  ["backup", "BACKUPS"],
  ["doctor", "--mend"],
  ["view", "ID", "--tools"],
  ["view", "ID", "--window"],
  ["export", "ID", "--format", "openai"],
  ["archive", "ID"],
  ["archive", "ID", "--undo"],
];
