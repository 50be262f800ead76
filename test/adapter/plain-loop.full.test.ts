/** The loops of docs/hosts/plain-loop.md run, and a provider that checks every request takes all of theirs. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPacked } from "../kit/packed.ts";
import { faults as anthropicFaults } from "../providers/anthropic.ts";
import { faults as chatFaults } from "../providers/openai-chat.ts";

const installed = resolve("interop/sdk-types/node_modules");
const answers = 12;

/** What the loops need of each SDK, for machines without them. */
const standIns: Readonly<Record<string, string>> = {
  "openai": `export default class OpenAI {
    chat = { completions: { create: (body) => post(process.env.OPENAI_BASE_URL + "/chat/completions", body) } };
  }`,
  "@anthropic-ai/sdk": `export default class Anthropic {
    messages = { create: (body) => post(process.env.ANTHROPIC_BASE_URL + "/v1/messages", body) };
  }`,
};
const post = `async function post(url, body) {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) {
    const { error } = await answer.json();
    throw Object.assign(new Error(error.message), { code: error.code });
  }
  return answer.json();
}`;

let folder: string;
let server: Server;
let requests: number[];
let refusals: number;

/** The answer that asks the recall tool. */
const recalling = 6;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-loop-"));
  await installPacked(folder);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, code] of Object.entries(standIns)) {
    const target = join(folder, "node_modules", name);
    await mkdir(dirname(target), { recursive: true });
    if (existsSync(join(installed, name))) await symlink(join(installed, name), target, "dir");
    else {
      await mkdir(target);
      await writeFile(join(target, "package.json"), '{ "type": "module", "exports": "./index.js" }');
      await writeFile(join(target, "index.js"), `${code}\n${post}`);
    }
  }
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const [status, answer] = answerTo(request.url ?? "", JSON.parse(text) as Body);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
}, 120_000);

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly system?: { type: "text"; text: string }[];
}

/** Refuses what the provider would refuse; else calls a tool, and ends after a dozen answers. */
function answerTo(url: string, body: Body): readonly [status: number, answer: unknown] {
  const chat = url.endsWith("/chat/completions");
  const problems = chat ? chatFaults(body) : anthropicFaults(body);
  const said = JSON.stringify(body.messages);
  if (requests.length === recalling && !said.includes("[Windrow: a record, newest first.")) problems.push("no recall");
  if (problems.length > 0) return [400, { error: { message: problems.join("; ") } }];
  if (requests.length === 4 && refusals-- > 0) {
    return [400, { error: { message: "The context is too long.", code: "context_length_exceeded" } }];
  }
  requests.push(said.length);
  const count = requests.length;
  const last = count === answers;
  const [name, args] = count === recalling ? ["recall", { query: "type error" }] : ["read", { path: "build.log" }];
  if (chat) {
    const call = {
      id: `call_${count}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    };
    const said = last ? { content: "A type is wrong." } : { content: null, tool_calls: [call] };
    const message = { role: "assistant", refusal: null, annotations: [], ...said };
    return [
      200,
      { id: "chatcmpl-1", object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] },
    ];
  }
  const content = last
    ? [{ type: "text", text: "A type is wrong." }]
    : [
        { type: "thinking", thinking: "The log.", signature: `EqQB${count}` },
        { type: "tool_use", id: `toolu_${count}`, name, input: args },
      ];
  return [200, { id: "msg_1", type: "message", role: "assistant", model: "claude", content, stop_reason: "end_turn" }];
}

async function run(code: string): Promise<string> {
  requests = [];
  // The loop that asks once more is refused once, before the window is full.
  refusals = code.includes("context_length_exceeded") ? 1 : 0;
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const file = join(folder, "loop.mjs");
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  await writeFile(file, outputText);
  const env = {
    ...process.env,
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_API_KEY: "none",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: "none",
  };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder, env });
  return stdout;
}

const page = await readFile("docs/hosts/plain-loop.md", "utf8");
const blocks = [...page.matchAll(/^```ts run \w+\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
const sdks = Object.keys(standIns).map((name) =>
  existsSync(join(installed, name)) ? `the real ${name}` : `a stand-in for ${name}`,
);
console.log(`with ${sdks.join(" and ")}`);

describe("docs/hosts/plain-loop.md", () => {
  it("has three loops", () => expect(blocks).toHaveLength(3));

  it.each(blocks.map((code, index) => ({ number: index + 1, code })))(
    "loop $number runs to its end",
    async ({ code }) => {
      const printed = await run(code);
      expect(requests).toHaveLength(answers);
      expect(refusals).toBeLessThanOrEqual(0);
      expect(printed).toMatch(new RegExp(`^${2 * answers} messages`));
      expect(printed).not.toContain("epoch 0");
      expect(Math.max(...requests)).toBeLessThan(8_000 * 6);
    },
  );
});
