/** `windrow gateway`: its one line, what it passes, its page, and its end. */
import { createServer } from "node:http";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Served } from "./stage.ts";
import { newFolder, served, windrow } from "./stage.ts";

const gateway = (argv: readonly string[], env: Record<string, string> = {}, isTTY = false): Promise<Served> =>
  served(["gateway", "--port", "0", ...argv], env, isTTY);

async function provider(): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const said = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" };
    const answer = { content: [{ type: "text", text: "A bird." }], usage: { input_tokens: 9, output_tokens: 3 } };
    request.resume().on("end", () => response.end(JSON.stringify({ asked: request.url, ...said, ...answer })));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("windrow gateway", () => {
  it("prints one line, passes requests to named upstreams, and serves until it is stopped", async () => {
    const store = join(await newFolder(), "store");
    const address = await provider();
    const upstreams = ["--upstream", `anthropic=${address}`, `corp=${address}/base`];
    const { said, warned, stop } = await gateway([...upstreams, "--store", store]);
    const [, url = "", mode, where] = /^(http:\/\/127\.0\.0\.1:\d+) (\w+), store (.*)\n$/.exec(said) ?? [];
    expect([mode, where, warned()]).toEqual(["observing", store, ""]);
    const body = "{}";
    const asked = async (path: string): Promise<unknown> =>
      (await fetch(`${url}${path}`, { method: "POST", body })).json();
    expect(await asked("/v1/messages?beta=true")).toMatchObject({ asked: "/v1/messages?beta=true" });
    expect(await asked("/u/corp/v1/chat/completions")).toMatchObject({ asked: "/base/v1/chat/completions" });
    expect(await stop()).toBe(0);
    await expect(fetch(`${url}/-/health`)).rejects.toThrow("fetch failed");
  });

  it("keeps conversations as they pass, and no key", async () => {
    const store = join(await newFolder(), "store");
    const { said, warned, stop } = await gateway(["--upstream", `anthropic=${await provider()}`, "--store", store]);
    const [url = ""] = said.split(" ");
    const messages = [{ role: "user", content: "what is a heron?" }];
    // A request without tools would be a client's own side request, of which no text is kept.
    const tools = [{ name: "look_up", description: "Looks a word up.", input_schema: { type: "object" } }];
    const answer = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "sk-ant-canary-0123" },
      body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 100, tools, messages }),
    });
    expect(answer.headers.get("x-windrow")).toMatch(/^observed/);
    expect(await answer.json()).toMatchObject({ content: [{ text: "A bird." }] });
    expect([await stop(), warned()]).toEqual([0, ""]);
    const { stdout } = await windrow(["view", "latest", "--messages", "--store", store]);
    expect(stdout).toContain("what is a heron?");
    expect(stdout).toContain("A bird.");
    const files = await readdir(store, { recursive: true, withFileTypes: true });
    const texts = files
      .filter((file) => file.isFile())
      .map((file) => readFile(join(file.parentPath, file.name), "utf8"));
    expect((await Promise.all(texts)).join("\n")).not.toContain("sk-ant-canary");
  });

  it("serves the page of its store behind a token, and keeps a secret of its owner's alone", async () => {
    const store = join(await newFolder(), "store");
    const env = { WINDROW_VIEWER_TOKEN: "token-of-the-page-0123" };
    const { said, stop } = await gateway(["--store", store, "--json"], env);
    const { url, link } = JSON.parse(said) as { readonly url: string; readonly link: string };
    expect(link).toBe(`${url}/-/ui/#token=token-of-the-page-0123`);
    const list = `${url}/-/ui/api/sessions`;
    expect((await fetch(list)).status).toBe(401);
    const headers = { authorization: `Bearer ${env.WINDROW_VIEWER_TOKEN}` };
    expect(await (await fetch(list, { headers })).json()).toMatchObject({ sessions: [] });
    expect((await fetch(list, { headers: { ...headers, origin: "http://localhost:1" } })).status).toBe(403);
    await stop();
    const secret = (await readdir(store)).find((name) => name.includes("secret")) ?? "";
    expect((await stat(join(store, secret))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(store, secret), "utf8")).not.toContain(env.WINDROW_VIEWER_TOKEN);
  });

  it("prints the link to its page on a terminal, and in a pipe its one line", async () => {
    const store = join(await newFolder(), "store");
    const env = { WINDROW_VIEWER_TOKEN: "token-of-the-page-0123" };
    const terminal = await gateway(["--store", store], env, true);
    const [line = "", link, ...rest] = terminal.said.split("\n");
    expect([link, rest]).toEqual([`${line.split(" ")[0]}/-/ui/#token=token-of-the-page-0123`, [""]]);
    await terminal.stop();
    const pipe = await gateway(["--store", store], env);
    expect(pipe.said).not.toContain("token");
    await pipe.stop();
  });

  it("warns where other machines reach it", async () => {
    const store = join(await newFolder(), "store");
    const env = { WINDROW_GATEWAY_TOKEN: "token-of-the-clients-01" };
    const { said, warned, stop } = await gateway(["--host", "0.0.0.0", "--store", store], env);
    expect(warned()).toContain("warning: other machines reach http://0.0.0.0:");
    expect(said + warned()).not.toContain(env.WINDROW_GATEWAY_TOKEN);
    await stop();
  });

  it("logs each request with --debug, without keys and queries", async () => {
    const store = join(await newFolder(), "store");
    const upstream = `gemini=${await provider()}`;
    const { said, warned, stop } = await gateway(["--upstream", upstream, "--store", store, "--debug"]);
    const [url = ""] = said.split(" ");
    await (await fetch(`${url}/v1beta/models?key=canary`, { headers: { "x-goog-api-key": "canary" } })).text();
    expect(await stop()).toBe(0);
    expect(warned()).toContain("/v1beta/models");
    expect(warned()).not.toContain("canary");
  });
});
