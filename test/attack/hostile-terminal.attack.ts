/** A session that holds what terminals obey, in every field, shown by every command of the compiled program. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as Windrow from "windrow";
import { attack } from "./kit/attack.ts";
import type { Product, Report } from "./kit/attack.ts";

/** Title, clear screen, clipboard, concealed text, C1, bidi, line separators, a forged line, tags. */
const hostile =
  "\u001b]0;PWNED\u0007\u001b[2J\u001b]52;c;aGk=\u0007\u001b[8m\nFORGED line\rFORGED\u2028FORGED\u0085" +
  "\u007f\u009b31m\u202e\u2066\u061c\u200e\u{e0041} end";

/** Arguments of a process hold neither NUL nor half characters, and this is what a shell can pass. */
const obeyed =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u;

/** Colours of the program's own. */
const own = /\u001b\[(?:0|1|2|22|39|3[1-6])m/g;

interface Place {
  readonly store: string;
  readonly file: string;
  readonly beside: string;
  readonly id: string;
}

type Argv = readonly string[];

/** Each command with arguments under which it shows the session or a name that is hostile itself. */
const commands: Readonly<Record<string, (place: Place) => readonly Argv[]>> = {
  view: ({ store, id }) => [
    [id, "--window", "--store", store],
    [id, "--messages", "--tools", "--summaries", "--epochs", "--store", store],
    [id, "--layout", "coding-agent", "--messages", "--tools", "--store", store],
    [id, "--message", "m1-m5", "--store", store],
    [id, "--message", hostile, "--store", store],
    [hostile, "--store", store],
  ],
  init: ({ beside }) => [
    [join(beside, `init${hostile}`)],
    [join(beside, `init${hostile}`), "--dry-run", "--force"],
    ["--host", hostile],
  ],
  replay: ({ file }) => [[file]],
  bench: () => [
    ["loop", "--policy", hostile],
    ["loop", "--family", hostile],
    ["loop", "--seed", hostile],
  ],
  compose: ({ store, file }) => [["latest", "--explain", "--store", store], [file]],
  stats: ({ store }) => [
    ["--store", store],
    ["--layout", "coding-agent", "--store", store],
  ],
  usage: ({ store }) => [
    ["--store", store],
    ["--agent", hostile],
  ],
  logs: ({ store }) => [
    ["--level", "DEBUG", "--store", store],
    [hostile, "--debug", "--store", store],
  ],
  top: ({ store }) => [["--once", "--store", store]],
  search: ({ store }) => [["FORGED", "--store", store]],
  similar: ({ store, id }) => [
    ["FORGED", "--store", store],
    ["--session", id, "--store", store],
    [hostile, "--store", store],
  ],
  memory: ({ store }) => [
    ["--store", store],
    ["list", "--history", "--user", hostile, "--store", store],
    ["show", hostile, "--store", store],
  ],
  store: ({ store }) => [
    ["migrate", "--store", store],
    ["migrate", "--store", hostile],
  ],
  recall: ({ store, id }) => [
    [id, "m1-m99", "--store", store],
    [id, "FORGED", "--store", store],
    [id, "zzz", hostile, "--store", store],
    [hostile, "m1", "--store", store],
  ],
  scan: ({ store }) => [["--store", store]],
  doctor: ({ store }) => [["--store", store]],
  monitor: ({ store }) => [["--once", "--store", store]],
  audit: ({ store }) => [["--store", store]],
  config: () => [["--config", hostile]],
  mcp: ({ store }) => [["--store", store, "--host", hostile, "--http", "0"]],
  serve: ({ store }) => [
    ["--store", store, "--host", hostile, "--no-open"],
    [hostile, "--store", store, "--no-open"],
  ],
  gateway: ({ store }) => [
    ["--store", store, "--port", "0", "--host", hostile],
    ["--store", store, "--port", "0", "--budget", hostile],
    ["--store", store, "--port", "0", "--upstream", `x=${hostile}`],
    ["--store", store, "doctor", hostile],
    ["--store", store, "run", "--", hostile],
  ],
  completion: () => [["bash"], [hostile]],
  export: ({ store, id }) => [[id, "--store", store, "--format", hostile]],
  import: ({ file, beside }) => [[file, "--store", join(beside, "imported")]],
  copy: ({ store, beside }) => [["--from", store, "--to", join(beside, "copied")]],
  backup: ({ store, beside }) => [[join(beside, "backup"), "--running", "--store", store]],
  restore: ({ beside }) => [["--all", "--from", join(beside, "backup"), "--to", join(beside, "restored")]],
  unlock: ({ store, id }) => [[id, "--store", store]],
  keep: ({ store, id }) => [[id, "--reason", hostile, "--store", store]],
  unkeep: ({ store, id }) => [[id, "--store", store]],
  compact: ({ store }) => [["latest", "--debug", "--model", hostile, "--store", store]],
  archive: ({ store }) => [[hostile, "--store", store]],
  finish: ({ store }) => [
    [hostile, "--store", store],
    ["latest", "--status", hostile, "--store", store],
    ["latest", "--error", hostile, "--store", store],
  ],
  cleanup: ({ store }) => [["--dry-run", "--store", store]],
  erase: ({ store, id }) => [
    [hostile, "--store", store],
    [id, "--yes", "--store", store],
  ],
};

const jsonCommands = ["view", "search", "stats", "logs", "scan", "doctor"];

async function windrow(product: Product, argv: Argv, colour = false): Promise<{ stdout: string; stderr: string }> {
  const env = colour ? { FORCE_COLOR: "1", TERM: "xterm" } : {};
  const child = spawn(process.execPath, [product.command, ...argv], { stdio: ["ignore", "pipe", "pipe"], env });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await once(child, "close");
  return { stdout, stderr };
}

/** Makes the session through the front door, or where that will not take a value, by what other programs write. */
async function fill(product: Product): Promise<Place> {
  const { SessionManager } = await product.load<typeof Windrow>("index.js");
  const store = join(product.scratch, "store");
  const user = hostile.replaceAll("\0", "").toWellFormed();
  const manager = await SessionManager.open({ store, user, budget: 3_000, audit: true });
  const session = await manager.create({ taskKey: { repo: hostile } });
  await session.append({ role: "user", parts: [{ type: "text", text: hostile }] });
  for (let step = 0; step < 8; step += 1) {
    const call = { callId: `c${step}${hostile}`, name: hostile, args: { path: hostile } };
    await session.append({ role: "assistant", parts: [{ type: "tool-call", ...call }] });
    const run = await session.startTool(call);
    await run.finish(hostile.repeat(20), { isError: step % 2 === 1 });
    await session.compose();
  }
  await session.startTool({ callId: hostile, name: hostile, args: { path: hostile } });
  await session.pin(hostile);
  const { id } = session;
  await session.close();
  const other = await manager.create({ taskKey: { repo: hostile } });
  await other.finish("failed", hostile);
  await manager.close();
  await appendFile(join(store, "running", id, "messages.jsonl"), "\u001b]0;PWNED\u0007\u202e\n");
  const call = { id: hostile, type: "function", function: { name: hostile, arguments: "{}" } };
  const lines = [
    { role: "user", content: hostile },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: hostile, content: hostile },
    { role: "assistant", content: hostile, model: hostile },
  ];
  const file = join(product.scratch, "a\u001b]0;PWNED\u0007\u202e\nFORGED.jsonl");
  await writeFile(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"torn": "\u001b[2J\u202e\n`);
  return { store, file, beside: product.scratch, id };
}

interface Output {
  readonly argv: Argv;
  readonly colour: boolean;
  readonly text: string;
}

async function outputOf(product: Product, argv: Argv, colour: boolean): Promise<Output> {
  const { stdout, stderr } = await windrow(product, argv, colour);
  return { argv, colour, text: `${stdout}\n${stderr}` };
}

function check({ argv: [name = ""], colour, text: written }: Output, report: Report): void {
  report.count("outputs read byte for byte", 2);
  const text = colour ? written.replaceAll(own, "") : written;
  const around = (at: number): string => JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
  const found = obeyed.exec(text);
  const forged = /^FORGED/m.exec(text);
  if (found) report.failed(`windrow ${name}: ${around(found.index)}`);
  if (forged) report.failed(`windrow ${name} writes a line that a session forged: ${around(forged.index)}`);
}

attack({
  name: "hostile terminal",
  seeds: [
    {
      name: "text reaches the terminal as it is",
      changes: [
        {
          file: "cli/program.ts",
          from: "const written = printableIo(streams, wantsDebug(given));",
          to: "const written = streams;",
        },
      ],
    },
    {
      name: "a colour of the session's is taken for one of the program's",
      changes: [
        {
          file: "cli/terminal.ts",
          from: String.raw`new RegExp(String.raw${"`"}\u001b\[${"${mark}"}([\d;]*[A-Za-z])${"`"}, "g")`,
          to: String.raw`/\u001b\[(?:\d{4};\d{4};\d{4};)?([\d;]*[A-Za-z])/g`,
        },
      ],
    },
    {
      name: "a message forges the head of another",
      changes: [{ file: "cli/commands/view-whole.ts", from: '.replaceAll(/^(?=.)/gm, "  ")', to: "" }],
    },
  ],
  async run(product, report) {
    const place = await fill(product);
    const help = await windrow(product, ["--help"]);
    const names = [...help.stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = ""]) => name);
    const missing = names.filter((name) => name !== "help" && !(name in commands));
    if (missing.length > 0) report.failed(`No arguments are known for the commands ${missing.join(", ")}.`);
    for (const [name, argvs] of Object.entries(commands)) {
      if (!names.includes(name)) report.failed(`There is no command ${name} any more.`);
      const json = jsonCommands.includes(name) ? [[], ["--json"]] : [[]];
      const given = argvs(place).flatMap((argv) => json.map((more) => [name, ...argv, ...more]));
      const colour = ["replay", "view", "stats"].includes(name);
      const outputs = await Promise.all(given.map((argv) => outputOf(product, argv, colour)));
      for (const output of outputs) check(output, report);
      report.count("commands over a hostile session");
    }
  },
});
