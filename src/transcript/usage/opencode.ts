/** Usage in opencode's storage, by the decoder of its sessions: each step of an answer is a call. */
import { asName, fieldsOf } from "../../message/json.ts";
import type { Message } from "../../message/message.ts";
import { openCode } from "../opencode/read.ts";
import { storedSessions } from "../opencode/storage.ts";
import { CallList, timeOf } from "./usage.ts";
import type { CallUsage } from "./usage.ts";

const unlimited = { bytes: Infinity, entries: Infinity };

/**
 * The calls in opencode's database, or in a session's folder of messages.
 *
 * @throws what `storedSessions` throws
 */
export async function openCodeUsage(path: string, signal?: AbortSignal): Promise<readonly CallUsage[]> {
  const calls = new CallList();
  for await (const value of storedSessions(path, { limits: unlimited, partsWith: '"step-', signal })) {
    const [session] = openCode.decode({ name: "", entries: [{ line: 1, value }] });
    if (!session) continue;
    const { id: chain, messages, otherCalls = [], meta } = session;
    const project = asName(meta?.["cwd"]) ?? "";
    const all: readonly Partial<Message>[] = [...messages, ...otherCalls];
    for (const [index, { id, model = "", usage, extra, timestamp }] of all.entries()) {
      const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage ?? {};
      const { completed } = fieldsOf(extra?.["time"]);
      const folder = asName(fieldsOf(extra?.["path"])["cwd"]) ?? project;
      const time = timeOf(completed) ?? timeOf(timestamp);
      const counts = { input, output, cacheRead, cacheWrite };
      calls.add(id ?? `${chain}/${index}`, { time, model, project: folder, ...counts, chain });
    }
  }
  return calls.end("");
}
