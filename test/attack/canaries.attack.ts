/**
 * Canaries: secrets in every place that a session takes, in both stores. None of them may be found in a live event, a
 * log line, a byte on the disk, a backup, an export, a webhook's post, the metrics, or the output of any command.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type * as Windrow from "windrow";
import type * as OpsDoor from "windrow/ops";
import type * as AuthorDoor from "windrow/store/author";
import type * as StoreDoor from "windrow/store";
import { attack } from "./kit/attack.ts";
import type { Product, Report } from "./kit/attack.ts";

const registered = "correct horse battery staple 9";
const canaries: readonly string[] = [
  `ghp_${"q7R2t9K4mX1b".repeat(3)}`,
  `AKIA${"Q3ZT7WX2LM9KB4RD"}`,
  `sk-ant-api03-${"Zx9Yw8Vu7Ts6Rq5P".repeat(6)}AA`,
  registered,
];
const everything = canaries.map((canary) => `value ${canary} end`).join("\n");

attack({
  name: "canaries",
  seeds: [
    {
      name: "events and log lines pass no mask",
      changes: [
        {
          file: "session/events.ts",
          from: "listener && ((event) => listener(maskEvent(event, rules)))",
          to: "(void maskEvent, void rules, listener)",
        },
        {
          file: "ops/logs/logs.ts",
          from: "linesOf(maskEvent(event, mask), now(), level)",
          to: "linesOf((void maskEvent, mask, event), now(), level)",
        },
      ],
    },
    {
      name: "a cutter that knows no registered value",
      changes: [
        {
          file: "session/manager/manager.ts",
          from: "const mask = textMask(this.secretRules);",
          to: "const mask = textMask(this.secretRules) && ((text: string) => text);",
        },
      ],
    },
  ],
  async run(product, report) {
    for (const kind of ["files", "sqlite"] as const) await attackStore(kind, product, report);
  },
});

async function attackStore(kind: "files" | "sqlite", product: Product, report: Report): Promise<void> {
  const folder = join(product.scratch, kind);
  const store = kind === "files" ? join(folder, "store") : `sqlite:${join(folder, "store.db")}`;
  await writeSessions(store, product, report, folder);
  for (const [place, bytes] of await filesUnder(folder)) look(place, bytes, report);
  await runCommands(store, folder, product, report);
  for (const [place, bytes] of await filesUnder(folder)) look(`${place} after the commands`, bytes, report);
}

/** Everything that a session takes, with every canary in it. */
async function writeSessions(store: string, product: Product, report: Report, folder: string): Promise<void> {
  const { SessionManager } = await product.load<typeof Windrow>("index.js");
  const { openStore } = await product.load<typeof StoreDoor>("access/open.js");
  const { createMask } = await product.load<typeof AuthorDoor>("store/author.js");
  const { logTo } = await product.load<typeof OpsDoor>("ops/public.js");
  await mkdir(folder, { recursive: true });
  const mask = createMask({ values: { HOUSE: registered } });
  // Windrow drops what a listener throws, so what was heard is looked at afterwards.
  const heard: [string, string][] = [];
  const log = logTo((line) => heard.push(["a log line", line]), { level: "DEBUG", mask });
  const opened = await openStore(store, { mask });
  const manager = await SessionManager.open({
    store: opened,
    strategy: "adaptive",
    budget: 4_000,
    ingestCap: 400,
    workingSet: true,
    compaction: "blocking",
    on: (event) => {
      heard.push([`the event ${event.type}`, textOf(event)]);
      log(event);
    },
  });
  for (const status of ["completed", "failed"] as const) {
    const session = await manager.create({ taskKey: { name: everything }, config: { note: everything } });
    await session.append({ role: "user", model: registered, parts: [{ type: "text", text: `Go. ${everything}` }] });
    for (let step = 0; step < 14; step += 1) {
      const callId = `c${step}`;
      const canary = canaries[step % canaries.length] as string;
      // The cut of a subject falls at its 96th character: the canary lies across it.
      const command = `${"p".repeat(60 + step)} --key ${canary} ${"q".repeat(40)}`;
      const args = { command, [`${canary} key`]: [everything] };
      await session.append({
        role: "assistant",
        parts: [
          { type: "reasoning", text: everything },
          { type: "tool-call", callId, name: "shell", args },
        ],
        extra: { header: everything },
      });
      const run = await session.startTool({ callId, name: `shell ${canary}`, args }, { allowMasks: true });
      const long = `${"w".repeat(120 + step)}=${canary};${"v".repeat(300)}`;
      await run.finish(`${everything}\n${long}\n${"some output of the tool\n".repeat(40)}`, { isError: step === 3 });
      await session.compose({ system: everything, dynamic: everything });
      await session.endStep({ usage: { input: 10 }, model: everything });
    }
    await session.pin(everything);
    await session.goal.set(everything);
    await session.snapshot.update({ currentPhase: everything });
    await session.compact().catch(() => undefined);
    await session.compose();
    await session.finish(status, everything);
    report.count("sessions with canaries");
  }
  await manager.close();
  // An open database that is collected takes its files away while they are looked at.
  await opened.close?.();
  for (const [place, text] of heard) look(place, text, report);
}

async function runCommands(store: string, folder: string, product: Product, report: Report): Promise<void> {
  const backups = join(folder, "backups");
  const ids = await idsOf(store, product);
  const formats = ["windrow", "openai", "claude-code", "codex", "pi", "gemini-cli"];
  const commands: string[][] = [
    ...["", "--messages", "--tools", "--window", "--epochs", "--summaries"].map((flag) => ["view", "latest", flag]),
    ...["--messages", "--epochs"].map((flag) => ["view", "latest", flag, "--json"]),
    ["stats"],
    ["logs"],
    ["logs", "--json"],
    ["top", "--once"],
    ["search", "value"],
    ["doctor"],
    ["scan"],
    ["compose", "latest", "--budget", "4000"],
    ["monitor", "--once"],
    ["backup", backups],
    ["archive", ...ids],
    ["search", "output", "--json"],
    ...formats.map((format, index) => ["export", ids[index % ids.length] as string, "--format", format]),
  ];
  const posts: string[] = [];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => posts.push(chunk.toString()));
    request.on("end", () => response.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  commands.push(["monitor", "--once", "--failures", "1", "--webhook", `http://127.0.0.1:${port}/hook`]);
  const run = async (words: readonly string[]): Promise<void> => {
    const output = await outputOf([...words.filter((word) => word !== ""), "--store", store], product, folder);
    report.count("commands over canaries");
    look(`the output of ${words.slice(0, 3).join(" ")}`, output, report);
  };
  for (const group of groupsOf(commands)) await Promise.all(group.map(run));
  server.close();
  for (const post of posts) look("a webhook's post", post, report);
  if (posts.length === 0) report.failed("The webhook was told of no alert, so its posts were not looked at.");
}

/** Commands that read, two at a time; each that writes by itself. */
function groupsOf(commands: readonly (readonly string[])[]): readonly (readonly (readonly string[])[])[] {
  const writers = new Set(["backup", "archive", "monitor", "search"]);
  const groups: (readonly string[])[][] = [];
  let open: (readonly string[])[] | undefined;
  for (const words of commands) {
    const alone = writers.has(words[0] ?? "");
    if (open && !alone) open.push(words);
    else groups.push([words]);
    open = open || alone ? undefined : groups.at(-1);
  }
  return groups;
}

async function idsOf(store: string, product: Product): Promise<readonly string[]> {
  const { openStore } = await product.load<typeof StoreDoor>("access/open.js");
  const opened = await openStore(store);
  const ids: string[] = [];
  for await (const { metadata } of opened.list({})) ids.push(metadata.uuid);
  await opened.close?.();
  return ids;
}

async function outputOf(args: readonly string[], product: Product, folder: string): Promise<string> {
  const env = { ...process.env, NO_COLOR: "1", TMPDIR: folder };
  const child = spawn(process.execPath, [product.command, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(child, "close");
  return Buffer.concat(chunks).toString();
}

/** Reports a canary, or eight characters of the registered one's middle, that stands in a text. */
function look(place: string, given: string | Buffer, report: Report): void {
  const text = given.toString();
  report.count("places looked at");
  for (const canary of canaries) {
    for (const form of [canary, JSON.stringify(canary).slice(1, -1), encodeURIComponent(canary)]) {
      if (text.includes(form)) return report.failed(`${canary.slice(0, 7)}… stands in ${place}.`);
    }
    const half = Math.ceil(canary.length / 2);
    for (const part of [canary.slice(0, half), canary.slice(-half)]) {
      if (text.includes(part)) return report.failed(`Half of ${canary.slice(0, 7)}… stands in ${place}.`);
    }
  }
}

function textOf(event: unknown): string {
  return JSON.stringify(event, (_key, value: unknown) =>
    value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value,
  );
}

async function filesUnder(folder: string): Promise<readonly (readonly [string, Buffer])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  await writeFile(join(folder, "names.txt"), paths.join("\n"));
  return Promise.all(
    [...paths, join(folder, "names.txt")].map(async (path) => {
      const bytes = await readFile(path);
      return [path, bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes] as const;
    }),
  );
}
