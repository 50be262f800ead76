/** Whatever the umask, what Windrow writes is its owner's alone: every file 0600, every folder 0700, in every store. */
import { statSync } from "node:fs";
import { appendFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import { driver } from "../kit/sqlite-stores.ts";
import { chatLines, newFolder, put, windrow } from "./stage.ts";

/** What the commands are run on: a store, a transcript, a folder beside the store, and two sessions in the store. */
interface Place {
  readonly store: string;
  readonly file: string;
  readonly beside: string;
  readonly open: string;
  readonly finished: string;
}

/** Every command that touches a store, as it is run on one, in this order. */
const commands: Readonly<Record<string, (place: Place) => readonly string[]>> = {
  usage: ({ store }) => ["usage", "--agent", "windrow", "--no-cache", "--store", store],
  replay: ({ store, file }) => ["replay", file, "--keep", `${store}-kept`],
  compose: ({ store }) => ["compose", "latest", "--store", store, "--budget", "200000"],
  view: ({ store }) => ["view", "latest", "--store", store],
  stats: ({ store }) => ["stats", "--store", store],
  logs: ({ store }) => ["logs", "latest", "--store", store],
  top: ({ store }) => ["top", "--once", "--store", store],
  search: ({ store }) => ["search", "hello", "--store", store],
  memory: ({ store }) => ["memory", "--store", store],
  similar: ({ store }) => ["similar", "hello", "--store", store],
  recall: ({ store }) => ["recall", "latest", "hello", "--store", store],
  scan: ({ store }) => ["scan", "--store", store],
  compact: ({ store }) => ["compact", "latest", "--store", store],
  copy: ({ store }) => ["copy", "--from", store, "--to", `${store}-copied`],
  unlock: ({ store }) => ["unlock", "latest", "--store", store],
  doctor: ({ store }) => ["doctor", "--mend", "--store", store],
  monitor: ({ store }) => ["monitor", "--once", "--store", store, "--timeout", "0"],
  audit: ({ store }) => ["audit", "--store", store],
  backup: ({ store, beside }) => ["backup", `${beside}-backup`, "--running", "--store", store],
  restore: ({ store, beside }) => ["restore", "--all", "--from", `${beside}-backup`, "--to", `${store}-restored`],
  export: ({ store, beside }) => ["export", "latest", "--output", `${beside}.jsonl`, "--store", store],
  import: ({ store, file }) => ["import", file, "--finished", "--store", store],
  keep: ({ store, open }) => ["keep", open, "--reason", "audit", "--store", store],
  unkeep: ({ store, open }) => ["unkeep", open, "--store", store],
  finish: ({ store, open }) => ["finish", open, "--error", "given up", "--store", store],
  archive: ({ store, finished }) => ["archive", finished, "--store", store],
  cleanup: ({ store }) => ["cleanup", "--compress-all", "--older-than", "0", "--yes", "--store", store],
  erase: ({ store, beside, open }) => ["erase", open, "--yes", "--receipt", `${beside}.json`, "--store", store],
};

/** Serves until its input ends, and reads a store as the others do. */
const servers: readonly string[] = ["mcp", "serve", "gateway"];

/** Works on a store in Postgres alone, which has no files. */
const databases: readonly string[] = ["store"];

/** The names of the commands there are. */
async function commandNames(): Promise<readonly string[]> {
  const { stdout } = await windrow(["--help"]);
  return [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = ""]) => name).filter((name) => name !== "help");
}

/** Sessions with everything a store has files for: a large value, a tool run, a window, pins, a fork, an end. */
async function fill(
  target: string,
  folderPerUser: boolean,
): Promise<{ readonly open: string; readonly finished: string }> {
  const store = await openStore(target, { folderPerUser, access: { who: "alice", audit: true } });
  const manager = await SessionManager.open({ store, user: "alice", budget: 200_000 });
  const session = await manager.create();
  await session.append({ role: "user", parts: [{ type: "text", text: "x ".repeat(60_000) }] });
  const call = { type: "tool-call", callId: "c1", name: "read", args: {} } as const;
  await session.append({ role: "assistant", parts: [call] });
  await (await session.startTool(call)).finish("done");
  await session.pin("never run deploy");
  await session.compose({ system: "s" });
  await session.endStep({ usage: { input: 900, output: 100 } });
  const forked = await manager.fork(session.id);
  await forked.append({ role: "user", parts: [{ type: "text", text: "go on" }] });
  await session.finish("completed");
  const open = await manager.create();
  await open.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
  await manager.close();
  return { open: open.id, finished: session.id };
}

async function wrongModes(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const wrong: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    // A database that was closed may take its side files away only now.
    const mode = statSync(path, { throwIfNoEntry: false })?.mode;
    if (mode === undefined) continue;
    if ((mode & 0o777) !== (entry.isDirectory() ? 0o700 : 0o600)) wrong.push(`${path} ${(mode & 0o777).toString(8)}`);
  }
  expect(entries.length).toBeGreaterThan(1);
  return wrong;
}

const kinds: Readonly<Record<string, { readonly scheme: string; readonly folderPerUser?: boolean }>> = {
  "files": { scheme: "" },
  "files, a folder for each user": { scheme: "", folderPerUser: true },
  ...(driver && { sqlite: { scheme: "sqlite:" } }),
};

describe.skipIf(process.platform === "win32").each(Object.entries(kinds))("umask 000, %s", (_name, kind) => {
  const { scheme, folderPerUser = false } = kind;
  it("is kept from everybody else by every command", { timeout: 60_000 }, async () => {
    const before = process.umask(0o000);
    onTestFinished(() => void process.umask(before));
    const outside = await newFolder();
    const file = await put(outside, "chat.jsonl", chatLines(4));
    const inside = await newFolder();
    const base = join(inside, "store");
    const store = `${scheme}${base}`;
    const env = { WINDROW_AUDIT: "true", WINDROW_FOLDER_PER_USER: String(folderPerUser) };
    const { open, finished } = await fill(store, folderPerUser);
    const place = { store, file, beside: base, open, finished };
    const logs = join(base, folderPerUser ? "users/alice" : "", "running", open, "messages.jsonl");
    const names = await commandNames();
    for (const [name, argv] of Object.entries(commands).filter(([command]) => names.includes(command))) {
      if (name === "archive" && scheme !== "") continue; // a database compresses nothing
      if (name === "doctor" && scheme === "") await appendFile(logs, '{"seq":9,"half of a li');
      const { status, stderr } = await windrow(argv(place), env);
      expect(stderr, name).not.toContain("unforeseen");
      expect(status, `${name}: ${stderr}`).toBeLessThan(2);
    }
    expect(await wrongModes(inside)).toEqual([]);
  });
});

it("knows every command that opens a store", async () => {
  const opening: string[] = [];
  for (const name of await commandNames()) {
    if ([...servers, ...databases].includes(name)) continue;
    const { stdout: help } = await windrow([name, "--help"]);
    if (/--(store|from|keep) </.test(help)) opening.push(name);
  }
  expect(
    opening.filter((name) => !(name in commands)),
    "add it to `commands` above",
  ).toEqual([]);
  expect(opening.length).toBeGreaterThan(5);
});
