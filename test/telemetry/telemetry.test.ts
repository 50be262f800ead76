import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { SessionManager, WindrowError } from "windrow";
import type { SessionEvent } from "windrow";
import { telemetry } from "windrow/opentelemetry";
import type { TelemetryOptions } from "windrow/opentelemetry";
import { sdk } from "./sdk.ts";
import {
  answer,
  asks,
  begun,
  call,
  clock,
  dollars,
  lasted,
  managers,
  model,
  named,
  only,
  open,
  secret,
  step,
  usage,
  user,
  useStage,
} from "./stage.ts";

useStage();

describe("a session with calls and tools", () => {
  it("has a span for each model call, with its window, tokens and cost", async () => {
    const { seen, session } = await begun();
    await step(session);
    const span = only(seen, `chat ${model}`);
    expect(span.kind).toBe(SpanKind.CLIENT);
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(lasted(span)).toBe(2);
    const { tokens, budget } = { tokens: session.stats().state.currentContextTokens, budget: 12_000 };
    expect(span.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.conversation.id": session.id,
      "gen_ai.request.model": model,
      "gen_ai.response.model": `${model}-20250929`,
      "gen_ai.usage.input_tokens": 10_000,
      "gen_ai.usage.output_tokens": 500,
      "gen_ai.usage.cache_read.input_tokens": 8_000,
      "gen_ai.usage.cache_creation.input_tokens": 1_000,
      "windrow.cache.share": 0.8,
      "windrow.call": 1,
      "windrow.window.tokens": tokens,
      "windrow.window.budget": budget,
      "windrow.window.messages": 1,
      "windrow.epoch": 0,
      "windrow.strategy": "adaptive",
    });
    expect(span.attributes["windrow.cost"]).toBeCloseTo(dollars, 10);
    const [compose] = span.events;
    expect(compose?.name).toBe("windrow.compose");
    expect(compose?.attributes).toMatchObject({ "windrow.window.tokens": tokens, "windrow.messages.kept": 1 });
  });

  it("has a span for each tool run, that belongs to the call that asked for it", async () => {
    const { seen, session } = await begun();
    await step(session);
    const chat = only(seen, `chat ${model}`);
    const tool = only(seen, "execute_tool read");
    expect(tool.kind).toBe(SpanKind.INTERNAL);
    expect(lasted(tool)).toBe(3);
    expect(tool.parentSpanContext?.spanId).toBe(chat.spanContext().spanId);
    expect(tool.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "read",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.conversation.id": session.id,
    });
    expect(tool.status.code).toBe(SpanStatusCode.UNSET);
  });

  it("marks a tool that failed", async () => {
    const { seen, session } = await begun();
    await session.append(asks);
    await (await session.startTool(call)).finish("no such file", { isError: true });
    const tool = only(seen, "execute_tool read");
    expect(tool.status.code).toBe(SpanStatusCode.ERROR);
    expect(tool.attributes["error.type"]).toBe("tool-error");
    expect(await seen.points("gen_ai.execute_tool.duration")).toMatchObject([
      { attributes: { "gen_ai.tool.name": "read", "error.type": "tool-error" }, count: 1 },
    ]);
  });

  it("measures tokens, cache, cost, time, messages and ends", async () => {
    const { seen, session } = await begun();
    await step(session);
    await step(session, false);
    await session.finish("completed");
    expect(await seen.sum("gen_ai.client.token.usage", { "gen_ai.token.type": "input" })).toBe(20_000);
    expect(await seen.sum("gen_ai.client.token.usage", { "gen_ai.token.type": "output" })).toBe(1_000);
    expect(await seen.sum("windrow.cache.read.tokens")).toBe(16_000);
    expect(await seen.sum("windrow.cache.write.tokens")).toBe(2_000);
    expect(await seen.sum("windrow.cost")).toBeCloseTo(2 * dollars, 10);
    expect(await seen.points("gen_ai.client.operation.duration")).toMatchObject([
      { attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": model }, count: 2, value: 4 },
    ]);
    expect(await seen.points("gen_ai.execute_tool.duration")).toMatchObject([{ count: 1 }]);
    expect(await seen.points("windrow.window.tokens")).toMatchObject([{ count: 2 }]);
    expect(await seen.sum("windrow.messages", { "windrow.message.role": "assistant" })).toBe(2);
    expect(await seen.sum("windrow.messages", { "windrow.message.role": "tool" })).toBe(1);
    expect(await seen.sum("windrow.sessions.opened", { "windrow.session.resumed": false })).toBe(1);
    expect(await seen.points("windrow.sessions")).toMatchObject([
      { attributes: { "windrow.session.status": "completed" }, value: 1 },
    ]);
  });

  it("has ids and numbers, and no text of messages, arguments, results or errors", async () => {
    const seen = sdk();
    const session = await (await open(seen)).create({ taskKey: { subject: secret } });
    await session.append(user);
    await step(session);
    await session.compose({ system: secret });
    await session.finish("failed", secret);
    const told = seen.spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    const measured = await Promise.all((await seen.names()).map((name) => seen.points(name)));
    expect(told.length).toBeGreaterThan(2);
    expect(JSON.stringify([told, measured])).not.toContain(secret);
    // A session's id is in spans alone: in a metric it would be a series for each session.
    expect(JSON.stringify(measured)).not.toContain(session.id);
  });
});

describe("epochs and summaries", () => {
  it("are events of the call, and counted by reason", async () => {
    const seen = sdk();
    const session = await (await open(seen, { budget: 2_000 })).create();
    for (let turn = 0; turn < 12; turn++) {
      await session.append({ role: "user", parts: [{ type: "text", text: `${turn} ${"word ".repeat(300)}` }] });
      await session.compose();
      await session.append(answer);
      await session.endStep({ usage: { input: 10 } });
    }
    const { epoch } = session.stats();
    expect(epoch).toBeGreaterThan(1);
    const events = named(seen, `chat ${model}`).flatMap((span) => span.events);
    const opened = events.filter(({ name }) => name === "windrow.epoch");
    expect(opened.map(({ attributes }) => attributes?.["windrow.epoch"])).toEqual(
      Array.from({ length: epoch }, (_, index) => index + 1),
    );
    const last = opened.at(-1)?.attributes ?? {};
    expect(last["windrow.epoch.tokens_after"]).toBeLessThan(Number(last["windrow.epoch.tokens_before"]));
    expect(last["windrow.epoch.edits"]).toBeGreaterThan(0);
    expect(await seen.sum("windrow.epochs")).toBe(epoch);
    expect(await seen.sum("windrow.epochs", { "windrow.epoch.reason": last["windrow.epoch.reason"] as string })).toBe(
      opened.filter(({ attributes }) => attributes?.["windrow.epoch.reason"] === last["windrow.epoch.reason"]).length,
    );
    await session.undo();
    expect(await seen.sum("windrow.epochs", { "windrow.epoch.reason": "undo" })).toBe(1);
  });

  it.each([
    [
      "committed",
      async () => ({ text: "Facts.", finish: "stop", usage: { input: 700, output: 30 }, model }) as const,
      730,
    ],
    ["failed", async () => Promise.reject(new Error(secret)), 0],
  ])("count summaries that %s, and what their models used", async (outcome, summarizer, used) => {
    const { seen, session } = await begun({ summarizer });
    for (let turn = 0; turn < 30; turn++) await session.append(turn % 2 === 0 ? answer : user);
    await session.compact().catch(() => undefined);
    const summaries = await seen.points("windrow.summaries");
    expect(summaries).toMatchObject([{ attributes: { "windrow.summary.outcome": outcome }, value: 1 }]);
    expect(JSON.stringify(summaries)).not.toContain(secret);
    expect(await seen.sum("windrow.epochs", { "windrow.epoch.reason": "summary" })).toBe(used > 0 ? 1 : 0);
    expect(await seen.sum("gen_ai.client.token.usage", { "windrow.purpose": "summary" })).toBe(used);
  });
});

describe("beside others", () => {
  it("hands every event to another listener, and goes on where that throws", async () => {
    const seen = sdk();
    const heard: string[] = [];
    const on = (event: SessionEvent): never => {
      heard.push(event.type);
      throw new Error("a listener of the user's");
    };
    const session = await (await open(seen, { telemetry: { on } })).create();
    await session.append(user);
    await step(session, false);
    const turn = ["message-appended", "window-composed", "message-appended", "usage-recorded"];
    expect(heard).toEqual(["session-opened", ...turn]);
    expect(named(seen, `chat ${model}`)).toHaveLength(1);
  });

  it("breaks no session where a provider throws", async () => {
    const startSpan = (): never => {
      throw new Error("no spans today");
    };
    const broken = { getTracer: () => ({ startSpan }) };
    const options = { tracerProvider: broken as unknown as NonNullable<TelemetryOptions["tracerProvider"]> };
    const { session } = await begun({ telemetry: options });
    await step(session);
    expect(session.stats().state).toMatchObject({ llmCallCount: 1, toolCallCount: 1 });
  });

  it("leaves out a view of a session that is written", async () => {
    const seen = sdk();
    const manager = await open(seen);
    const session = await manager.create();
    await session.append(user);
    await session.compose();
    const view = await manager.resume(session.id, { readOnly: true });
    await view.compose();
    await view.close();
    clock.seconds += 2;
    await session.append(answer);
    await session.endStep({ usage });
    expect(lasted(only(seen, `chat ${model}`))).toBe(2);
    expect(await seen.sum("windrow.sessions.opened")).toBe(1);
  });
});

describe("options", () => {
  it("name the model, its provider and its prices, and add attributes", async () => {
    const seen = sdk();
    const prices = { "house-model": { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } };
    const attributes = { "gen_ai.agent.name": "mender" };
    const options = { model: "house-model", provider: "house", prices, attributes };
    const manager = await SessionManager.open({
      store: "ram:",
      budget: 12_000,
      on: telemetry({ tracerProvider: seen.tracerProvider, meterProvider: seen.meterProvider, ...options }),
    });
    managers.push(manager);
    const session = await manager.create();
    await session.append(user);
    await session.compose();
    await session.endStep({ usage: { input: 1e6, output: 5e5, cacheWrite: 5e5, cacheWriteHour: 2.5e5 } });
    const chat = only(seen, "chat house-model");
    expect(chat.attributes).toMatchObject({ ...attributes, "gen_ai.provider.name": "house", "windrow.cost": 2 });
    expect(await seen.sum("windrow.cost", attributes)).toBe(2);
  });

  it("may leave the model to `endStep`; one without a price costs nothing that is told", async () => {
    const { seen, session } = await begun({ model: undefined, profile: "anthropic/in-place" });
    await session.compose();
    await session.endStep({ usage: { input: 10, output: 1 }, model: "nobody-knows-it" });
    const chat = only(seen, "chat nobody-knows-it");
    expect(chat.attributes["gen_ai.request.model"]).toBe("nobody-knows-it");
    expect(chat.attributes["gen_ai.provider.name"]).toBe("anthropic");
    expect(chat.attributes).not.toHaveProperty("windrow.cost");
    expect(await seen.names()).not.toContain("windrow.cost");
  });

  it.each([{ tracerProvider: {} }, { now: 1 }, { tracerprovider: {} }])("are checked: %j", (options) => {
    const refused = expect.objectContaining({ code: "bad-option" }) as Error;
    expect(() => telemetry(options as TelemetryOptions)).toThrow(refused);
  });

  it("default to the global providers, which without an SDK do nothing", async () => {
    const manager = await SessionManager.open({ store: "ram:", budget: 12_000, on: telemetry() });
    managers.push(manager);
    const session = await manager.create();
    await session.append(user);
    await step(session);
    expect(session.stats().state.llmCallCount).toBe(1);
  });
});

it("counts writes that the store refuses, by code", async () => {
  const seen = sdk();
  const on = telemetry({ tracerProvider: seen.tracerProvider, meterProvider: seen.meterProvider });
  on({ type: "append-failed", sessionId: "s", error: new WindrowError("not-durable", secret) });
  expect(await seen.points("windrow.store.failures")).toEqual([
    { attributes: { "error.type": "not-durable" }, value: 1 },
  ]);
});
