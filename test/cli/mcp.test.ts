/** `windrow mcp`: what it refuses, and that it serves over HTTP until it is told to stop. */
import { expect, it } from "vitest";
import { run } from "../kit/inside/cli.ts";
import { newFolder } from "./stage.ts";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

it("windrow mcp serves over HTTP, with the token of the environment, until it is stopped", async () => {
  const stop = new AbortController();
  let told: (url: string) => void = () => undefined;
  let warned = "";
  const listening = new Promise<string>((resolve) => (told = resolve));
  const written = (text: string): void => {
    const url = /http\S+\/mcp/.exec(text)?.[0];
    if (url === undefined) warned += text;
    else told(url);
  };
  const env = { WINDROW_MCP_TOKEN: "open-sesame" };
  const io = { stdout: { write: () => true }, stderr: { write: written }, env };
  const store = await newFolder();
  const ended = run(["mcp", "--store", store, "--http", "0"], io, stop.signal);
  const url = await listening;
  expect(warned).toMatch(
    new RegExp(`^windrow: warning: there is no session in ${store} yet; .*Is --store right\\?\\n$`),
  );
  const ask = (authorization: string): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "accept": "application/json, text/event-stream", authorization },
      body: JSON.stringify(initialize),
    });
  expect((await ask("Bearer wrong")).status).toBe(401);
  const answer = await ask("Bearer open-sesame");
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('"name":"windrow"');
  stop.abort();
  expect(await ended).toBe(0);
  await expect(ask("Bearer open-sesame")).rejects.toThrow("fetch failed");
});
