/** Three tools that read this repository, in the shape pi's Agent takes: list, read, grep. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";

/** Lines that one call returns at most. */
const mostLines = 120;

/**
 * @param root - the folder the tools may read
 * @param pause - milliseconds every tool takes longer, to have time to watch a run, or to kill it
 */
export function readingTools(root, pause = 0) {
  const inside = (path) => {
    const full = resolve(root, path);
    if (full !== root && !full.startsWith(root + sep)) throw new Error(`${path} is outside of the repository.`);
    return full;
  };
  const tool = (name, description, properties, run) => ({
    name,
    label: name,
    description,
    parameters: { type: "object", properties, required: ["path"] },
    async execute(_callId, args) {
      const lines = await run(args);
      if (pause > 0) await new Promise((done) => setTimeout(done, pause));
      const more = lines.length > mostLines ? [`… ${lines.length - mostLines} more lines`] : [];
      return { content: [{ type: "text", text: [...lines.slice(0, mostLines), ...more].join("\n") }], details: {} };
    },
  });
  const path = { type: "string", description: "Relative to the repository" };
  return [
    tool("list", "Lists a folder.", { path }, async (args) => {
      const entries = await readdir(inside(args.path), { withFileTypes: true });
      return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
    }),
    tool("read", "Reads a text file.", { path, from: { type: "number", description: "First line" } }, async (args) => {
      const lines = (await readFile(inside(args.path), "utf8")).split("\n");
      return lines.slice((args.from ?? 1) - 1);
    }),
    tool("grep", "Finds lines that hold a text.", { path, text: { type: "string" } }, async (args) => {
      const found = [];
      for (const file of await filesUnder(inside(args.path))) {
        const lines = (await readFile(file, "utf8")).split("\n");
        lines.forEach((line, index) => {
          if (line.includes(args.text ?? "")) found.push(`${relative(root, file)}:${index + 1}: ${line.trim()}`);
        });
      }
      return found;
    }),
  ];
}

async function filesUnder(path) {
  if ((await stat(path)).isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.filter((file) => !file.includes("node_modules")).sort();
}

/** What the scripted model of the example calls, in order: thirty-six real calls over this repository. */
export const plannedCalls = [
  ["list", { path: "." }],
  ["list", { path: "src" }],
  ["read", { path: "src/index.ts" }],
  ["grep", { path: "src", text: "compose(" }],
  ...["message", "store", "window", "session", "tokens", "adapter"].map((room) => ["list", { path: `src/${room}` }]),
  ...["message", "step", "repair", "record"].map((file) => ["read", { path: `src/message/${file}.ts` }]),
  ["grep", { path: "src", text: "StepReader" }],
  ...["window", "composer", "planner", "view", "by-name"].map((file) => ["read", { path: `src/window/${file}.ts` }]),
  ["read", { path: "src/window/composer.ts", from: 121 }],
  ["grep", { path: "src/window", text: "hashMessages" }],
  ...["session", "writer", "events"].map((file) => ["read", { path: `src/session/${file}.ts` }]),
  ["read", { path: "src/session/session.ts", from: 121 }],
  ["grep", { path: "src/session", text: "#queue" }],
  ...["store", "upkeep", "transfer"].map((file) => ["read", { path: `src/store/${file}.ts` }]),
  ["read", { path: "src/window/composer.ts" }],
  ["grep", { path: "docs", text: "epoch" }],
  ["read", { path: "docs/concepts.md" }],
  ["read", { path: "src/adapter/adapter.ts" }],
  ["read", { path: "src/no-such-file.ts" }],
  ["read", { path: "README.md" }],
];
