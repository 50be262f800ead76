/** Sessions that an OpenTelemetry SDK in memory observes, on a clock that a test moves. */
import { rm } from "node:fs/promises";
import { context } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, beforeAll } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, NewMessage, Session } from "windrow";
import { telemetry } from "windrow/opentelemetry";
import type { TelemetryOptions } from "windrow/opentelemetry";
import { useContexts, sdk } from "./sdk.ts";
import type { Sdk } from "./sdk.ts";

export const model = "claude-sonnet-4-5";
export const usage = { input: 10_000, output: 500, cacheRead: 8_000, cacheWrite: 1_000 };
/** By the prices of the model: 3, 15, 0.3 and 3.75 dollars a million. */
export const dollars = (1_000 * 3 + 8_000 * 0.3 + 1_000 * 3.75 + 500 * 15) / 1e6;
export const secret = "the-word-that-nobody-may-read";

export const user: NewMessage = { role: "user", parts: [{ type: "text", text: secret }] };
export const answer: NewMessage = { role: "assistant", parts: [{ type: "text", text: secret }] };
export const call = { type: "tool-call", callId: "c1", name: "read", args: { path: secret } } as const;
export const asks: NewMessage = { role: "assistant", parts: [call] };

export const clock = { seconds: 0 };
/** A clock that a test moves. */
export const now = (): Date => new Date(Date.UTC(2026, 0, 1) + 1_000 * clock.seconds);
export const managers: SessionManager[] = [];
export const folders: string[] = [];

/** Options of a manager; a model that is undefined is none. */
export interface Given extends Omit<ManagerOptions, "model"> {
  readonly model?: string | undefined;
  readonly telemetry?: TelemetryOptions;
}

export async function open(seen: Sdk, given: Given = {}) {
  const { telemetry: options, ...rest } = given;
  const on = telemetry({ tracerProvider: seen.tracerProvider, meterProvider: seen.meterProvider, now, ...options });
  const { model: asked, ...others } = { store: "ram:", model, budget: 12_000, on, ...rest };
  const manager = await SessionManager.open({
    ...others,
    ...(asked !== undefined && { model: asked }),
  } as ManagerOptions);
  managers.push(manager);
  return manager;
}

export const named = (seen: Sdk, name: string): readonly ReadableSpan[] =>
  seen.spans().filter((span) => span.name === name);
export const only = (seen: Sdk, name: string): ReadableSpan => {
  const [span, ...others] = named(seen, name);
  const names = seen.spans().map((one) => one.name);
  if (!span || others.length > 0) throw new Error(`Spans: ${names.join(", ")}`);
  return span;
};
export const lasted = ({ duration: [whole, nano] }: ReadableSpan): number => whole + nano / 1e9;

/** A session that is observed, in which a user has said something. */
export async function begun(given: Given = {}) {
  const seen = sdk();
  const session = await (await open(seen, given)).create();
  await session.append(user);
  return { seen, session };
}

/** One step of an agent: a window, an answer after two seconds, a tool of three, the usage. */
export async function step(session: Session, withTool = true): Promise<void> {
  await session.compose();
  clock.seconds += 2;
  await session.append(withTool ? asks : answer);
  await session.endStep({ usage, model: `${model}-20250929` });
  if (!withTool) return;
  const run = await session.startTool(call);
  clock.seconds += 3;
  await run.finish(secret);
}

/** Registers the cleanup of managers and folders, and a context manager. */
export function useStage(): void {
  beforeAll(useContexts);
  afterAll(() => context.disable());
  afterEach(async () => {
    clock.seconds = 0;
    for (const manager of managers.splice(0)) await manager.close();
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });
}
