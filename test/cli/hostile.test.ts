/** No byte that a terminal obeys, or that makes a text read as another, leaves any command, whatever a session holds. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { run } from "../kit/inside/cli.ts";
import { newFolder, windrow } from "./stage.ts";

/** Title, clear screen, clipboard, concealed text, line ends of every kind, C1, bidi, tags, half a character. */
const hostile =
  "\u001b]0;PWNED\u0007\u001b[2J\u001b]52;c;aGk=\u0007\u001b[8m\r\nFORGED line\rFORGED\u2028FORGED\u2029\u0085" +
  "\u0000\u007f\u009b31m\u202e\u2066\u061c\u200e\u200b\u{e0041}\ud800 end";

/** The program's own: colours, and the screen cleared by `top`. */
const own = /\u001b\[(?:0|1|2|22|39|3[1-6])m|^\u001b\[H\u001b\[J/g;

const obeyed =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]|\p{Cs}/u;

/** What commands are run on. */
interface Place {
  readonly store: string;
  readonly beside: string;
  readonly file: string;
  readonly config: string;
  readonly session: string;
  readonly finished: string;
}

/** Every command, in an order in which each still has its session. */
const commands: Readonly<Record<string, readonly ((place: Place) => readonly string[])[]>> = {
  usage: [
    ({ store }) => ["--agent", "windrow", "--no-cache", "--store", store],
    () => ["--since", hostile],
    () => ["--agent", hostile],
  ],
  init: [
    ({ beside }) => [beside, "--dry-run"],
    ({ beside }) => [join(beside, `init${hostile}`)],
    ({ beside }) => [join(beside, `init${hostile}`), "--dry-run", "--force"],
    () => ["--host", hostile],
  ],
  replay: [({ file }) => [file], ({ file, beside }) => [file, "--keep", `${beside}/kept`], () => [hostile]],
  compose: [({ store }) => ["latest", "--store", store, "--explain"], ({ file }) => [file], () => [hostile]],
  view: [
    ({ store, session }) => [session, "--store", store],
    ({ store, session }) => [session, "--messages", "--summaries", "--tools", "--epochs", "--store", store],
    ({ store, session }) => [session, "--window", "--store", store],
    ({ store, finished }) => [finished, "--window", "--tools", "--store", store],
    ({ store, session }) => [session, "--layout", "coding-agent", "--store", store],
    ({ store, session }) => [session, "--message", "m1-m3", "--store", store],
    ({ store }) => [hostile, "--store", store],
    () => ["latest", "--store", hostile],
    () => ["latest", "--message", hostile],
    () => ["latest", "--last", hostile],
  ],
  stats: [
    ({ store }) => ["--store", store],
    ({ store }) => ["--store", store, "--user", hostile],
    ({ store }) => ["--store", store, "--layout", "coding-agent"],
  ],
  logs: [({ store }) => ["--store", store, "--level", "DEBUG"], ({ store, session }) => [session, "--store", store]],
  top: [({ store }) => ["--once", "--store", store]],
  search: [({ store }) => ["FORGED", "--store", store], ({ store }) => [hostile, "--store", store]],
  memory: [
    ({ store }) => ["--store", store],
    ({ store }) => ["list", "--history", "--store", store, "--user", hostile],
    ({ store }) => ["show", hostile, "--store", store],
    ({ store }) => ["forget", hostile, "--store", store],
  ],
  similar: [
    ({ store }) => ["FORGED", "--store", store],
    ({ store, session }) => ["--session", session, "--store", store],
    ({ store }) => [hostile, "--store", store],
  ],
  recall: [
    ({ store, session }) => [session, "m1-m99", "--store", store],
    ({ store, session }) => [session, "FORGED", "--store", store],
    ({ store, finished }) => [finished, "zzz", hostile, "--store", store],
    () => ["latest", "m1", "--max-tokens", hostile],
  ],
  scan: [({ store }) => ["--store", store]],
  doctor: [({ store }) => ["--store", store], ({ store }) => ["--mend", "--store", store], () => ["--store", hostile]],
  monitor: [({ store }) => ["--once", "--store", store], () => ["--once", "--webhook", hostile]],
  audit: [({ store }) => ["--store", store], () => ["--action", hostile]],
  config: [({ config }) => ["--config", config], () => ["--config", hostile]],
  mcp: [() => ["--http", hostile]],
  serve: [() => ["--port", hostile], ({ store }) => [hostile, "--no-open", "--store", store]],
  gateway: [
    () => ["--port", hostile],
    () => ["--budget", hostile],
    () => ["--upstream", hostile],
    ({ store }) => ["--upstream", `a=${hostile}`, "--store", store],
    ({ store }) => ["--host", "0.0.0.0", "--store", store],
    ({ store }) => ["--token", hostile, "--store", store],
  ],
  completion: [() => [hostile]],
  bench: [() => [hostile], () => ["loop", "--policy", hostile], () => ["loop", "--family", hostile]],
  export: [
    ({ store, session }) => [session, "--store", store],
    ({ store, session }) => [session, "--format", "openai", "--store", store],
    ({ store, session, beside }) => [session, "--output", join(beside, "a\u202e\u001b[2J.jsonl"), "--store", store],
  ],
  import: [({ file, beside }) => [file, "--store", `${beside}/imported`], () => [hostile]],
  copy: [({ store, beside }) => ["--from", store, "--to", `${beside}/copied`]],
  backup: [({ store, beside }) => [`${beside}/backup`, "--running", "--store", store], () => ["x", "--keep", hostile]],
  restore: [({ beside }) => ["--all", "--from", `${beside}/backup`, "--to", `${beside}/restored`]],
  unlock: [({ store, session }) => [session, "--force", "--reason", hostile, "--store", store]],
  keep: [({ store, session }) => [session, "--reason", hostile, "--store", store]],
  unkeep: [({ store, session }) => [session, "--store", store]],
  compact: [
    ({ store, session }) => [session, "--store", store],
    ({ store }) => ["latest", "--model", hostile, "--store", store],
  ],
  finish: [
    ({ store, finished }) => [finished, "--store", store],
    ({ store, session }) => [session, "--error", hostile, "--store", store],
    () => ["latest", "--status", hostile],
    () => [hostile],
  ],
  store: [
    ({ store }) => ["migrate", "--store", store],
    () => [hostile],
    () => ["migrate", "--store", `postgres:${hostile}`],
  ],
  archive: [({ store, finished }) => [finished, "--store", store], () => [hostile]],
  cleanup: [({ store }) => ["--store", store, "--dry-run"], () => ["--older-than", hostile]],
  erase: [
    ({ store, session }) => [session, "--store", store],
    ({ store, session }) => [session, "--yes", "--store", store],
    ({ store }) => [hostile, "--store", store],
  ],
};

async function fill(): Promise<Place> {
  const folder = await newFolder();
  const store = join(folder, "store");
  const user = hostile.replaceAll("\0", "").toWellFormed();
  const manager = await SessionManager.open({ store, user, budget: 3_000, audit: true });
  const ids: string[] = [];
  for (const finish of [false, true]) {
    const session = await manager.create({ taskKey: { repo: hostile, [hostile]: hostile } });
    await session.append({ role: "user", parts: [{ type: "text", text: hostile }] });
    for (let step = 0; step < 12; step += 1) {
      const call = { callId: `c${step}${hostile}`, name: hostile, args: { path: hostile, [hostile]: 1 } };
      const thought = { type: "reasoning", text: hostile } as const;
      await session.append({ role: "assistant", parts: [thought, { type: "tool-call", ...call }] });
      const run = await session.startTool(call);
      await run.finish(hostile.repeat(20), { isError: step % 2 === 1 });
      await session.compose();
    }
    await session.startTool({ callId: `open${hostile}`, name: hostile, args: { path: hostile } });
    await session.pin(hostile);
    await session.goal.set(hostile);
    await session.compose();
    ids.push(session.id);
    await (finish ? session.finish("failed", hostile) : session.close());
  }
  await manager.close();
  const messages = [
    { role: "user", content: hostile },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: hostile, type: "function", function: { name: hostile, arguments: JSON.stringify({ path: hostile }) } },
      ],
    },
    { role: "tool", tool_call_id: hostile, content: hostile },
    { role: "assistant", content: hostile, model: hostile },
  ];
  const file = join(folder, "a\u001b]0;PWNED\u0007\u202e\nFORGED.jsonl");
  await writeFile(
    file,
    `${messages.map((message) => JSON.stringify(message)).join("\n")}\n{"torn": "\u001b[2J\u202e\n`,
  );
  const config = join(folder, "windrow.config.json");
  await writeFile(config, JSON.stringify({ user: hostile, model: hostile, strategy: "adaptive" }));
  const [session = "", finished = ""] = ids;
  // What a crash or another program left: a value that is none where a time belongs, and a line that is none.
  const metadata = join(store, "completed", finished, "metadata.json");
  const text = await readFile(metadata, "utf8");
  await writeFile(metadata, text.replaceAll(/"created_at": ?"[^"]*"/g, `"created_at": ${JSON.stringify(hostile)}`));
  const log = join(store, "running", session, "messages.jsonl");
  await writeFile(log, `${await readFile(log, "utf8")}\u001b]0;PWNED\u0007\u202e\n`);
  return { store, beside: folder, file, config, session, finished };
}

let place: Place;
let names: readonly string[];
let withJson: ReadonlySet<string>;
beforeAll(async () => {
  names = [...(await windrow(["--help"])).stdout.matchAll(/^ {2}([a-z]+) /gm)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "help");
  const helps = await Promise.all(names.map(async (name) => (await windrow([name, "--help"])).stdout));
  withJson = new Set(names.filter((_, index) => helps[index]?.includes("--json")));
  place = await fill();
}, 120_000);

describe("a hostile session", () => {
  it("is shown by every command there is", () => {
    expect(Object.keys(commands).sort()).toEqual([...names].sort());
  });

  it.each(Object.keys(commands))(
    "is harmless in what %s writes",
    async (name) => {
      for (const argvOf of commands[name] ?? []) {
        const argv = [name, ...argvOf(place)];
        for (const full of [argv, ...(withJson.has(name) ? [[...argv, "--json"]] : [])]) {
          for (const isTTY of [false, true]) {
            const { stdout, stderr } = await windrow(
              full,
              { TERM: "xterm", ...(isTTY && { FORCE_COLOR: "1" }) },
              isTTY,
            );
            // What is exported into a pipe or a file is the session itself, for programs.
            const exported = name === "export" && !isTTY;
            for (const text of exported ? [stderr] : [stdout, stderr]) {
              const found = obeyed.exec(text.replaceAll(own, ""));
              const where = found ? JSON.stringify(text.slice(Math.max(0, found.index - 120), found.index + 40)) : "";
              expect(where, `${full.join(" ")} ${isTTY ? "on a terminal" : "into a pipe"}`).toBe("");
              expect(/^FORGED.*/m.exec(text.replaceAll(own, ""))?.[0], full.join(" ")).toBeUndefined();
            }
          }
        }
      }
    },
    120_000,
  );

  it("keeps its values in JSON", async () => {
    const folder = await newFolder();
    const manager = await SessionManager.open({ store: folder });
    const session = await manager.create();
    const text = "a\u2028b\u009b2J\u202ec\u{e0041}\u007f\ufeff";
    await session.append({ role: "user", parts: [{ type: "text", text }] });
    await manager.close();
    const { stdout } = await windrow(["view", "latest", "--json", "--messages", "--store", folder]);
    expect(JSON.parse(stdout)).toMatchObject({ messages: { shown: [{ text }] } });
    const exported = await windrow(["export", "latest", "--store", folder]);
    const [file, other] = [join(folder, "exported.jsonl"), join(folder, "other")];
    await writeFile(file, exported.stdout);
    expect(await windrow(["import", file, "--store", other])).toMatchObject({ status: 0 });
    const back = await windrow(["view", "latest", "--json", "--messages", "--store", other]);
    expect(JSON.parse(back.stdout)).toMatchObject({ messages: { shown: [{ text }] } });
  });

  it("is harmless in the lines of a monitor that goes on", async () => {
    const folder = await newFolder();
    const manager = await SessionManager.open({ store: folder });
    const session = await manager.create({ taskKey: { repo: hostile } });
    await session.finish("failed", hostile);
    await manager.close();
    const stop = new AbortController();
    let written = "";
    const stream = { write: (text: string) => ((written += text), stop.abort()) };
    const argv = ["monitor", "--store", folder, "--failures", "0"];
    await run(argv, { stdout: stream, stderr: stream, env: {} }, stop.signal);
    expect(written).toContain("failed");
    expect(obeyed.exec(written)).toBeNull();
  });
});
