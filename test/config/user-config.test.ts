/** A user's own settings from a real server, and what stands where it cannot give them. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { SessionEvent } from "windrow";
import { loadConfig } from "windrow/store";
import { fetchUserConfig } from "../kit/inside/config.ts";
import { folderOf, serverOf } from "./kit.ts";

describe("a server that answers", () => {
  it("is asked once for each user, with the key, until the answer is old", async () => {
    const asked: string[] = [];
    const url = await serverOf(({ url: path, headers }, response) => {
      asked.push(`${path} ${headers.authorization}`);
      response.end(JSON.stringify({ budget: asked.length, store: "/etc", admin: true, theirOwn: { key: 1 } }));
    });
    let now = 0;
    const options = { timeout: 10_000, url: `${url}/users/{user}`, apiKey: "k", cache: 1_000, now: () => now };
    expect(await fetchUserConfig("a/b", options)).toEqual({ settings: { budget: 1 } });
    expect(await fetchUserConfig("a/b", options)).toEqual({ settings: { budget: 1 } });
    expect(await fetchUserConfig("bob", options)).toEqual({ settings: { budget: 2 } });
    now = 1_001;
    expect(await fetchUserConfig("a/b", options)).toEqual({ settings: { budget: 3 } });
    expect(asked).toEqual(["/users/a%2Fb Bearer k", "/users/bob Bearer k", "/users/a%2Fb Bearer k"]);
  });

  it("gives a user another model and threshold in the seed's words, over the files and under the environment", async () => {
    const url = await serverOf(({ url: path }, response) => {
      const own = { "/?user=alice": { llm_provider: "ollama" }, "/?user=bob": { compression_threshold: 0.5 } };
      response.end(JSON.stringify(own[path as keyof typeof own]));
    });
    const seed =
      "llm:\n  openai: { model: gpt-4o, context_length: 128000 }\n  ollama: { model: qwen3-30b, context_length: 32768 }\n" +
      "compression_threshold: 0.7\n";
    const folder = await folderOf({ "windrow.config.yaml": seed });
    const settingsOf = async (user: string, more: Readonly<Record<string, string>> = {}) =>
      (
        await loadConfig({
          folder,
          environment: { USER_CONFIG_API: url, WINDROW_USER_CONFIG_TIMEOUT: "10000", ...more },
          flags: { user },
        })
      ).settings;
    expect(await settingsOf("alice")).toMatchObject({ model: { id: "qwen3-30b" }, budget: 22_937 });
    expect(await settingsOf("bob")).toMatchObject({ model: { id: "gpt-4o" }, budget: 64_000 });
    expect(await settingsOf("bob", { WINDROW_BUDGET: "9" })).toMatchObject({ budget: 9 });
  });
});

describe("a server that does not", () => {
  const servers = {
    "hangs": [() => undefined, "no answer within 50 ms"],
    "hangs in the middle": [(_request, response) => void response.write('{"bud'), "no answer within 50 ms"],
    "fails": [(_request, response) => void response.writeHead(500).end("{}"), "status 500"],
    "answers with something else": [(_request, response) => void response.end("<html>"), "no JSON object"],
    "answers with wrong settings": [(_request, response) => void response.end('{"budget":"x"}'), 'wrong at "budget"'],
    "breaks off": [(request) => void request.socket.destroy(), "defaults stand"],
    "sends elsewhere": [
      (_request, response) => void response.writeHead(302, { location: "/x" }).end(),
      "defaults stand",
    ],
  } as const satisfies Readonly<Record<string, readonly [Parameters<typeof serverOf>[0], string]>>;

  it.each(Object.entries(servers))("one that %s leaves the defaults, and says why", async (name, [listener, why]) => {
    const url = await serverOf(listener);
    const { settings, failure } = await fetchUserConfig("alice", {
      url,
      timeout: name.startsWith("hangs") ? 50 : 10_000,
    });
    expect(settings).toEqual({});
    expect(failure).toContain(why);
    expect(failure).toContain("defaults stand");
  });

  it("keeps an older answer, and is left alone for a while", async () => {
    let asked = 0;
    const url = await serverOf((_request, response) => {
      asked++;
      if (asked === 1) response.end('{"budget":7}');
      else response.writeHead(503).end();
    });
    let now = 0;
    const options = { url, timeout: 10_000, cache: 60_000, now: () => now };
    expect((await fetchUserConfig("alice", options)).settings).toEqual({ budget: 7 });
    now = 60_001;
    const older = await fetchUserConfig("alice", options);
    expect(older).toMatchObject({ settings: { budget: 7 } });
    expect(older.failure).toContain("status 503; an older answer stands");
    now += 29_000;
    await fetchUserConfig("alice", options);
    expect(asked).toBe(2);
  });
});

describe("a manager with a configuration", () => {
  it("takes what it is not given, records it with the session, and opens the store as it says", async () => {
    const url = await serverOf(
      (_request, response) => void response.end('{"model":"gpt-4o","compression_threshold":0.5}'),
    );
    const folder = await folderOf({
      "windrow.config.yaml": `store: ./data\naudit: true\nstrategy: coding-agent\nuserConfig: { url: "${url}", timeout: 10000 }\n`,
    });
    const manager = await SessionManager.open({ config: join(folder, "windrow.config.yaml"), user: "notfolder" });
    const session = await manager.create();
    expect(session.metadata.user).toBe("notfolder");
    expect(session.metadata.config).toMatchObject({
      llm_provider: "openai",
      context_length: 128_000,
      compression_threshold: 0.5,
      strategy: "coding-agent",
    });
    expect((await manager.info(session.id)).location).toBe(join(folder, "data", "running", session.id));
    await manager.close();
  });

  it("says by an event that a user's settings are missing, and goes on", async () => {
    const url = await serverOf((_request, response) => void response.writeHead(500).end());
    const file = join(
      await folderOf({ "c.yaml": `store: "ram:"\nuserConfig: { url: "${url}", timeout: 10000 }\n` }),
      "c.yaml",
    );
    const events: SessionEvent[] = [];
    const on = (event: SessionEvent): void => void events.push(event);
    const manager = await SessionManager.open({ config: file, user: "alice", on });
    expect(events).toMatchObject([
      { type: "user-config-failed", user: "alice", reason: expect.stringContaining("status 500") as string },
    ]);
    expect((await manager.create()).metadata.config).toMatchObject({ strategy: "adaptive" });
    await manager.close();
  });

  it("makes nobody an admin whom the configuration does not name", async () => {
    const file = join(await folderOf({ "c.yaml": 'store: "ram:"\naccess: { admins: [root] }\n' }), "c.yaml");
    const refused = SessionManager.open({ config: file, user: "alice", admin: true });
    await expect(refused).rejects.toMatchObject({ code: "not-allowed" });
    const manager = await SessionManager.open({ config: file, user: "root", admin: true });
    await manager.close();
  });
});

it("never repeats a password of the server's address", async () => {
  const { failure } = await fetchUserConfig("alice", { url: "http://me:pa55w0rdX@127.0.0.1:9/x" });
  expect(failure).toContain("127.0.0.1:9");
  expect(failure).not.toContain("pa55w0rdX");
});
