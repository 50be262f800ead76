/** Providers' messages in a session's log: the same growing array fed again appends nothing, and comes back from disk. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Message, Session } from "windrow";
import type { Adapter } from "windrow/adapter";
import { anthropicAdapter } from "windrow/anthropic";
import { chatAdapter } from "windrow/chat";
import type { HostTranscript } from "windrow/testing";
import { journalOf } from "../kit/inside/adapter.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-chat-"));
});

afterEach(() => rm(folder, { recursive: true }));

async function everything(session: Session): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const message of session.messages()) messages.push(message);
  return messages;
}

describe.each([chatAdapter, anthropicAdapter] as unknown as readonly Adapter<object>[])(
  "a journal of $name",
  (adapter) => {
    it("appends each message once, also after a resume, and gives it back as it was", async () => {
      const path = new URL(`fixtures/${adapter.name}.json`, import.meta.url);
      const transcripts = JSON.parse(await readFile(path, "utf8")) as readonly HostTranscript<object>[];
      for (const { messages: host } of transcripts) {
        const manager = await SessionManager.open({ store: folder, budget: 4_000 });
        const session = await manager.create();
        const journal = journalOf(session, { adapter, optional: () => false });
        for (let length = 0; length <= host.length; length += 3) await journal.sync(host.slice(0, length));
        expect(await journal.sync(host)).toBeUndefined();
        expect(await journal.sync(host)).toBeUndefined();
        expect(session.stats().messages).toBe(host.length);
        await manager.close();

        const later = await SessionManager.open({ store: folder, budget: 4_000 });
        const resumed = await later.resume(session.id);
        const grown = [...host, { role: "user", content: "And now?" }];
        expect(await journalOf(resumed, { adapter, optional: () => false }).sync(grown)).toBeUndefined();
        const stored = await everything(resumed);
        expect(stored).toHaveLength(host.length + 1);
        expect(adapter.encode(stored)).toEqual(grown);
        await later.close();
      }
    });
  },
);
