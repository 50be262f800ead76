/** Histories in which something happens early and much follows, and what the digests of their windows show. */
import type { Message } from "windrow";
import { composeWindow } from "windrow";
import { HistoryBuilder, messageText } from "../kit/inside/message.ts";
import type { JsonObject } from "../kit/inside/message.ts";

/** A call of a tool, and its result. */
export type Call = readonly [tool: string, args: JsonObject, result: string, isError?: boolean];

/** What a digest has no use for twice. */
const filler = Array.from({ length: 30 }, (_, line) => `const filler_${line} = compute("${line}");`).join("\n");

/** A task and calls behind it, whose results are m3, m5 and so on. */
export function historyOf(...calls: readonly Call[]): HistoryBuilder {
  return add(new HistoryBuilder().user("Mend the parser."), ...calls);
}

/** Calls at the end of a history. */
export function add(history: HistoryBuilder, ...calls: readonly Call[]): HistoryBuilder {
  for (const [name, args, result, isError] of calls) {
    const callId = `c${history.messages.length}`;
    history.add("assistant", [{ type: "tool-call", callId, name, args }]).result(callId, result, isError);
  }
  return history;
}

/** The history, and so much reading behind it that all of it leaves a small window. */
export function longAfter(history: HistoryBuilder, steps = 14): readonly Message[] {
  const reads = Array.from({ length: steps }, (_, step): Call => ["read", { path: `lib/other-${step}.ts` }, filler]);
  return add(history, ...reads).user("Go on.").messages;
}

/** The digest in a window. */
export function digestIn(window: readonly Message[]): string {
  return window.map(messageText).find((text) => text.startsWith("[Windrow: a record")) ?? "";
}

/** The digest of a window made long after this history. */
export function digestAfter(history: HistoryBuilder, budget = 4_000, steps = 14): string {
  return digestIn(composeWindow({ messages: longAfter(history, steps), budget }).messages);
}

/** The quoted lines of some groups of a digest, without their marks. */
export function quotedIn(groups: string): readonly string[] {
  const lines = groups.split("\n").filter((line) => /^[ |]/.test(line));
  return lines.map((line) => line.slice(1));
}

/** What a digest shows of files whose path begins so: what it is sure of, and what may have changed. */
export function filesIn(digest: string, path = ""): { readonly sure: string; readonly doubtful: string } {
  const groups = digest.split("\n--- ").filter((group, at) => at > 0 && group.startsWith(path));
  const isOf = (group: string, word: RegExp): boolean => word.test(group.split("\n", 1)[0] ?? "");
  const files = groups.filter((group) => !isOf(group, /^what /));
  return {
    sure: files.filter((group) => !isOf(group, /may have changed it since/)).join("\n"),
    doubtful: files.filter((group) => isOf(group, /may have changed it since/)).join("\n"),
  };
}
