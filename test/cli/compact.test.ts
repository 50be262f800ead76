/** `windrow compact`, with a model behind a real server and without one. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import type { SessionView } from "windrow/ops";
import { codingSession } from "../kit/inside/message.ts";
import { json, newFolder, windrow } from "./stage.ts";

async function recorded(): Promise<{ folder: string; id: string; messages: number }> {
  const folder = await newFolder();
  const manager = await SessionManager.open({ store: folder, budget: 20_000 });
  const session = await manager.create();
  for (const message of codingSession(20, 10)) {
    if (message.role === "assistant") await session.compose();
    await session.append(message);
  }
  const { messages } = session.stats();
  await manager.close();
  return { folder, id: session.id, messages };
}

/** A chat-completions server that answers what it is told to. */
async function server(answer: (prompt: string) => { status: number; text: string }): Promise<string> {
  const http = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const { status, text } = answer(body);
      const choice = { message: { role: "assistant", content: text }, finish_reason: "stop" };
      const message = { choices: [choice], usage: {} };
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(message));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  return `openai:small@http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`;
}

const summaries = async (folder: string, id: string): Promise<SessionView["summaries"]> =>
  (await json<SessionView>(["view", id, "--summaries", "--store", folder])).summaries;

it("summarises by a model, and shows the summary; the log keeps every message", async () => {
  const { folder, id, messages } = await recorded();
  const model = await server((prompt) => {
    const paths = [...new Set(prompt.match(/src\/[\w/.-]+\.ts/g))];
    return { status: 200, text: `The agent read ${paths.join(", ")}.` };
  });
  const { status, stdout, stderr } = await windrow(["compact", id, "--model", model, "--store", folder]);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(stdout).toContain(`all ${messages} messages`);
  const { total, shown } = await summaries(folder, id);
  expect(total).toBe(1);
  expect(shown[0]?.summary).toContain("The agent read src/");
  expect(shown[0]?.compressionRatio).toBeLessThan(1);
  const view = await windrow(["view", id, "--window", "--store", folder]);
  expect(view.stdout).toContain("The agent read src/");
});

it("summarises without a model by the messages' own sentences", async () => {
  const { folder, id } = await recorded();
  expect(await json(["compact", id, "--store", folder])).toMatchObject({ id, compacted: true, epoch: 1 });
  expect((await summaries(folder, id)).total).toBe(1);
});

it("says why nothing came of it, and changes nothing", async () => {
  const { folder, id } = await recorded();
  const model = await server(() => ({ status: 200, text: "" }));
  for (const [name, expected, said] of [
    [model, 1, "model-failed"],
    ["opanai:x", 2, "openai"],
  ] as const) {
    const { status, stderr } = await windrow(["compact", id, "--model", name, "--store", folder]);
    expect([status, stderr]).toEqual([expected, expect.stringContaining(said)]);
  }
  expect((await summaries(folder, id)).total).toBe(0);
});
