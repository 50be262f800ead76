/** Every way into a store, with a secret of every kind: none of them may be found in any byte of it afterwards. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { createMask, openStore } from "windrow/store";
import { scripted } from "windrow/testing";
import { newFolder } from "../kit/sessions.ts";
import { secretSamples, textOf, textsOf } from "./samples.ts";

const registered = "correct horse battery 9";
const address = "someone.private@mail.example.co.jp";
const canaries = [...Object.values(secretSamples).map(({ secret }) => secret), registered, address];
const everything = `${Object.values(secretSamples).map(textOf).join("\n")}\n${registered}\n${address}\n`;

it.each(["files", "sqlite"])("no canary reaches the disk, %s", async (kind) => {
  const folder = await newFolder();
  const target = kind === "files" ? folder : `sqlite:${join(folder, "store.db")}`;
  const mask = createMask({ email: true, values: { WIFI: registered }, seal: "k".repeat(16) + "0123456789abcdefghij" });
  const summarizer = scripted(Array.from({ length: 8 }, () => ({ text: `Summary. ${everything}` })));
  const manager = await SessionManager.open({
    store: await openStore(target, { mask }),
    strategy: "rolling-summary",
    summarizer,
    budget: 40_000,
    compaction: "blocking",
  });
  const config = { note: everything, [registered]: 1 };
  const session = await manager.create({ taskKey: { name: everything }, config });
  await session.append({ role: "system", parts: [{ type: "text", text: everything }] });
  await session.append({
    role: "user",
    parts: [
      { type: "text", text: everything },
      {
        type: "file",
        mediaType: "text/plain",
        name: `${registered}.txt`,
        url: `https://x.test/?q=${encodeURIComponent(registered)}`,
      },
    ],
    extra: { headers: everything },
    model: registered,
  });
  for (let step = 0; step < 6; step++) {
    const args = { command: everything, list: [{ [registered]: everything }] };
    const call = { callId: `c${step}`, name: "run", args };
    await session.append({
      role: "assistant",
      parts: [
        { type: "reasoning", text: everything },
        { type: "tool-call", ...call, argsText: everything },
      ],
    });
    const run = await session.startTool(call);
    await run.finish(step % 2 === 0 ? everything.repeat(80) : [{ type: "text", text: everything }], {
      isError: step === 3,
    });
    await session.compose({ system: everything, dynamic: everything });
    await session.endStep({ usage: { input: 10 }, model: registered });
  }
  await session.pin(everything);
  await session.goal.set(everything);
  await session.snapshot.update({ currentPhase: everything });
  await session.compact().catch(() => undefined);
  await session.compose({ dynamic: `changed ${everything}` });
  await manager.fork(session.id);
  await session.finish("failed", everything);
  await manager.close();

  const texts = await textsOf(folder);
  expect(
    texts.some((text) => text.includes("[WIFI]") && text.includes("[EMAIL]") && text.includes("[JSON_WEB_TOKEN]")),
  ).toBe(true);
  for (const canary of canaries) {
    for (const form of [canary, JSON.stringify(canary).slice(1, -1), encodeURIComponent(canary)]) {
      expect(texts.filter((text) => text.includes(form)).length, form.slice(0, 12)).toBe(0);
    }
  }
});
