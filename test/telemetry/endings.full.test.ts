/** Model calls and tools that end otherwise, go on in another process, or run beside others. */
import { randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpanStatusCode, context, trace } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { telemetry } from "windrow/opentelemetry";
import { openStore } from "windrow/store";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import { sdk } from "./sdk.ts";
import {
  answer,
  asks,
  begun,
  call,
  clock,
  folders,
  lasted,
  managers,
  model,
  named,
  now,
  only,
  open,
  step,
  usage,
  user,
  useStage,
} from "./stage.ts";

useStage();

describe("calls without an end", () => {
  it("end with an error where the session ends first", async () => {
    const { seen, session } = await begun();
    await session.append(asks);
    await session.compose();
    await session.finish("failed", "the provider did not answer");
    const chat = only(seen, `chat ${model}`);
    expect(chat.status.code).toBe(SpanStatusCode.ERROR);
    expect(chat.attributes["error.type"]).toBe("session-failed");
    expect(await seen.points("gen_ai.client.operation.duration")).toMatchObject([
      { attributes: { "error.type": "session-failed" }, count: 1 },
    ]);
    expect(await seen.sum("windrow.sessions", { "windrow.session.status": "failed" })).toBe(1);
  });

  it("end with an error where the session is closed first, tools too", async () => {
    const { seen, session } = await begun();
    await session.compose();
    await session.startTool(call);
    await session.close();
    expect(only(seen, "execute_tool read").attributes["error.type"]).toBe("session-closed");
    // The tool was asked for, so the model had answered.
    expect(only(seen, `chat ${model}`).status.code).toBe(SpanStatusCode.UNSET);
    expect(await seen.names()).not.toContain("windrow.sessions");
  });

  it("end at their answer where a host tells no usage", async () => {
    const { seen, session } = await begun();
    await session.compose();
    clock.seconds += 4;
    await session.append(answer);
    clock.seconds += 60;
    await session.append(user);
    await session.compose();
    const chat = only(seen, `chat ${model}`);
    expect(lasted(chat)).toBe(4);
    expect(chat.attributes).not.toHaveProperty("windrow.window.superseded");
    expect(await seen.points("gen_ai.client.operation.duration")).toMatchObject([{ count: 1, value: 4 }]);
  });

  it("are marked where another window was composed without an answer, and are not timed", async () => {
    const { seen, session } = await begun();
    await session.compose();
    await session.compose();
    const chat = only(seen, `chat ${model}`);
    expect(chat.attributes["windrow.window.superseded"]).toBe(true);
    expect(chat.status.code).toBe(SpanStatusCode.UNSET);
    expect(await seen.names()).not.toContain("gen_ai.client.operation.duration");
  });
});

describe("a session that goes on", () => {
  async function folder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), "windrow-telemetry-"));
    folders.push(made);
    return made;
  }

  it("after its process was killed has spans of its own, and counts on", { timeout: 60_000 }, async () => {
    const seen = sdk();
    const store = await folder();
    const id = randomUUID();
    const child = startChild("test/session/child/deployer.mjs", [dist, store, id]);
    await child.until((lines) => lines.includes("waiting"));
    await child.kill();
    const session = await (await open(seen, { store })).resume(id);
    await step(session, false);
    await session.finish("completed");
    expect(seen.spans().map(({ name }) => name)).toEqual([`chat ${model}`]);
    expect(only(seen, `chat ${model}`).attributes).toMatchObject({ "gen_ai.conversation.id": id, "windrow.call": 1 });
    expect(await seen.sum("windrow.sessions.opened", { "windrow.session.resumed": true })).toBe(1);
    expect(await seen.sum("windrow.sessions", { "windrow.session.status": "completed" })).toBe(1);
  });

  it("under another manager, which took its lock, ends what the first one left open", async () => {
    const seen = sdk();
    const on = telemetry({ tracerProvider: seen.tracerProvider, meterProvider: seen.meterProvider, now });
    const store = await folder();
    const first = await open(seen, { store, on });
    const session = await first.create();
    await session.append([user, asks]);
    await session.compose();
    const files = await openStore(store);
    await files.holding.unlock({}, session.id, { force: true, reason: "it hangs" });
    const resumed = await (await open(seen, { store, on })).resume(session.id);
    expect(only(seen, `chat ${model}`).attributes["error.type"]).toBe("session-resumed");
    await resumed.compose();
    managers.splice(managers.indexOf(first), 1);
    await first.close();
    await resumed.append(answer);
    await resumed.endStep({ usage });
    expect(named(seen, `chat ${model}`).map(({ status }) => status.code)).toEqual([
      SpanStatusCode.ERROR,
      SpanStatusCode.UNSET,
    ]);
    await files.close();
  });
});

it("keeps sessions apart that run at once", async () => {
  const seen = sdk();
  const manager = await open(seen);
  const sessions = await Promise.all(Array.from({ length: 8 }, () => manager.create()));
  await Promise.all(
    sessions.map(async (session, index) => {
      await session.append(user);
      await session.compose();
      const run = await session.startTool({ ...call, callId: "same" });
      await Promise.all([run.finish("done"), session.endStep({ usage: { input: 100 + index, output: 1 } })]);
      await session.finish("completed");
    }),
  );
  for (const [index, session] of sessions.entries()) {
    const own = seen.spans().filter(({ attributes }) => attributes["gen_ai.conversation.id"] === session.id);
    const [chat, tool] = ["chat", "execute_tool"].map((name) => own.find((span) => span.name.startsWith(name)));
    expect(own).toHaveLength(2);
    expect(chat?.attributes["gen_ai.usage.input_tokens"]).toBe(100 + index);
    expect(tool?.parentSpanContext?.spanId).toBe(chat?.spanContext().spanId);
  }
  expect(new Set(seen.spans().map((span) => span.spanContext().traceId)).size).toBe(8);
});

it("makes its spans children of the active one", async () => {
  const seen = sdk();
  const manager = await open(seen);
  const tracer = seen.tracerProvider.getTracer("test");
  const run = async (name: string): Promise<void> => {
    const span = tracer.startSpan(name);
    await context.with(trace.setSpan(context.active(), span), async () => {
      const session = await manager.create();
      await session.append(user);
      await step(session);
    });
    span.end();
  };
  await Promise.all([run("one"), run("two")]);
  for (const name of ["one", "two"]) {
    const { spanId } = only(seen, name).spanContext();
    const children = seen.spans().filter((span) => span.parentSpanContext?.spanId === spanId);
    expect(children.map((span) => span.name).toSorted()).toEqual([`chat ${model}`, "execute_tool read"]);
  }
});
