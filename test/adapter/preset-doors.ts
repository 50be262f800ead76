/** Every door that takes a strategy: the window that it makes of some messages, and what it tells of it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { composeWindow, SessionManager } from "windrow";
import type { ManagerOptions, Message } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { toChat } from "windrow/chat";
import type { Model } from "windrow/model";
import { openContextManager } from "windrow/openstarry";
import type { StrategyChoice } from "windrow/window";
import { windrow } from "../cli/stage.ts";
import { load, testedHosts } from "./hosts.ts";

export const folder = mkdtempSync(join(tmpdir(), "windrow-presets-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a door is given. */
export interface Given {
  readonly strategy: StrategyChoice;
  readonly model: string | { readonly contextWindow: number; readonly maxOutput: number };
  readonly messages: readonly Message[];
  readonly summarizer?: Model;
}

/** The figures of a window, and the window. */
export interface Made {
  readonly report?: {
    readonly budget: number | null;
    readonly counter: string;
    readonly tokens: number;
    /** Some hosts count the recall tool that they add. */
    readonly blocks?: { readonly tools: number };
  };
  readonly messages: unknown;
}

export type Door = (given: Given) => Made | Promise<Made>;

/** The options of a manager, whose summaries are made at once. */
const managed = ({ messages: _messages, ...given }: Given): ManagerOptions => ({
  ...{ store: "ram:", compaction: "blocking", ...given },
});

async function ofSession(options: ManagerOptions, { messages }: Given): Promise<Made> {
  const manager = await SessionManager.open(options);
  const session = await manager.create();
  for (const message of messages) await session.append(message);
  await session.prepare();
  const window = await session.compose();
  await manager.close();
  return window;
}

async function told(make: (on: (event: AdapterEvent) => void) => Promise<unknown>): Promise<Made> {
  const events: AdapterEvent[] = [];
  const messages = await make((event) => void events.push(event));
  const [event] = events;
  if (event?.type === "adapter-failed") throw event.error;
  return { messages, ...(event?.type === "window-sent" && { report: event.report }) };
}

export async function output(args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await windrow(args);
  if (stderr !== "") throw new Error(stderr);
  return stdout;
}

/** A session of the messages on disk. */
export async function stored(given: Given): Promise<readonly [id: string, option: string, store: string]> {
  const store = mkdtempSync(join(folder, "store-"));
  const manager = await SessionManager.open({ ...managed(given), store });
  const session = await manager.create();
  for (const message of given.messages) await session.append(message);
  await manager.close();
  return [session.id, "--store", store];
}

/** The doors that make windows from a log, and so make summaries. */
export const sessionDoors: Readonly<Record<string, Door>> = {
  "SessionManager": (given) => ofSession(managed(given), given),
  "a configuration file": (given) => {
    const { summarizer, ...options } = managed(given);
    const config = join(folder, "windrow.config.json");
    writeFileSync(config, JSON.stringify(options));
    return ofSession({ config, ...(summarizer && { summarizer }) }, given);
  },
  ...Object.fromEntries(
    testedHosts.flatMap((host): (readonly [string, Door])[] => {
      if (host.profile === undefined || host.name.includes("cleared")) return [];
      const door: Door = async (given) => {
        const manager = await SessionManager.open({ ...managed(given), profile: host.profile! });
        const session = await manager.create();
        const made = await told(async (on) => (await host.open(load, { session, on }, manager)).send(given.messages));
        await manager.close();
        return made;
      };
      return [[`${host.name}, over a session`, door]];
    }),
  ),
  "OpenStarry, by its plugin.json": async (given) => {
    const { strategy, ...rest } = managed(given);
    const { use: pluginId, ...config } = strategy as StrategyChoice;
    const contextStrategy = { type: "plugin", pluginId, config };
    const { context, manager } = await openContextManager({ contextStrategy }, rest);
    const payload = await context.composePayload("", toChat(given.messages), []);
    await manager.close();
    return payload;
  },
};

/** The doors that make windows of messages alone. */
export const windowDoors: Readonly<Record<string, Door>> = {
  "composeWindow": ({ messages, model, strategy }) => composeWindow({ messages, model, strategy }),
  ...Object.fromEntries(
    testedHosts.flatMap((host): (readonly [string, Door])[] => {
      if (!host.isFree && !["pi", "adk"].includes(host.name)) return [];
      const door: Door = ({ messages, strategy, model }) =>
        told(async (on) => (await host.open(load, { strategy, model, on })).send(messages));
      return [[`${host.name}, windows alone`, door]];
    }),
  ),
  "the command line, of a file": async ({ messages, strategy, model }) => {
    const file = join(folder, "chat.jsonl");
    writeFileSync(
      file,
      toChat(messages)
        .map((message) => JSON.stringify(message))
        .join("\n"),
    );
    const size = typeof model === "string" ? ["--model", model] : ["--budget", "4500"];
    return JSON.parse(
      await output(["compose", file, "--strategy", JSON.stringify(strategy), ...size, "--json"]),
    ) as Made;
  },
  "the command line, of a session": async (given) =>
    JSON.parse(await output(["compose", ...(await stored(given)), "--json"])) as Made,
};
