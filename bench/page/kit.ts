/** Stores for the bench of the page, and the programs that serve them. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { SessionManager } from "../../src/index.ts";
import type { NewMessage } from "../../src/message/message.ts";

/** A session that was filled. */
export interface Filled {
  readonly id: string;
  /** The messages that were acknowledged, at least. */
  readonly messages: number;
}

/** A session of so many messages, each result of so many characters, with 250 windows. Its writer is killed. */
export async function fillStore(store: string, messages: number, characters: number): Promise<Filled> {
  const program = fileURLToPath(new URL("child/fill.js", import.meta.url));
  const child = spawn(process.execPath, [program, store, `${messages}`, `${characters}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const [line = ""] = said.trim().split("\n").slice(-1);
    if (/"messages":(\d+)/.exec(line)?.[1] === `${messages}`) child.kill("SIGKILL");
    process.stderr.write(`\r${messages} messages: ${line.slice(0, 80)}`);
  });
  await exited;
  process.stderr.write("\n");
  const last = said.trim().split("\n").at(-1) ?? "";
  return JSON.parse(last) as Filled;
}

/** The messages of the sessions: a task, then calls and their results. */
export function messageAt(at: number, characters: number): NewMessage {
  if (at % 40 === 0) return { role: "user", parts: [{ type: "text", text: `Mend module ${at}.` }] };
  const callId = `c${at - ((at + 1) % 2)}`;
  if (at % 2 === 1) {
    const args = { path: `src/m${at % 977}/f.ts` };
    return { role: "assistant", parts: [{ type: "tool-call", callId, name: "read", args }] };
  }
  const line = `export const value${at} = parse("module ${at % 97}", ${at});\n`;
  const content = line.repeat(Math.ceil(characters / line.length));
  return { role: "tool", parts: [{ type: "tool-result", callId: `c${at - 1}`, name: "read", content }] };
}

/** Links of one file. */
const mostLinks = 30_000;

/** A store of so many finished sessions: one that was made, its files linked under other ids. */
export async function fleetStore(store: string, count: number): Promise<void> {
  const manager = await SessionManager.open({ store, budget: 64_000 });
  const session = await manager.create({ taskKey: { task: "mend module 7" } });
  await session.append({ role: "user", parts: [{ type: "text", text: "Mend module 7." }] });
  const { tokens } = await session.compose();
  await session.append({ role: "assistant", parts: [{ type: "text", text: "Done." }] });
  await session.endStep({ usage: { input: tokens, output: 20 }, model: "claude-sonnet-4-5" });
  await session.finish("completed");
  await manager.close();
  const made = join(store, "completed", session.id);
  const [metadata, state] = ["metadata.json", "state.json"].map((name) => readFileSync(join(made, name), "utf8"));
  const logs = readdirSync(made).filter((name) => name.endsWith(".jsonl"));
  const begun = Date.parse("2026-01-01T00:00:00.000Z");
  const times = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
  let lines = "";
  let linked = made;
  for (let number = 1; number < count; number += 1) {
    const uuid = randomUUID();
    const time = new Date(begun + 60_000 * number).toISOString();
    const folder = join(store, "completed", uuid);
    mkdirSync(folder, { mode: 0o700 });
    const own = (metadata ?? "")
      .replace(session.id, uuid)
      .replaceAll(times, time)
      .replace("module 7", `module ${number}`);
    writeFileSync(join(folder, "metadata.json"), own, { mode: 0o600 });
    writeFileSync(join(folder, "state.json"), (state ?? "").replaceAll(times, time), { mode: 0o600 });
    // A file system takes some ten thousand links of one file.
    const isCopy = number % mostLinks === 0;
    for (const log of logs) (isCopy ? copyFileSync : linkSync)(join(linked, log), join(folder, log));
    if (isCopy) linked = folder;
    lines += `${JSON.stringify({ uuid, created_at: time })}\n${JSON.stringify({ uuid, status: "completed" })}\n`;
  }
  appendFileSync(join(store, "index.jsonl"), lines);
}

/** The same messages as Claude Code keeps them, for programs that read its files. */
export function claudeFolder(folder: string, messages: number, characters: number): string {
  const id = randomUUID();
  const project = join(folder, "projects/-work-bench");
  mkdirSync(project, { recursive: true });
  let before: string | null = null;
  const lines: string[] = [];
  for (let at = 0; at < messages; at += 1) {
    const { role, parts } = messageAt(at, characters);
    const [part] = parts;
    const uuid = randomUUID();
    const content =
      part?.type === "tool-call"
        ? [{ type: "tool_use", id: `c${at}`, name: "read", input: part.args }]
        : part?.type === "tool-result"
          ? [{ type: "tool_result", tool_use_id: `c${at - 1}`, content: part.content }]
          : part?.type === "text"
            ? part.text
            : "";
    const type = role === "assistant" ? "assistant" : "user";
    const about = { sessionId: id, cwd: "/work/bench", version: "2.0.0", isSidechain: false, userType: "external" };
    const timestamp = new Date(Date.parse("2026-01-01T00:00:00Z") + 1_000 * at).toISOString();
    lines.push(
      JSON.stringify({ parentUuid: before, uuid, type, ...about, timestamp, message: { role: type, content } }),
    );
    before = uuid;
  }
  writeFileSync(join(project, `${id}.jsonl`), `${lines.join("\n")}\n`);
  const history = { display: "Mend module 0.", timestamp: Date.now(), project: "/work/bench", sessionId: id };
  writeFileSync(join(folder, "history.jsonl"), `${JSON.stringify(history)}\n`);
  return id;
}

/** The memory of a program after a collection, in MB. */
export interface Memory {
  /** The heap in use, with what buffers hold outside of it. */
  readonly heap: number;
  readonly resident: number;
}

/** A program that serves. */
export interface Serving {
  readonly url: string;
  readonly memory: () => Promise<Memory>;
  readonly end: () => Promise<void>;
}

/** Runs in a program before its own code: it tells its memory when it is asked by a signal. */
const teller = `data:text/javascript,${encodeURIComponent(
  "process.on('SIGUSR2', () => { gc(); gc(); const { heapUsed, external, rss } = process.memoryUsage();" +
    "process.stderr.write(`memory ${heapUsed + external} ${rss}\\n`); });",
)}`;

/** Starts a program and waits until it printed an address. */
export async function serving(argv: readonly string[], address: RegExp): Promise<Serving> {
  const flags = ["--expose-gc", "--import", teller, ...argv];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const until = async (words: RegExp, stream: Readable): Promise<RegExpExecArray> => {
    for (;;) {
      const found = words.exec(said);
      if (found) return found;
      if (child.exitCode !== null) throw new Error(`${argv.join(" ")} ended: ${said}`);
      await Promise.race([once(stream, "data"), once(child, "exit")]);
    }
  };
  return {
    url: (await until(address, child.stdout))[1] ?? "",
    async memory() {
      said = "";
      child.kill("SIGUSR2");
      const [, heap, resident] = await until(/memory (\d+) (\d+)/, child.stderr);
      return { heap: Math.round(Number(heap) / 1_048_576), resident: Math.round(Number(resident) / 1_048_576) };
    },
    async end() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}
