/** Two sessions of opencode, and the places where it keeps them, made of what `opencode export` prints. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JsonObject } from "../kit/inside/message.ts";
import { openDatabase } from "../kit/sqlite-stores.ts";

const opencodeAnswer = (id: string, ms: number, tokens: object, more: object = {}): object => ({
  ...{ id, sessionID: "ses_b", role: "assistant", parentID: "msg_1", modelID: "claude-x", providerID: "anthropic" },
  ...{ mode: "build", path: { cwd: "/work", root: "/" }, cost: 0.01, tokens },
  time: { created: ms, completed: ms + 500 },
  ...more,
});
const opencodeTool = (callID: string, state: object): object => ({ type: "tool", callID, tool: "bash", state });
const tokens = (input: number): object => ({ input, output: 4, reasoning: 6, cache: { read: 100, write: 50 } });

/**
 * opencode: a synthetic text, a file by its path and an image, an answer of two steps with a call that failed and one with
 * an attachment, a compaction, an answer that was aborted over two open calls, a message that was reverted; a sub-agent.
 */
export const opencode = [
  {
    info: {
      ...{ id: "ses_b", directory: "/work", title: "Tests", version: "1.2.0" },
      revert: { messageID: "msg_6" },
    },
    messages: [
      {
        info: {
          ...{ id: "msg_1", sessionID: "ses_b", role: "user", time: { created: 1_772_359_201_000 } },
          summary: { diffs: [{ file: "a.txt", before: "", after: "a" }] },
        },
        parts: [
          { type: "text", text: "Mend a.txt" },
          { type: "text", text: "Called the Read tool", synthetic: true },
          { type: "text", text: "never sent", ignored: true },
          { type: "file", mime: "text/plain", filename: "a.txt", url: "file:///work/a.txt" },
          { type: "file", mime: "image/png", url: "data:image/png;base64,QUJD" },
        ],
      },
      {
        info: opencodeAnswer("msg_2", 1_772_359_202_000, tokens(9)),
        parts: [
          { type: "step-start", snapshot: "abc" },
          { type: "reasoning", text: "Look.", metadata: { anthropic: { signature: "c2ln+/==" } }, time: { start: 1 } },
          opencodeTool("c1", { status: "error", input: { command: "ls" }, error: "no", time: { start: 1, end: 2 } }),
          { type: "step-finish", reason: "tool-calls", cost: 0, tokens: tokens(7) },
          { type: "step-start" },
          opencodeTool("c2", {
            ...{ status: "completed", input: { command: "cat a.png" }, output: "an image", title: "cat", metadata: {} },
            attachments: [{ type: "file", mime: "image/png", url: "data:image/png;base64,QUJD" }],
            time: { start: 1_772_359_203_000, end: 1_772_359_204_000, compacted: 1_772_359_209_000 },
          }),
          { type: "step-finish", reason: "tool-calls", cost: 0, tokens: tokens(9) },
          { type: "patch", hash: "abc", files: ["a.txt"] },
        ],
      },
      {
        info: { id: "msg_3", sessionID: "ses_b", role: "user", time: { created: 1_772_359_205_000 } },
        parts: [{ type: "compaction", auto: true }],
      },
      {
        info: opencodeAnswer("msg_4", 1_772_359_206_000, tokens(20), { summary: true }),
        parts: [{ type: "text", text: "So far: a.txt was mended." }],
      },
      {
        info: opencodeAnswer("msg_5", 1_772_359_207_000, {}, { error: { name: "MessageAbortedError", data: {} } }),
        parts: [
          { type: "text", text: "Now" },
          opencodeTool("c3", { status: "running", input: { command: "npm test" }, time: { start: 1 } }),
          opencodeTool("c4", { status: "pending", input: {}, raw: '{"comm' }),
        ],
      },
      {
        info: { id: "msg_6", sessionID: "ses_b", role: "user", time: { created: 1_772_359_208_000 } },
        parts: [{ type: "text", text: "This was taken back" }],
      },
    ],
  },
  {
    info: { id: "ses_a", parentID: "ses_b", directory: "/work", title: "Sub-agent", version: "1.2.0" },
    messages: [
      {
        info: { id: "msg_7", sessionID: "ses_a", role: "user", time: { created: 1_772_359_202_500 } },
        parts: [{ type: "text", text: "Find a.txt" }],
      },
    ],
  },
].map((session) => JSON.stringify(session));

interface Exported {
  readonly info: JsonObject & { readonly id: string };
  readonly messages: readonly {
    readonly info: JsonObject & { readonly id: string };
    readonly parts: readonly object[];
  }[];
}

const parsed = (lines: readonly string[]): readonly Exported[] => lines.map((line) => JSON.parse(line) as Exported);

/** The place of a part in its message, in a text that sorts as its number. */
const partId = (message: string, index: number): string => `prt_${message}_${index}`;

async function put(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof value === "string" ? value : JSON.stringify(value));
}

/** The folder `storage` of versions before 1.2. Returns its path. */
export async function openCodeFolder(data: string, lines: readonly string[]): Promise<string> {
  const root = join(data, "storage");
  for (const { info, messages } of parsed(lines)) {
    await put(join(root, "session", "project", `${info.id}.json`), info);
    for (const { info: message, parts } of messages) {
      await put(join(root, "message", info.id, `${message.id}.json`), message);
      for (const [index, part] of parts.entries())
        await put(join(root, "part", message.id, `${partId(message.id, index)}.json`), part);
    }
  }
  return root;
}

/** The database of later versions. Returns its path. */
export async function openCodeDatabase(data: string, lines: readonly string[]): Promise<string> {
  await mkdir(data, { recursive: true });
  const path = join(data, "opencode.db");
  const database = openDatabase(path);
  database.exec(
    "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT," +
      " revert TEXT, time_created INTEGER);" +
      "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);" +
      "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)",
  );
  const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));
  const bare = ({ id: _id, sessionID: _sessionID, ...rest }: JsonObject): string => JSON.stringify(rest);
  for (const [place, { info, messages }] of parsed(lines).entries()) {
    const { id, parentID = "", directory = "", title = "", version = "", revert } = info;
    database
      .prepare("INSERT INTO session VALUES (?, 'project', nullif(?, ''), ?, ?, ?, ?, ?)")
      .run(id, text(parentID), text(directory), text(title), text(version), text(revert), place);
    for (const [at, { info: message, parts }] of messages.entries()) {
      database.prepare("INSERT INTO message VALUES (?, ?, ?, ?)").run(message.id, id, at, bare(message));
      for (const [index, part] of parts.entries()) {
        const values = [partId(message.id, index), message.id, id, JSON.stringify(part)];
        database.prepare("INSERT INTO part VALUES (?, ?, ?, ?)").run(...values);
      }
    }
  }
  database.close();
  return path;
}
