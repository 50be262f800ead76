/** `windrow serve`: the link that it prints, whose sessions it serves, and its end. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { AuditEntry } from "windrow/store";
import { seedId, seedSession } from "./seed-example.ts";
import type { Served } from "./stage.ts";
import { json, newFolder, put, served, windrow } from "./stage.ts";

const serve = (argv: readonly string[], env: Record<string, string> = {}): Promise<Served> =>
  served(["serve", "--no-open", ...argv], env);

async function ask(url: string, token: string, path: string): Promise<Response> {
  return await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
}

describe("windrow serve", () => {
  it("prints a link with a token and the session, and serves until it is stopped", async () => {
    const store = await newFolder();
    await seedSession(store);
    const { said, warned, stop } = await serve(["latest", "--store", store]);
    const [, url = "", token = "", route] =
      /^(http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]{43})&to=(\S+)\n$/.exec(said) ?? [];
    expect(route).toBe(`/s/${seedId}`);
    expect(warned()).toBe("");
    const page = await ask(url, token, "/api/sessions");
    expect(await page.json()).toMatchObject({ sessions: [{ id: seedId }] });
    expect((await ask(url, "wrong", "/api/sessions")).status).toBe(401);
    expect(await stop()).toBe(0);
    await expect(ask(url, token, "/api/sessions")).rejects.toThrow("fetch failed");
  });

  it("takes the token of the environment, so that it can be started again", async () => {
    const store = await newFolder();
    await seedSession(store);
    const token = "kept-over-a-restart-of-the-program";
    const { said, stop } = await serve(["--store", store, "--json"], { WINDROW_VIEWER_TOKEN: token });
    const { url, link } = JSON.parse(said) as { readonly url: string; readonly link: string };
    expect(link).toBe(`${url}/#token=${token}`);
    expect((await ask(url, token, `/api/sessions/${seedId}`)).status).toBe(200);
    await stop();
    const short = await windrow(["serve", "--no-open", "--store", store], { WINDROW_VIEWER_TOKEN: "short" });
    expect([short.status, short.stderr]).toEqual([2, expect.stringContaining("16 characters")]);
  });

  it("warns where other machines reach it", async () => {
    const store = await newFolder();
    await seedSession(store);
    const { said, warned, stop } = await serve(["--store", store, "--host", "0.0.0.0"]);
    expect(said).toMatch(/^http:\/\/0\.0\.0\.0:\d+\/#token=[\w-]{43}\n$/);
    expect(warned()).toContain("warning: other machines reach http://0.0.0.0:");
    await stop();
  });

  it("shows a user the own sessions alone, and puts what was read into the audit", async () => {
    const folder = await newFolder();
    const store = `${folder}/data`;
    const manager = await SessionManager.open({ store, user: "alice", audit: true });
    const { id } = await manager.create();
    await manager.close();
    const config = await put(folder, "windrow.config.yaml", "store: ./data\naudit: true\n");
    for (const [user, listed, status] of [
      ["alice", 1, 200],
      ["mallory", 0, 404],
    ] as const) {
      const { said, stop } = await serve(["--config", config, "--user", user, "--json"]);
      const { url, token } = JSON.parse(said) as { readonly url: string; readonly token: string };
      const page = (await (await ask(url, token, "/api/sessions")).json()) as { readonly sessions: readonly object[] };
      expect(page.sessions).toHaveLength(listed);
      expect((await ask(url, token, `/api/sessions/${id}`)).status).toBe(status);
      await stop();
    }
    const { entries } = await json<{ readonly entries: readonly AuditEntry[] }>(["audit", "--store", store]);
    const of = (who: string): readonly AuditEntry[] => entries.filter((entry) => entry.who === who);
    expect(of("alice").some(({ action, sessionId }) => action === "read" && sessionId === id)).toBe(true);
    expect(of("mallory").some(({ error, sessionId }) => error === "session-not-found" && sessionId === id)).toBe(true);
  });
});
