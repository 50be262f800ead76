/** The shipped conformance cases over the adapters of this package, and the suite itself. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "vitest";
import type { Adapter } from "windrow/adapter";
import { anthropicAdapter } from "windrow/anthropic";
import type { AnthropicMessage } from "windrow/anthropic";
import { chatAdapter } from "windrow/chat";
import type { ChatMessage } from "windrow/chat";
import { adapterConformance, register } from "windrow/testing";
import type { HostTranscript } from "windrow/testing";

function fixtures<Host>(name: string): readonly HostTranscript<Host>[] {
  const path = new URL(`fixtures/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as readonly HostTranscript<Host>[];
}

const chats = fixtures<ChatMessage>("openai-chat");

register(adapterConformance(chatAdapter, chats), { describe, it });
register(adapterConformance(anthropicAdapter, fixtures<AnthropicMessage>("anthropic")), { describe, it });

/** Adapters with one fault each, and what the suite says of them. */
const careless: readonly (readonly [fault: string, adapter: Adapter<ChatMessage>])[] = [
  [
    "loses the fields it does not know",
    {
      ...chatAdapter,
      decode: (messages) => chatAdapter.decode(messages).map(({ extra: _extra, ...message }) => message),
    },
  ],
  [
    "writes into what it is given",
    {
      ...chatAdapter,
      decode: (messages) => {
        for (const message of messages) (message as { seen?: boolean }).seen = true;
        return chatAdapter.decode(messages);
      },
    },
  ],
  [
    "gives copies back",
    { ...chatAdapter, encode: (messages) => chatAdapter.encode(messages).map((message) => ({ ...message })) },
  ],
  [
    "loses results",
    { ...chatAdapter, encode: (messages) => chatAdapter.encode(messages).filter(({ role }) => role !== "tool") },
  ],
  [
    "numbers messages from the end",
    {
      ...chatAdapter,
      decode: (messages) =>
        chatAdapter.decode(messages).map((message, index) => ({ ...message, id: `m${messages.length - index}` })),
    },
  ],
];

describe("the suite", () => {
  it.each(careless)("fails an adapter that %s", async (_fault, adapter) => {
    const failed: string[] = [];
    for (const one of adapterConformance(adapter, chats)) await one.run().catch(() => failed.push(one.name));
    assert(failed.length > 0, "the suite accepts it");
  });
});
