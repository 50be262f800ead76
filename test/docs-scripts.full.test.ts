/** The JavaScript that the pages of docs/ show runs, from the tarball, with what a reader has installed beside it. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPacked } from "./kit/packed.ts";
import { hasPostgres, startPostgres } from "./kit/postgres.ts";
import type { TestPostgres } from "./kit/postgres.ts";

/** A block of a page, with what a reader has before and behind it. */
interface Script {
  readonly page: string;
  /** The place of the block among those of the page that are plain `js`, from 1. */
  readonly at: number;
  readonly before?: string;
  readonly behind?: string;
  readonly needs?: "postgres";
  /** What it prints. Default: nothing. */
  readonly prints?: RegExp;
}

const scripts: readonly Script[] = [
  { page: "fleet", at: 1, needs: "postgres", behind: "await (await manager.create()).close(); await manager.close();" },
  {
    page: "fleet",
    at: 2,
    needs: "postgres",
    behind: "await (await manager.create()).close(); await manager.close(); await pool.end();",
  },
  {
    page: "retention",
    at: 1,
    needs: "postgres",
    behind: "await (await manager.create()).close(); await manager.close();",
  },
  {
    page: "memory",
    at: 1,
    before: `import { createServer } from "node:http";\n`,
    behind: `const found = [{ sessionId: "s", seq: 3, text: "the heron" }];
      const server = createServer((request, response) => response.end(JSON.stringify(found)));
      await new Promise((done) => server.listen(0, "127.0.0.1", done));
      const memory = httpMemory({ name: "http", url: \`http://127.0.0.1:\${server.address().port}\` });
      await memory.receive("s", [{ seq: 3, message: { role: "user", parts: [{ type: "text", text: "the heron" }] } }]);
      const [hit] = await memory.query({ text: "heron", counter: { count: (text) => text.length } });
      console.log(hit.text);
      server.close();
      await memory.close();`,
    prints: /^\[s m3\] the heron\n$/,
  },
  { page: "format", at: 1, prints: /^damaged: \{"seq":3.*\n$/ },
  { page: "telemetry", at: 1 },
  {
    page: "telemetry",
    at: 2,
    before: `
import { SessionManager } from "windrow";
import { ContextManagementPlugin } from "windrow/adk";
import { aiSdk } from "windrow/ai-sdk";
import { createTransformContext } from "windrow/pi";
import { telemetry } from "windrow/opentelemetry";
const [system, tools] = ["You help.", {}];
`,
    behind: "await manager.close();",
  },
  {
    page: "writing-a-pass",
    at: 1,
    behind: `
import { composeWindow } from "windrow";
const messages = Array.from({ length: 40 }, (_, at) => {
  const parts = [{ type: "text", text: "word ".repeat(1 + ((at * 7) % 40)) }];
  return { id: String(at), role: at % 2 === 0 ? "user" : "assistant", parts };
});
const rest = { trigger: { ratio: 1 }, lowWater: 0.6, keepFirstUser: true };
const { tokens } = composeWindow({ messages, budget: 600, strategy: { name: "shortest", passes: [dropShortest], ...rest } });
console.log(tokens > 100 && tokens <= 600);`,
    prints: /^true\n$/,
  },
  {
    page: "writing-an-engine",
    at: 1,
    prints: /# fail 0/,
  },
  {
    page: "writing-an-engine",
    at: 2,
    before: `import { openStore } from "windrow/store";\nimport { faultyStore } from "windrow/testing";\n`,
    behind: "letThrough(); await store.close();",
  },
  { page: "writing-an-engine", at: 3, behind: "await manager.close();" },
  { page: "writing-an-engine", at: 4, behind: "await store.close();" },
];

let folder: string;
let server: TestPostgres | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-scripts-"));
  await installPacked(folder);
  for (const name of ["pg", "libsql", "@opentelemetry/api"]) await installed(name);
  // The reader's own SDK, which sends elsewhere; the page starts and ends it.
  await mkdir(join(folder, "node_modules/@opentelemetry/sdk-node"), { recursive: true });
  const sdk = "export class NodeSDK { start() {} async shutdown() {} }";
  await writeFile(join(folder, "node_modules/@opentelemetry/sdk-node/index.js"), sdk);
  await writeFile(
    join(folder, "node_modules/@opentelemetry/sdk-node/package.json"),
    '{"type":"module","main":"index.js"}',
  );
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const store = /^```js file=map-engine\.mjs\n([\s\S]*?)^```$/m.exec(
    await readFile("docs/writing-an-engine.md", "utf8"),
  )?.[1];
  await writeFile(join(folder, "map-engine.mjs"), store ?? "");
  await writeFile(
    join(folder, "my-store.mjs"),
    'import { openStore } from "windrow/store";\nexport const open = openStore;\n',
  );
  const [good, bad] = ['{"seq":1', '{"seq":2'].map(
    (text) => `${text},"crc":"${crc32(text).toString(16).padStart(8, "0")}"}`,
  );
  await writeFile(join(folder, "messages.jsonl"), `${good}\n${bad?.replace('"seq":2', '"seq":3')}\n`);
  if (hasPostgres) server = await startPostgres();
}, 120_000);
afterAll(async () => {
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

async function installed(name: string): Promise<void> {
  await mkdir(join(folder, "node_modules", name, ".."), { recursive: true });
  await symlink(resolve("node_modules", name), join(folder, "node_modules", name), "dir");
}

describe("a script of a page", () => {
  it.for(scripts)(
    "of docs, page $page , block $at",
    { timeout: 60_000 },
    async ({ page, at, before = "", behind = "", needs, prints }, { skip }) => {
      const text = await readFile(`docs/${page}.md`, "utf8");
      const [, code = ""] = [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)][at - 1] ?? [];
      expect(code).not.toBe("");
      skip(needs === "postgres" && !server, "No Postgres server can be had here, and the script needs one.");
      const address = server?.url ?? "";
      const run = `${page}-${at}.mjs`;
      const placed = code.replace("postgres://agent@db.internal:5432/agents", address);
      await writeFile(join(folder, run), `${before}${placed}\n${behind}\n`);
      const { NODE_OPTIONS: _, ...env } = process.env;
      const { stdout } = await promisify(execFile)(process.execPath, [run, "messages.jsonl"], {
        cwd: folder,
        env: { ...env, DATABASE_URL: address },
      });
      expect(stdout).toMatch(prints ?? /^$/);
    },
  );

  it("is every one that the pages show", async () => {
    const pages = new Map<string, number>();
    for (const { page } of scripts) pages.set(page, (pages.get(page) ?? 0) + 1);
    for (const name of (await readdir("docs")).filter((one) => one.endsWith(".md"))) {
      const text = await readFile(join("docs", name), "utf8");
      expect([...text.matchAll(/^```js$/gm)], name).toHaveLength(pages.get(name.slice(0, -3)) ?? 0);
    }
  });
});
