/**
 * Readers beside sessions that are compressed, unpacked, put into the trash and brought back by other processes: each
 * read gives every message, or says that the session is not there now. None gives fewer, or a raw error of the system.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as front from "windrow";
import type { isWindrowError, Store } from "windrow";
import type * as stores from "windrow/store";
import { attack } from "./kit/attack.ts";
import type { Product, Report } from "./kit/attack.ts";

const messages = 20;
const cycles = 12;

/** What a session says, with one value that stands in a file of its own. */
function textOf(number: number): string {
  return `message ${number} ${"and more ".repeat(number === 5 ? 20_000 : 60)}`;
}

async function madeSession(product: Product, store: string): Promise<string> {
  const { SessionManager } = await product.load<typeof front>("index.js");
  const manager = await SessionManager.open({ store, model: "gpt-4o" });
  const session = await manager.create();
  for (let number = 1; number <= messages; number++) {
    await session.append([{ role: "user", parts: [{ type: "text", text: textOf(number) }] }]);
  }
  await session.finish("completed");
  await manager.close();
  return session.id;
}

/** A process that runs a program until it ends by itself, or its input is closed. */
function beside(product: Product, name: string, program: string): { readonly ended: Promise<number>; stop(): void } {
  const path = join(product.scratch, `${name}.mjs`);
  writeFileSync(path, program);
  const child = spawn(process.execPath, [path], { stdio: ["pipe", "inherit", "inherit"] });
  const ended = once(child, "exit").then(([code]) => Number(code));
  return { ended, stop: () => void child.stdin.end() };
}

/** The names of a log come and go as while it is compressed and unpacked, as fast as the system can. */
function flicker(log: string): string {
  return `
    import { linkSync, unlinkSync } from "node:fs";
    const log = ${JSON.stringify(log)};
    let on = true;
    process.stdin.on("end", () => { on = false; }).resume();
    const turn = () => {
      for (let cycle = 0; cycle < 200; cycle++) {
        linkSync(log + ".packed", log + ".gz");
        unlinkSync(log);
        linkSync(log + ".plain", log);
        unlinkSync(log + ".gz");
      }
      if (on) setImmediate(turn);
    };
    turn();
  `;
}

/** Upkeep by another process, so many times. */
function upkeep(product: Product, store: string, id: string, steps: readonly string[]): string {
  const open = pathToFileURL(join(product.root, "access/open.js")).href;
  return `
    const { openStore } = await import(${JSON.stringify(open)});
    const store = await openStore(${JSON.stringify(store)});
    const id = ${JSON.stringify(id)};
    const { upkeep } = store;
    const steps = {
      compress: () => upkeep.compress({}, id),
      decompress: () => upkeep.decompress({}, id),
      trash: () => upkeep.trash({}, [id], new Date().toISOString()),
      untrash: () => upkeep.untrash({}, id),
    };
    for (let cycle = 0; cycle < ${cycles}; cycle++) for (const name of ${JSON.stringify(steps)}) await steps[name]();
    await store.close();
  `;
}

interface Reading {
  readonly store: Store;
  readonly id: string;
  /** Whether the session may be away. */
  readonly mayBeAway: boolean;
}

class Reader {
  readonly #product: Product;
  readonly #report: Report;

  constructor(product: Product, report: Report) {
    this.#product = product;
    this.#report = report;
  }

  /** Reads the session by every door, and reports what is neither whole nor a session that is away. */
  async read({ store, id, mayBeAway }: Reading): Promise<void> {
    await this.#try(mayBeAway, "read", async () => {
      const texts: string[] = [];
      for await (const { message } of store.read({}, id, { kind: "message" })) {
        for (const part of message.parts) if (part.type === "text") texts.push(part.text);
      }
      return texts.length === messages && texts.every((text, index) => text === textOf(index + 1));
    });
    await this.#try(mayBeAway, "the newest", async () => {
      for await (const { seq } of store.read({}, id, { kind: "message", last: 1 })) return seq === messages;
      return false;
    });
    await this.#try(mayBeAway, "dump", async () => {
      let lines = 0;
      for await (const { log, line } of (await store.transfer.dump({}, id)).lines()) {
        if (log === "messages") lines += line.includes('"blob":') ? 0 : 1;
      }
      return lines === messages;
    });
    await this.#try(mayBeAway, "size", async () => (await store.upkeep.size({}, id)).plainBytes > 100_000);
    await this.#try(true, "list", async () => {
      for await (const info of store.list({})) if (info.state.status !== "completed") return false;
      return true;
    });
  }

  async #try(mayBeAway: boolean, door: string, read: () => Promise<boolean>): Promise<void> {
    const { isWindrowError: isOwn } = await this.#product.load<{ isWindrowError: typeof isWindrowError }>("errors.js");
    try {
      if (!(await read())) this.#report.failed(`${door}: not every message, and no error`);
    } catch (error) {
      if (error instanceof Error && error.constructor.name === "Caught") throw error;
      if (mayBeAway && isOwn(error, "session-not-found")) return;
      this.#report.failed(`${door}: ${String(error)}`);
    }
  }
}

attack({
  name: "upkeep races",
  seeds: [
    {
      name: "a log that is missing is an empty one",
      changes: [
        { file: "disk/archive/archive-disk.ts", from: "const looks = 8;", to: "const looks = 1;" },
        {
          file: "store/files/engine.ts",
          from: "throw messagesMissing(id, path)",
          to: "void messagesMissing(id, path)",
        },
      ],
    },
  ],
  async run(product, report) {
    const folder = join(product.scratch, "store");
    const id = await madeSession(product, folder);
    const { openStore } = await product.load<typeof stores>("access/open.js");
    const store = await openStore(folder);
    const log = join(folder, "completed", id, "messages.jsonl");
    const reader = new Reader(product, report);

    // The state between two looks of a reader, held still: neither name is there.
    copyFileSync(log, `${log}.plain`);
    rmSync(log);
    const empty = await countOf(store, id);
    if (empty !== "error") report.failed(`a session whose messages are missing has ${empty} messages`);
    copyFileSync(`${log}.plain`, log);

    await store.upkeep.compress!({}, id);
    copyFileSync(`${log}.gz`, `${log}.packed`);
    rmSync(`${log}.plain.gz`, { force: true });
    await store.upkeep.decompress!({}, id);
    copyFileSync(log, `${log}.plain`);
    rmSync(log);
    cpSync(`${log}.plain`, log);
    const flickering = beside(product, "flicker", flicker(log));
    const long = product.seeded ? 400 : 60;
    for (let round = 0; round < long; round++) {
      const count = await countOf(store, id);
      if (count !== messages) report.failed(`a log that changes its name has ${count} messages`);
    }
    flickering.stop();
    if ((await flickering.ended) !== 0) report.failed("the process beside ended with an error");
    for (const ending of [".plain", ".packed", ".plain.gz", ".packed.gz"]) rmSync(`${log}${ending}`, { force: true });
    if (!existsSync(log)) report.failed("the log is not where it was");

    const other = await madeSession(product, folder);
    const children = [
      beside(product, "compress", upkeep(product, folder, id, ["compress", "decompress"])),
      beside(product, "trash", upkeep(product, folder, other, ["trash", "untrash"])),
    ];
    let running = children.length;
    const codes = children.map(async ({ ended }) => {
      const code = await ended;
      running -= 1;
      return code;
    });
    while (running > 0) {
      await reader.read({ store, id, mayBeAway: false });
      await reader.read({ store, id: other, mayBeAway: true });
    }
    for (const code of await Promise.all(codes))
      if (code !== 0) report.failed(`upkeep beside readers ended with ${code}`);
    await store.close();
  },
});

async function countOf(store: Store, id: string): Promise<number | "error"> {
  let count = 0;
  try {
    for await (const { seq } of store.read({}, id, { kind: "message" })) count = Math.max(count, seq);
    return count;
  } catch {
    return "error";
  }
}
