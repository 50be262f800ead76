/** Usage in opencode's storage, by the decoder of its sessions. An answer is one message, with the tokens of its call. */
import { asName, fieldsOf } from "../../message/json.ts";
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
  for await (const value of storedSessions(path, { bare: true, limits: unlimited, signal })) {
    const [session] = openCode.decode({ name: "", entries: [{ line: 1, value }] });
    for (const { id, model = "", usage, extra } of session?.messages ?? []) {
      const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage ?? {};
      const { completed, created } = fieldsOf(extra?.["time"]);
      const project = asName(fieldsOf(extra?.["path"])["cwd"]) ?? "";
      const time = timeOf(completed) ?? timeOf(created);
      calls.add(id, { time, model, project, input, output, cacheRead, cacheWrite, chain: session?.id ?? "" });
    }
  }
  return calls.end("");
}
