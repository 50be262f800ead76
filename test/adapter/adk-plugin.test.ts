/** The plug-in and the session service over objects of ADK's shape: the same call twice, and masks on the way to disk. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { ContextManagementPlugin, ContextManager, createSessionService } from "windrow/adk";
import { fromContents } from "windrow/gemini";
import { estimate } from "windrow/testing";
import type { AdkEvent, AdkRequest, AdkSession } from "../kit/inside/adapter.ts";
import { countMessage } from "../kit/inside/tokens.ts";
import { listed } from "../kit/sessions.ts";

const folder = mkdtempSync(join(tmpdir(), "windrow-adk-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What is used of ADK's base class. */
class BaseService {
  async appendEvent({ session, event }: { session: AdkSession; event: AdkEvent }): Promise<AdkEvent> {
    session.events.push(event);
    return event;
  }
  async getOrCreateSession(): Promise<AdkSession> {
    throw new Error("not used");
  }
}

interface Service extends BaseService {
  createSession(request: { appName: string; userId: string; sessionId?: string }): Promise<AdkSession>;
  getSession(request: { appName: string; userId: string; sessionId: string }): Promise<AdkSession | undefined>;
}

const key = { appName: "app", userId: "me", sessionId: "any text" };
const event = (at: number, role: string, part: object): AdkEvent => ({
  id: `e${at}`,
  timestamp: 1_700_000_000_000 + at,
  author: role,
  content: { role, parts: [part] },
});

const history: readonly AdkEvent[] = [
  event(1, "user", { text: "Why is it slow?" }),
  ...Array.from({ length: 30 }, (_, at): readonly AdkEvent[] => {
    const id = `adk-${at}`;
    const said = { result: `line ${at} took ${at * 7} ms\n`.repeat(30) };
    return [
      event(2 + 2 * at, "model", { functionCall: { id, name: "read", args: { at } }, thoughtSignature: "c2ln" }),
      event(3 + 2 * at, "user", { functionResponse: { id, name: "read", response: said } }),
    ];
  }).flat(),
];

/** A request as ADK makes it: copies, without the ids that ADK made. */
function requestOf(events: readonly AdkEvent[]): AdkRequest {
  const text = JSON.stringify(events.map(({ content }) => content)).replaceAll(/"id":"adk-\d+",/g, "");
  return { model: "gemini-3-pro", contents: JSON.parse(text) as AdkRequest["contents"] };
}

function sessionOf(events: readonly AdkEvent[]): AdkSession {
  const { appName, userId, sessionId: id } = key;
  return { id, appName, userId, state: {}, events: [...events], lastUpdateTime: 0 };
}

describe("ContextManagementPlugin", () => {
  it("hands every event to its contextManager once, over several runs on one session", async () => {
    const contextManager = new ContextManager();
    const plugin = new ContextManagementPlugin({ contextManager });
    const counts: number[] = [];
    const events: AdkEvent[] = [];
    for (const [run, said] of ["one", "two", "three"].entries()) {
      events.push(event(10 * run + 1, "user", { text: said }));
      // ADK hands out a clone of the session in every run.
      const invocationContext = { session: structuredClone(sessionOf(events)) };
      await plugin.beforeRunCallback({ invocationContext });
      const parts =
        run === 0
          ? [
              { functionCall: { name: "read", args: {} } },
              { functionResponse: { name: "read", response: { success: false } } },
              { text: `answer to ${said}` },
            ]
          : [{ text: `answer to ${said}` }];
      for (const [at, part] of parts.entries()) {
        const made = event(10 * run + 2 + at, "functionResponse" in part ? "user" : "model", part);
        await plugin.onEventCallback({ invocationContext, event: made });
        invocationContext.session.events.push(structuredClone(made));
        events.push(made);
      }
      counts.push(contextManager.getStats().messageCount);
    }
    expect(counts).toEqual([4, 6, 8]);
    expect(contextManager.consecutiveFailures).toBe(1);
    const other = { session: { ...sessionOf(events.slice(0, 1)), id: "another session" } };
    await plugin.beforeRunCallback({ invocationContext: other });
    expect(contextManager.getStats().messageCount).toBe(9);
  });

  it("counts what stands behind the history, and sends it as it is", async () => {
    const manager = await SessionManager.open({ store: "ram:", profile: "gemini", budget: 4_000 });
    const plugin = new ContextManagementPlugin({ manager });
    const callbackContext = { invocationContext: { session: sessionOf(history) } };
    const artifact = { role: "user", parts: [{ text: `Artifact: ${"word ".repeat(1_000)}` }] };
    const llmRequest = requestOf(history);
    llmRequest.contents.push(artifact);
    await plugin.beforeModelCallback({ callbackContext, llmRequest });
    assert.equal(llmRequest.contents.at(-1), artifact);
    assert(!JSON.stringify(llmRequest).includes("adk-"), "an id of ADK's own went out");
    const tokens = fromContents(llmRequest.contents).map((message) => countMessage(estimate, message));
    const sum = tokens.reduce((total, one) => total + one, 0);
    assert(sum <= 4_000 && (tokens.at(-1) ?? 0) > 900, `${sum}`);
  });
});

describe("createSessionService", () => {
  it("masks secrets on their way to disk, and keeps them for the running process", async () => {
    const manager = await SessionManager.open({ store: folder });
    const service = createSessionService(BaseService, manager) as Service;
    const session = await service.createSession(key);
    const secret = ["ghp", "R7k2Xw9QbL4mZt8VcN1pHs6YdJ3fGa5UeT0o"].join("_");
    await service.appendEvent({ session, event: event(1, "user", { text: `Use ${secret}` }) });
    expect(JSON.stringify((await service.getSession(key))?.events)).toContain(secret);
    await manager.close();
    const log = readFileSync(join(folder, "running", await onlyId(), "messages.jsonl"), "utf8");
    expect(log).toContain("Use ");
    expect(log).not.toContain(secret);
  });

  async function onlyId(): Promise<string> {
    const manager = await SessionManager.open({ store: folder });
    const [only, ...others] = await listed(manager.list());
    await manager.close();
    assert.equal(others.length, 0);
    return only?.metadata.uuid ?? "";
  }

  it("keeps apart what the same id means in two apps", async () => {
    const manager = await SessionManager.open({ store: "ram:" });
    const service = createSessionService(BaseService, manager) as Service;
    const sessionId = "6a1d2f0e-5b1c-4a57-9d4e-0c2f6a7b8c9d";
    for (const appName of ["one", "two"]) {
      const session = await service.createSession({ ...key, appName, sessionId });
      await service.appendEvent({ session, event: event(1, "user", { text: appName }) });
    }
    for (const appName of ["one", "two"]) {
      const found = await service.getSession({ ...key, appName, sessionId });
      expect(found?.events.map(({ content }) => content)).toEqual([{ role: "user", parts: [{ text: appName }] }]);
    }
    expect(await service.getSession({ ...key, appName: "three", sessionId })).toBeUndefined();
  });
});
