/** Windows written for a provider are requests that it takes: samples, and the messages of hosts. */
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { composeWindow, isWindrowError } from "windrow";
import type { Message } from "windrow";
import { fromAnthropic, toAnthropic } from "windrow/anthropic";
import type { AnthropicMessage } from "windrow/anthropic";
import { fromChat, toChat } from "windrow/chat";
import type { ChatMessage } from "windrow/chat";
import { codingSession, sampleHistories } from "../kit/inside/message.ts";
import { transcriptsOf } from "./transcripts.ts";
import { faults as anthropicFaults } from "../providers/anthropic.ts";
import { faults as chatFaults } from "../providers/openai-chat.ts";

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
