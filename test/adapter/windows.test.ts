/** Windows written for a provider are requests that it takes: samples, random histories, and sessions real agents wrote. */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { composeWindow, isWindrowError } from "windrow";
import type { Message } from "windrow";
import { fromAnthropic, toAnthropic } from "windrow/anthropic";
import type { AnthropicMessage } from "windrow/anthropic";
import { fromChat, toChat } from "windrow/chat";
import type { ChatMessage } from "windrow/chat";
import { estimate } from "windrow/testing";
import { readTranscripts } from "windrow/transcript";
import { profileOf, strategyOf } from "windrow/window";
import { codingSession, sampleHistories } from "../kit/inside/message.ts";
import { Composer } from "../kit/inside/window.ts";
import { someOf } from "../kit/recorded.ts";
import { transcriptsOf } from "./transcripts.ts";
import { faults as anthropicFaults } from "../providers/anthropic.ts";
import { faults as chatFaults } from "../providers/openai-chat.ts";
import { runs } from "../kit/runs.ts";

const root = "../shared/data/open";

interface Provider {
  readonly profile: "openai-chat" | "anthropic";
  /** Messages of the host's own, in and out. */
  readonly read: (host: readonly object[]) => readonly Message[];
  readonly write: (window: readonly Message[]) => unknown;
  /** What the provider would refuse of a window. */
  readonly problems: (window: readonly Message[]) => readonly string[];
  /** The request block by block: two messages of one role that are joined are the same to the provider. */
  blocks(window: readonly Message[]): readonly string[];
}

const providers: readonly Provider[] = [
  {
    profile: "openai-chat",
    read: (host) => fromChat(host as readonly ChatMessage[]),
    write: toChat,
    problems: (window) => chatFaults({ messages: toChat(window) }),
    blocks: (window) => toChat(window).map((message) => JSON.stringify(message)),
  },
  {
    profile: "anthropic",
    read: (host) => fromAnthropic(host as readonly AnthropicMessage[]),
    write: toAnthropic,
    // Histories may end with an answer, as older models take it, and their signatures are made up.
    problems: (window) =>
      anthropicFaults(toAnthropic(window)).filter((fault) => !/^(?:prefill|trailing|foreign)/.test(fault)),
    blocks: (window) => {
      const { system, messages } = toAnthropic(window);
      return [
        JSON.stringify(system),
        ...messages.flatMap(({ role, content }) => {
          const blocks: unknown[] =
            typeof content === "string" ? [{ type: "text", text: content }] : (content as unknown[]);
          return blocks.map((block) => `${role} ${JSON.stringify(block)}`);
        }),
      ];
    },
  },
];

function windowOf(messages: readonly Message[], profile: string, budget: number): readonly Message[] | undefined {
  try {
    return composeWindow({ messages, profile, budget, system: "Be brief." }).messages;
  } catch (error) {
    assert(isWindrowError(error, "over-budget") || isWindrowError(error, "budget-too-small"), String(error));
    return undefined;
  }
}

/** What the provider would refuse of a history's window; nothing where there is no window at this budget. */
function problemsOf(provider: Provider, messages: readonly Message[], budget: number): readonly string[] {
  const window = windowOf(messages, provider.profile, budget);
  return window ? provider.problems(window) : [];
}

describe.each(providers)("a window for $profile", (provider) => {
  it.each([...sampleHistories(), { name: "a long session", messages: codingSession(120) }])(
    "is one the provider takes: $name",
    ({ messages }) => {
      for (const budget of [300, 1_500, 6_000, 40_000]) assert.deepEqual(problemsOf(provider, messages, budget), []);
    },
  );
});

/** Fields and blocks in the fixtures that their providers do not document: the host's, and given back as they are. */
const hostsOwn = /^unknown-field|hologram|video_url|chatcmpl-tool|^empty-calls/;

describe.each(providers)("a window of the own messages of $profile", ({ profile, problems, read, write }) => {
  it.each(transcriptsOf(profile))("is one the provider takes: $name", ({ messages }) => {
    for (const budget of [200, 300, 600, 4_000]) {
      const window = windowOf(read(messages), profile, budget);
      if (!window) continue;
      const found = problems(window).filter((problem) => !hostsOwn.test(problem));
      if (!messages.some((message) => "tool_name" in message)) assert.deepEqual(found, []);
      assert.deepEqual(write(JSON.parse(JSON.stringify(window)) as Message[]), write(window));
    }
  });
});

const sessions = existsSync(root)
  ? readdirSync(root, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && /\.jsonl?(\.gz)?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
  : [];
if (sessions.length === 0) console.log(`skipped: ${root} is not there`);

describe.each(sessions)("%s", (file) => {
  it("gives only windows that the providers take", { tags: ["slow"], timeout: 300_000 }, async () => {
    const transcripts = await readTranscripts(file).catch((error: unknown) => {
      assert(isWindrowError(error, "not-a-transcript"), String(error));
      return [];
    });
    let windows = 0;
    for (const [turn, { id, messages }] of someOf(transcripts).entries()) {
      for (const provider of providers) {
        // A budget a session and the other one the next time; both in the long run.
        const budgets = runs > 1_000 ? [4_000, 24_000] : [turn % 2 === 0 ? 4_000 : 24_000];
        for (const budget of budgets) windows += follow(provider, messages, budget, id);
      }
    }
    console.log(transcripts.length === 0 ? `${file}: no transcript` : `${file}: ${windows} windows`);
  });
});

/** Windows before the answers of a session, two dozen of them, in one process as a live agent composes them. */
function follow(provider: Provider, messages: readonly Message[], budget: number, session: string): number {
  const profile = profileOf(provider.profile);
  const composer = new Composer({ strategy: strategyOf("adaptive"), profile, counter: estimate });
  const answers = messages.filter((message) => message.role === "assistant").length;
  const stride = Math.max(1, Math.ceil(answers / 24));
  let seen = 0;
  let windows = 0;
  let before: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant" && seen++ % stride === 0) {
      try {
        const { messages: window, report } = composer.compose({ budget });
        const blocks = provider.blocks(window);
        if (!report.opened) assert.deepEqual(blocks.slice(0, before.length), before, `${session}: the prefix changed`);
        before = blocks;
        assert.deepEqual(
          provider.problems(window),
          [],
          `${session}, message ${index + 1}, ${provider.profile} at ${budget}`,
        );
        windows++;
      } catch (error) {
        if (!isWindrowError(error, "over-budget") && !isWindrowError(error, "budget-too-small")) throw error;
      }
    }
    composer.push(index + 1, message);
  }
  return windows;
}
