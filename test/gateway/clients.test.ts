/** How commands are pointed at a gateway, and where doctor finds the addresses that clients have. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serveGateway } from "windrow/gateway";
import { checkClients, opencodeKeys, probe, programOf, routeCommand } from "../kit/inside/gateway.ts";
import { windrow } from "../cli/stage.ts";
import { startFake } from "./fake/fake.ts";

const url = "http://127.0.0.1:4180";

describe("a command", () => {
  it("gets the three variables, and no argument more", () => {
    const routed = routeCommand(["aider", "--yes"], url, {});
    expect(routed).toEqual({
      command: ["aider", "--yes"],
      env: { ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, GOOGLE_GEMINI_BASE_URL: url },
      upstreams: {},
      notes: [],
    });
  });

  it.each([
    [
      { ANTHROPIC_BASE_URL: "https://llm.corp.example/anthropic/", OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" },
      { anthropic: "https://llm.corp.example/anthropic", openai: "http://127.0.0.1:8080" },
      `${url}/v1`,
    ],
    // A server that has no version in its address.
    [
      { OPENAI_BASE_URL: "https://llm.corp.example/api" },
      { openai: "https://llm.corp.example/api" },
      `${url}/u/openai`,
    ],
  ])("keeps the servers of %j behind the gateway", (given, upstreams, openai) => {
    const routed = routeCommand(["x"], url, given);
    expect(routed).toMatchObject({ env: { ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: openai }, upstreams });
  });

  const own = 'openai_base_url="https://llm.corp.example/v1"';
  it.each([
    [["/usr/bin/codex"], ["exec", "Go."], {}],
    [["npx", "-y", "@openai/codex@0.169.0"], ["exec"], {}],
    // The later of two options counts.
    [["codex", "-c", own], ["exec"], { openai: "https://llm.corp.example" }],
  ])("codex is told by an option: %j %j", (program, rest, expected) => {
    const { command, upstreams } = routeCommand([...program, ...rest], url, {});
    expect(command).toEqual([...program, "-c", `openai_base_url="${url}/v1"`, ...rest]);
    expect(upstreams).toEqual(expected);
  });

  it("opencode is told by its variable, for providers it has a key of alone, and the rest of that stays", () => {
    const content = JSON.stringify({
      theme: "dark",
      provider: {
        corp: { npm: "@ai-sdk/openai-compatible", options: { baseURL: "https://llm.corp.example/v1", apiKey: "k" } },
      },
    });
    const { env, upstreams } = routeCommand(["opencode"], url, { OPENCODE_CONFIG_CONTENT: content }, ["anthropic"]);
    expect(JSON.parse(env["OPENCODE_CONFIG_CONTENT"]!)).toEqual({
      theme: "dark",
      provider: {
        anthropic: { options: { baseURL: `${url}/v1` } },
        corp: { npm: "@ai-sdk/openai-compatible", options: { baseURL: `${url}/u/opencode-corp/v1`, apiKey: "k" } },
      },
    });
    expect(upstreams).toEqual({ "opencode-corp": "https://llm.corp.example" });
  });

  it("pi is said not to be routed, with the line that would", () => {
    expect(routeCommand(["pi"], url, {}).notes.join()).toContain(`"baseUrl": "${url}"`);
  });

  it.each([
    [["claude"], "claude"],
    [["C:\\bin\\codex.exe"], "codex"],
    [["npx", "-y", "@anthropic-ai/claude-code@2.1.330", "-p", "x"], "claude"],
    [["pnpm", "dlx", "opencode-ai"], "opencode"],
    [["node", "agent.mjs"], "agent"],
    [["env", "A=1", "pi"], "pi"],
  ])("%s starts %s", (command, program) => {
    expect(programOf(command)).toBe(program);
  });
});

describe("doctor", () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "windrow-clients-"));
  });

  afterEach(() => rm(home, { recursive: true }));

  async function write(file: string, content: string): Promise<void> {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), content);
  }

  it("finds the address of each client where it stands", async () => {
    const nobody = "http://127.0.0.1:1";
    await write(".claude/settings.json", JSON.stringify({ env: { ANTHROPIC_BASE_URL: nobody } }));
    const toml = `model_provider = "w"\n[model_providers.other]\nbase_url = "http://other"\n[model_providers.w]\nname = "w"\nbase_url = "${nobody}/v1"\n`;
    await write(".codex/config.toml", toml);
    await write(".gemini/.env", `export GOOGLE_GEMINI_BASE_URL="${nobody}"\n`);
    await write(
      ".config/opencode/opencode.jsonc",
      `{\n  // Mine.\n  "provider": { "w": { "options": { "baseURL": "${nobody}/v1", } } },\n}`,
    );
    await write(".pi/agent/models.json", JSON.stringify({ providers: { w: { baseUrl: nobody } } }));
    const found = await checkClients(url, { HOME: home, PATH: "" });
    const told = found.map(({ client, state, addresses }) => [
      client,
      state,
      addresses.map(({ place }) => place.replace(home, "~")),
    ]);
    expect(told).toEqual([
      ["claude", "unreachable", ["~/.claude/settings.json, env.ANTHROPIC_BASE_URL"]],
      ["codex", "unreachable", ["~/.codex/config.toml, model_providers.w.base_url"]],
      ["gemini", "unreachable", ["~/.gemini/.env, GOOGLE_GEMINI_BASE_URL"]],
      ["opencode", "unreachable", ["~/.config/opencode/opencode.jsonc, provider.w.options.baseURL"]],
      ["pi", "unreachable", ["~/.pi/agent/models.json, providers.w.baseUrl"]],
    ]);
  });

  it("tells a gateway from another server and from nobody, and sends no key", async () => {
    const gateway = await serveGateway({ port: 0 });
    const other = await startFake();
    expect(await probe(`${gateway.url}/v1`)).toBe("gateway");
    expect(await probe(other.url)).toBe("other");
    expect(
      other.requests
        .flatMap(({ rawHeaders }) => rawHeaders)
        .join()
        .toLowerCase(),
    ).not.toMatch(/authorization|api-key/);
    await Promise.all([gateway.close(), other.close()]);
    expect(await probe(other.url)).toBe("nobody");
  });

  it("knows clients in the path, and the providers that opencode has a key of", async () => {
    await write("bin/codex", "#!/bin/sh\n");
    await chmod(join(home, "bin/codex"), 0o755);
    await write(".local/share/opencode/auth.json", JSON.stringify({ anthropic: { type: "api", key: "k" } }));
    const env = { HOME: home, PATH: join(home, "bin"), GEMINI_API_KEY: "k" };
    expect((await checkClients(url, env)).map(({ client, state }) => [client, state])).toEqual([["codex", "direct"]]);
    expect(await opencodeKeys(env)).toEqual(["anthropic", "google"]);
  });

  it("is a command: lines to set and to take out, a status for an address where nobody is", async () => {
    await write(".codex/config.toml", 'openai_base_url = "http://127.0.0.1:1/v1"\n');
    const env = { HOME: home, PATH: "" };
    const told = await windrow(["gateway", "doctor", "--port", "1"], env);
    expect(told.status).toBe(1);
    expect(told.stdout).toContain("No gateway listens at http://127.0.0.1:1.");
    expect(told.stdout).toContain("codex: cannot reach its address: nobody answers there");
    expect(told.stdout).toContain(`set       codex -c 'openai_base_url="http://127.0.0.1:1/v1"'`);
    expect(told.stdout).toContain("take out  leave out -c openai_base_url");
    const direct = await windrow(["gateway", "doctor", "claude-code", "--port", "1", "--json"], env);
    expect(direct.status).toBe(0);
    expect(JSON.parse(direct.stdout)).toMatchObject({
      answer: "nobody",
      clients: [{ client: "claude", state: "direct" }],
    });
    expect((await windrow(["gateway", "doctor", "clade"], env)).stderr).toContain('Did you mean "claude"?');
  });
});
