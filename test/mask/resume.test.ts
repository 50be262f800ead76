import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Composed, NewMessage, SessionEvent } from "windrow";
import { createMask, openStore } from "windrow/store";
import type { Mask } from "windrow/store";
import { openSession } from "../kit/sessions.ts";
import { secretSamples } from "./samples.ts";

const key = "0123456789abcdef0123456789abcdef-made-at-random";
const secret = secretSamples["github-token"]!.secret;
const other = secretSamples["openai-key"]!.secret;

const opened: NewMessage[] = [
  { role: "user", parts: [{ type: "text", text: `Use ${secret} to log in` }] },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: `The token is ${secret}`, signature: secret, opaque: { raw: secret } },
      { type: "tool-call", callId: "c1", name: "run", args: { command: `login ${secret}`, env: { [secret]: other } } },
    ],
  },
  {
    role: "tool",
    parts: [
      {
        type: "tool-result",
        callId: "c1",
        content: [{ type: "text", text: `ok ${other}, ${secret}\n`.repeat(5_000) }],
      },
    ],
  },
];
const later: NewMessage[] = [
  { role: "assistant", parts: [{ type: "text", text: `Logged in with ${secret}.` }] },
  { role: "user", parts: [{ type: "text", text: `Now ${other}` }] },
];

describe.each(["files", "sqlite"])("a masked session, %s", (kind) => {
  it("resumed with the key, composes the same window, by hash, and opens no epoch", async () => {
    const { target, id, before } = await written(kind, createMask({ seal: key }));
    expect(bytesOf(target)).not.toContain(secret);
    const { window, events, close } = await resumed(target, id, createMask({ seal: key }));
    expect(hashOf(window)).toBe(hashOf(before));
    expect(window.report.windowHash).toBe(before.report.windowHash);
    expect(window.report.opened).toBeUndefined();
    expect(events.filter(({ type }) => type === "epoch-opened")).toEqual([]);
    await close();
  });

  it.each([
    ["without the key", undefined],
    ["with another key", `${key}2`],
  ])("resumed %s, is masked, opens an epoch once, and gives no tool a placeholder for a value", async (_how, seal) => {
    const { target, id } = await written(kind, createMask({ seal: key }));
    const mask = createMask(seal === undefined ? {} : { seal });
    const { session, window, events, close } = await resumed(target, id, mask);
    expect(shownText(window)).not.toContain(secret);
    expect(window.messages.at(-1)?.masks).toMatchObject([{ kind: "openai-key", placeholder: "[OPENAI_KEY]" }]);
    expect(window.report.opened?.reason).toBe("history-changed");
    expect((await session.compose()).report.opened).toBeUndefined();

    const call = { callId: "c2", name: "run", args: { command: "login [GITHUB_TOKEN]" } };
    await expect(session.startTool(call)).rejects.toMatchObject({
      code: "masked-value",
      data: { callId: "c2", toolName: "run", placeholders: ["[GITHUB_TOKEN]"] },
    });
    expect(events.map(({ type }) => type)).toContain("call-masked");
    expect(events.map(({ type }) => type)).not.toContain("tool-started");
    expect(await session.inDoubt()).toEqual([]);
    const run = await session.startTool(call, { allowMasks: true });
    await run.finish("done");
    await (await session.startTool({ name: "run", args: { command: "echo [EMAIL]" } })).finish("done");
    await close();

    const again = await resumed(target, id, mask);
    expect(again.window.report.opened).toBeUndefined();
    await again.close();
  });
});

it("what is masked alike is flagged alike, and a placeholder somebody typed is not flagged", async () => {
  const store = await openStore("ram:", { mask: createMask({ seal: key }) });
  const session = await openSession({ store, budget: 100_000 });
  for (const text of [`a ${secret}`, `b ${secret} and ${other}`, "[GITHUB_TOKEN]"]) {
    await session.append({ role: "user", parts: [{ type: "text", text }] });
  }
  const messages = [];
  for await (const message of session.messages()) messages.push(message);
  const [first, second, third] = messages.map(({ masks }) => masks ?? []);
  expect(first).toEqual([
    { kind: "github-token", placeholder: "[GITHUB_TOKEN]", fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) },
  ]);
  expect(second?.[0]).toEqual(first?.[0]);
  expect(second?.[1]?.fingerprint).not.toBe(first?.[0]?.fingerprint);
  expect(third).toEqual([]);
});

it("with liveMask the model never sees a secret, and a resume composes the same bytes", async () => {
  const { target, id, before } = await written("files", createMask({ liveMask: true }));
  expect(shownText(before)).not.toContain(secret);
  const { window, close } = await resumed(target, id, createMask({ liveMask: true }));
  expect(window.report.windowHash).toBe(before.report.windowHash);
  await close();
});

async function written(kind: string, mask: Mask): Promise<{ target: string; id: string; before: Composed }> {
  const folder = mkdtempSync(join(tmpdir(), "windrow-mask-"));
  const target = kind === "files" ? folder : `sqlite:${join(folder, "store.db")}`;
  const manager = await SessionManager.open({ store: await openStore(target, { mask }), budget: 200_000 });
  const session = await manager.create();
  for (const message of opened) await session.append(message);
  await session.compose();
  for (const message of later) await session.append(message);
  const before = await session.compose();
  expect(before.report.opened).toBeUndefined();
  await manager.close();
  return { target, id: session.id, before };
}

async function resumed(target: string, id: string, mask: Mask) {
  const events: SessionEvent[] = [];
  const store = await openStore(target, { mask });
  const manager = await SessionManager.open({ store, budget: 200_000, on: (event) => events.push(event) });
  const session = await manager.resume(id);
  return { session, window: await session.compose(), events, close: () => manager.close() };
}

/** All that a window shows but the bytes that must stay exact. */
function shownText({ messages }: Composed): string {
  return JSON.stringify(messages, (name, value: unknown) =>
    name === "signature" || name === "opaque" ? undefined : value,
  );
}

/** Of what a provider is sent. */
function hashOf({ messages }: Composed): string {
  const sent = messages.map(({ role, parts }) => ({ role, parts }));
  return createHash("sha256").update(JSON.stringify(sent)).digest("hex");
}

/** Every byte of a store but those that must stay exact. */
function bytesOf(target: string): string {
  const folder = target.startsWith("sqlite:") ? join(target.slice(7), "..") : target;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n")
    .replaceAll(/"signature":"[^"]*"|"opaque":\{[^}]*\}/g, "");
}
