/** Every command as it is typed: the table for what all commands must keep to, and a store to run them on. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import type { OpenStoreOptions } from "windrow/store";

/** What commands are run on. */
export interface Place {
  readonly store: string;
  /** A folder for what they write. */
  readonly beside: string;
  /** A transcript. */
  readonly file: string;
  readonly config: string;
  /** A session that is open, and one that has ended. */
  readonly open: string;
  readonly finished: string;
  /** What stands wherever somebody chooses a word. */
  readonly word: string;
}

/** A command line on a place, without the command's name. */
type Typed = (place: Place) => readonly string[];

/** Command lines that do something, in an order in which each still has its session. */
export const commands: Readonly<Record<string, readonly Typed[]>> = {
  usage: [({ store }) => ["--agent", "windrow", "--no-cache", "--store", store]],
  advise: [({ file }) => [file]],
  replay: [({ file, beside }) => [file, "--keep", `${beside}/kept`], ({ file }) => [file]],
  compose: [({ store }) => ["latest", "--store", store, "--explain"], ({ file }) => [file]],
  view: [
    ({ store, open }) => [open, "--store", store],
    ({ store, open }) => [open, "--messages", "--summaries", "--tools", "--epochs", "--store", store],
    ({ store, open }) => [open, "--window", "--store", store],
    ({ store, finished }) => [finished, "--window", "--tools", "--store", store],
    ({ store, open }) => [open, "--layout", "coding-agent", "--store", store],
    ({ store, open }) => [open, "--message", "m1-m3", "--store", store],
    ({ file }) => [file],
  ],
  stats: [
    ({ store }) => ["--store", store],
    ({ store, word }) => ["--user", word, "--store", store],
    ({ store }) => ["--layout", "coding-agent", "--store", store],
  ],
  logs: [({ store }) => ["--store", store, "--level", "DEBUG"], ({ store, open }) => [open, "--store", store]],
  top: [({ store }) => ["--once", "--store", store]],
  search: [({ store }) => ["FORGED", "--store", store], ({ store, word }) => [word, "--store", store]],
  memory: [
    ({ store }) => ["--store", store],
    ({ store, word }) => ["list", "--history", "--store", store, "--user", word],
  ],
  similar: [
    ({ store }) => ["FORGED", "--store", store],
    ({ store, open }) => ["--session", open, "--store", store],
    ({ store, word }) => [word, "--store", store],
  ],
  recall: [
    ({ store, open }) => [open, "m1-m99", "--store", store],
    ({ store, open }) => [open, "FORGED", "--store", store],
    ({ store, finished, word }) => [finished, "zzz", word, "--store", store],
  ],
  scan: [({ store }) => ["--store", store]],
  doctor: [({ store }) => ["--store", store], ({ store }) => ["--mend", "--store", store]],
  monitor: [({ store }) => ["--once", "--timeout", "0", "--store", store]],
  audit: [({ store }) => ["--store", store]],
  config: [({ config }) => ["--config", config]],
  export: [
    ({ store, open }) => [open, "--store", store],
    ({ store, open }) => [open, "--format", "openai", "--store", store],
    ({ store, open, beside }) => [open, "--output", join(beside, "a\u202e\u001b[2J.jsonl"), "--store", store],
  ],
  import: [({ file, beside }) => [file, "--finished", "--store", `${beside}/imported`]],
  copy: [({ store, beside }) => ["--from", store, "--to", `${beside}/copied`]],
  backup: [({ store, beside }) => [`${beside}/backup`, "--running", "--store", store]],
  restore: [({ beside }) => ["--all", "--from", `${beside}/backup`, "--to", `${beside}/restored`]],
  unlock: [({ store, open, word }) => [open, "--force", "--reason", word, "--store", store]],
  keep: [({ store, open, word }) => [open, "--reason", word, "--store", store]],
  unkeep: [({ store, open }) => [open, "--store", store]],
  compact: [({ store, open }) => [open, "--store", store]],
  finish: [
    ({ store, finished }) => [finished, "--store", store],
    ({ store, open, word }) => [open, "--error", word, "--store", store],
  ],
  archive: [({ store, finished }) => [finished, "--store", store]],
  erase: [
    ({ store, open }) => [open, "--store", store],
    ({ store, open, beside }) => [open, "--yes", "--receipt", `${beside}/receipt.json`, "--store", store],
  ],
  cleanup: [
    ({ store }) => ["--dry-run", "--store", store],
    ({ store }) => ["--compress-all", "--older-than", "0", "--yes", "--store", store],
  ],
};

/** Command lines in which the word stands where it makes no sense, or that write no store's files. */
export const refusals: Readonly<Record<string, readonly Typed[]>> = {
  usage: [({ word }) => ["--since", word], ({ word }) => ["--agent", word]],
  init: [
    ({ beside }) => [beside, "--dry-run"],
    ({ beside, word }) => [join(beside, `init${word}`)],
    ({ beside, word }) => [join(beside, `init${word}`), "--dry-run", "--force"],
    ({ word }) => ["--host", word],
  ],
  advise: [({ word }) => [word], ({ word }) => ["--project", word]],
  replay: [({ word }) => [word]],
  compose: [({ word }) => [word]],
  view: [
    ({ store, word }) => [word, "--store", store],
    ({ word }) => ["latest", "--store", word],
    ({ word }) => ["latest", "--message", word],
    ({ word }) => ["latest", "--last", word],
  ],
  memory: [
    ({ store, word }) => ["show", word, "--store", store],
    ({ store, word }) => ["forget", word, "--store", store],
  ],
  recall: [({ word }) => ["latest", "m1", "--max-tokens", word]],
  doctor: [({ word }) => ["--store", word]],
  monitor: [({ word }) => ["--once", "--stuck", word]],
  audit: [({ word }) => ["--action", word]],
  config: [({ word }) => ["--config", word]],
  mcp: [({ word }) => ["--http", word]],
  serve: [({ word }) => ["--port", word], ({ store, word }) => [word, "--no-open", "--store", store]],
  gateway: [
    ({ word }) => ["--port", word],
    ({ word }) => ["--budget", word],
    ({ word }) => ["--upstream", word],
    ({ store, word }) => ["--upstream", `a=${word}`, "--store", store],
    ({ store }) => ["--host", "0.0.0.0", "--store", store],
    ({ store, word }) => ["--token", word, "--store", store],
  ],
  completion: [({ word }) => [word]],
  import: [({ word }) => [word]],
  backup: [({ word }) => ["x", "--keep", word]],
  compact: [({ store, word }) => ["latest", "--model", word, "--store", store]],
  finish: [({ word }) => ["latest", "--status", word], ({ word }) => [word]],
  archive: [({ word }) => [word]],
  cleanup: [({ word }) => ["--older-than", word]],
  erase: [({ store, word }) => [word, "--store", store]],
};

/** Fills a store with two sessions, and its folder with a transcript and a configuration; the word stands in all of it. */
export async function filledPlace(
  beside: string,
  word: string,
  {
    store = join(beside, "store"),
    name = "chat.jsonl",
    ...options
  }: OpenStoreOptions & { store?: string; name?: string } = {},
): Promise<Place> {
  const user = word.replaceAll("\0", "").toWellFormed();
  const opened = await openStore(store, { access: { who: user, audit: true }, ...options });
  const manager = await SessionManager.open({ store: opened, user, budget: 3_000 });
  const ids: string[] = [];
  for (const isFinished of [false, true]) {
    const session = await manager.create({ taskKey: { repo: word, [word]: word } });
    await session.append(word);
    for (let step = 0; step < 12; step += 1) {
      const call = { callId: `c${step}${word}`, name: word, args: { path: word, [word]: 1 } };
      const thought = { type: "reasoning", text: word } as const;
      await session.append({ role: "assistant", parts: [thought, { type: "tool-call", ...call }] });
      const run = await session.startTool(call);
      // One result is large enough for a file of its own.
      await run.finish(word.repeat(step === 0 ? Math.ceil(120_000 / word.length) : 20), { isError: step % 2 === 1 });
      await session.compose();
      await session.endStep({ usage: { input: 900, output: 100 } });
    }
    await session.startTool({ callId: `open${word}`, name: word, args: { path: word } });
    await session.pin(word);
    await session.goal.set(word);
    await session.compose();
    ids.push(session.id);
    if (isFinished) await manager.fork(session.id);
    await (isFinished ? session.finish("failed", word) : session.close());
  }
  await manager.close();
  const messages = [
    { role: "user", content: word },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: word, type: "function", function: { name: word, arguments: JSON.stringify({ path: word }) } }],
    },
    { role: "tool", tool_call_id: word, content: word },
    { role: "assistant", content: word, model: word },
  ];
  const file = join(beside, name);
  await writeFile(file, messages.map((message) => JSON.stringify(message)).join("\n"), { mode: 0o600 });
  const config = join(beside, "windrow.config.json");
  await writeFile(config, JSON.stringify({ user: word, model: word, strategy: "adaptive" }), { mode: 0o600 });
  const [open = "", finished = ""] = ids;
  return { store, beside, file, config, open, finished, word };
}
