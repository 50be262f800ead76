/** The shipped conformance cases and a journal over every adapter of this package, and the suite itself. */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Message } from "windrow";
import { HostConversation } from "windrow/adapter";
import type { Adapter } from "windrow/adapter";
import { chatAdapter } from "windrow/chat";
import type { ChatMessage } from "windrow/chat";
import { adapterConformance, register } from "windrow/testing";
import { temporaryFolder } from "../kit/stores.ts";
import { adapters, longRun, transcriptsOf } from "./transcripts.ts";
import { listed } from "../kit/sessions.ts";

const shapes: ReadonlySet<string> = new Set(["anthropic", "gemini", "openai-chat", "responses"]);

describe.each(adapters)("%s", (name, adapter) => {
  const run = JSON.parse(JSON.stringify(adapter.encode(longRun(12)))) as readonly object[];
  const transcripts = [
    ...transcriptsOf(name as "pi"),
    { name: "a long run", messages: run },
    { name: "nothing", messages: [] },
  ];
  // The shapes themselves have a suite of their own.
  if (!shapes.has(name)) register(adapterConformance(adapter, transcripts), { describe, it });

  it.each(transcripts)("journals each message once, also after a resume: $name", async ({ messages: host }) => {
    const store = await temporaryFolder();
    const events: string[] = [];
    const journal = async (id: string | undefined, arrays: readonly (readonly object[])[]) => {
      const manager = await SessionManager.open({ store, budget: 4_000 });
      const session = id === undefined ? await manager.create() : await manager.resume(id);
      const conversation = new HostConversation({ adapter }, { session, on: ({ type }) => events.push(type) });
      for (const array of arrays) await conversation.record(structuredClone(array));
      const stored = await listed(session.messages());
      await manager.close();
      return { id: session.id, stored };
    };
    const growing = Array.from({ length: Math.ceil(host.length / 3) }, (_, at) => host.slice(0, 3 * at));
    const { id, stored } = await journal(undefined, [...growing, host, host]);
    expect(stored).toHaveLength(host.length);
    const grown = [...host, ...run.slice(0, 1)];
    const resumed = await journal(id, [grown, grown]);
    expect(adapter.encode(resumed.stored)).toEqual(grown);
    expect(events).toEqual([]);
  });
});

const chats = transcriptsOf<ChatMessage>("openai-chat");

const decode = (messages: readonly ChatMessage[]): readonly Message[] => chatAdapter.decode(messages);
const encode = (messages: readonly Message[]): readonly ChatMessage[] => chatAdapter.encode(messages);

/** Adapters with one fault each, and what the suite says of them. */
const careless: Readonly<Record<string, Partial<Adapter<ChatMessage>>>> = {
  "loses the fields it does not know": {
    decode: (given) => decode(given).map(({ extra: _extra, ...message }) => message),
  },
  "writes into what it is given": {
    decode: (given) => {
      for (const message of given) (message as { seen?: boolean }).seen = true;
      return decode(given);
    },
  },
  "gives copies back": { encode: (messages) => encode(messages).map((message) => ({ ...message })) },
  "loses results": { encode: (messages) => encode(messages).filter(({ role }) => role !== "tool") },
  "numbers messages from the end": {
    decode: (given) => decode(given).map((message, at) => ({ ...message, id: `m${given.length - at}` })),
  },
};

describe("the suite", () => {
  it.each(Object.entries(careless))("fails an adapter that %s", async (_fault, fault) => {
    const failed: string[] = [];
    for (const one of adapterConformance({ ...chatAdapter, ...fault }, chats))
      await one.run().catch(() => failed.push(one.name));
    assert(failed.length > 0, "the suite accepts it");
  });
});
