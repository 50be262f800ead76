/**
 * Requests of windows over odd histories, held to what the providers' public pages say. The checkers of this folder share
 * no code and no words with src/window/provider/, whose `validateWindow` they do not trust.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { composeWindow, isWindrowError, SessionManager } from "windrow";
import type { Composed, Message, WindowState } from "windrow";
import { fromAnthropic, toAnthropic } from "windrow/anthropic";
import { fromChat, toChat } from "windrow/chat";
import { fromContents, toContents } from "windrow/gemini";
import { fromResponses, toResponses } from "windrow/responses";
import { faults as anthropicFaults } from "./anthropic.ts";
import { faults as geminiFaults } from "./gemini.ts";
import { faults as mistralFaults } from "./mistral.ts";
import { happenings, messagesOf } from "./odd-histories.ts";
import type { Happening } from "./odd-histories.ts";
import { anthropicOf, chatOf, geminiOf, responsesOf } from "./odd-wires.ts";
import { faults as chatFaults } from "./openai-chat.ts";
import { faults as responsesFaults } from "./openai-responses.ts";
import { ruleOf } from "./request.ts";
import { runs, seed } from "../kit/runs.ts";

const timeout = 3_600_000;

/** Tokens: less than most long histories, some of one, and all of them. */
const budgets = [1_200, 6_000, 200_000];
const system = "You mend builds.";

const providers = [
  { profile: "anthropic", faultsOf: (window: readonly Message[]) => anthropicFaults(toAnthropic(window)) },
  { profile: "openai-chat", faultsOf: (window: readonly Message[]) => chatFaults({ messages: toChat(window) }) },
  { profile: "openai-responses", faultsOf: (window: readonly Message[]) => responsesFaults(toResponses(window)) },
  { profile: "gemini", faultsOf: (window: readonly Message[]) => geminiFaults(toContents(window)) },
  { profile: "mistral", faultsOf: (window: readonly Message[]) => mistralFaults({ messages: toChat(window) }) },
];

/** Histories as Windrow keeps them, as the doors read them from hosts, and as a store gives them back. */
const sources: Readonly<Record<string, (given: readonly Happening[]) => readonly Message[]>> = {
  neutral: messagesOf,
  anthropic: (given) => fromAnthropic(anthropicOf(given)),
  chat: (given) => fromChat(chatOf(given)),
  responses: (given) => fromResponses(responsesOf(given)),
  gemini: (given) => fromContents(geminiOf(given)),
};

/** The rules that were broken, each with how often, and the shortest history that broke it. */
class Findings {
  readonly #found = new Map<string, { count: number; shortest: string; fault: string }>();
  windows = 0;

  add(faults: readonly string[], history: unknown): void {
    this.windows++;
    const told = faults.length > 0 ? JSON.stringify(history) : "";
    for (const rule of new Set(faults.map(ruleOf))) {
      const fault = faults.find((one) => ruleOf(one) === rule) ?? "";
      const known = this.#found.get(rule) ?? { count: 0, shortest: told, fault };
      const isShorter = told.length < known.shortest.length;
      this.#found.set(rule, { ...(isShorter ? { shortest: told, fault } : known), count: known.count + 1 });
    }
  }

  /** The rules, a line each; empty where nothing was found. */
  told(): string {
    const found = [...this.#found].map(
      ([rule, { count, shortest, fault }]) => `  ${rule} ×${count}: ${fault}\n    ${shortest}`,
    );
    return found.length === 0 ? "" : `refused, of ${this.windows} windows:\n${found.join("\n")}`;
  }
}

/** Whether the history of a window ends with an answer: no host asks then, but for a prefill, which older models take. */
function isAnswered({ messages }: Pick<Composed, "messages">): boolean {
  return messages.at(-1)?.role === "assistant";
}

/** Whether a history is refused before a request: the budget is too small for what must stay, or a call has no id. */
function isRefusal(error: unknown): boolean {
  return isWindrowError(error) && ["over-budget", "budget-too-small", "bad-message"].includes(error.code);
}

/** A composition; undefined for a history that is refused. */
function composed(messages: readonly Message[], budget: number, profile: string, state?: WindowState) {
  try {
    return composeWindow({ messages, system, budget, profile, ...(state && { state }) });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return undefined;
  }
}

const shortened = <Item>(items: readonly Item[], share: number): readonly Item[] =>
  items.slice(0, Math.ceil(items.length * share));

/** Histories for one provider and one source: others than those of every other pair. */
function sampled(profile: string, source: string): readonly (readonly Happening[])[] {
  const pair = providers.findIndex((one) => one.profile === profile) * 100 + Object.keys(sources).indexOf(source);
  return fc.sample(happenings, { numRuns: Math.ceil(runs / 3), ...(seed !== undefined && { seed: seed + pair }) });
}

describe.each(providers)("$profile", ({ profile, faultsOf }) => {
  it.each(Object.entries(sources))("takes windows over odd histories of %s", { timeout }, (source, read) => {
    const findings = new Findings();
    const histories = sampled(profile, source);
    for (const given of histories) {
      const messages = read(given);
      for (const budget of budgets) {
        const window = composed(messages, budget, profile);
        if (window && !isAnswered(window)) findings.add(faultsOf(window.messages), messages);
      }
      // The same history as it grows, by the state of the window before.
      let state: WindowState | undefined;
      for (const share of [0.25, 0.5, 0.75, 1]) {
        const grown = shortened(messages, share);
        const window = composed(grown, 1_200, profile, state);
        state = window?.state;
        if (window && !isAnswered(window)) findings.add(faultsOf(window.messages), grown);
      }
    }
    assert(findings.windows > histories.length);
    assert(findings.told() === "", findings.told());
  });

  it("takes windows of sessions that grow", { timeout }, async () => {
    const findings = new Findings();
    for (const [at, given] of fc.sample(happenings, Math.ceil(runs / 4)).entries()) {
      const messages = messagesOf(given);
      const manager = await SessionManager.open({ store: "ram:", profile, budget: budgets[at % 2] ?? 0 });
      const session = await manager.create();
      try {
        for (const { id: _, ...message } of messages) {
          await session.append(message);
          const window = await session.compose({ system });
          if (!isAnswered(window)) findings.add(faultsOf(window.messages), session.messages());
        }
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
      await manager.close();
    }
    assert(findings.told() === "", findings.told());
  });
});
