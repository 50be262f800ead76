/** Conversations as the fake knows them: their tools and system, the thinking it gave them, the request before. */
import type { IncomingHttpHeaders } from "node:http";
import { bodyFindings, prefixes, thinkingFindings } from "./checks.ts";
import type { Finding, Minted } from "./checks.ts";
import type { Answering } from "./answer.ts";
import { hash, list, object, text } from "./json.ts";
import type { Json } from "./json.ts";
import type { Reading } from "./reading.ts";

/** One request within its conversation. */
export interface Turn {
  readonly conversation: string;
  readonly findings: readonly Finding[];
  readonly extends: boolean;
  /** The hash that thinking of the answer is bound to, and the signature before it. */
  readonly prefix: string;
  readonly before: string;
  /** Counts the requests of the conversation that a fault of this kind is for. */
  hit(kind: string): number;
}

export interface Conversations {
  take(reading: Reading, headers: IncomingHttpHeaders, isSide: boolean): Turn;
  /** Takes an answer in, so that its thinking is known when it comes back. */
  minted(turn: Turn, answering: Answering, whole: Json): void;
  /** As {@link Turn.hit}, for the conversation that was taken last of this reading. */
  hit(reading: Reading, kind: string): number;
  forgetHits(): void;
}

const names = [
  "x-fake-conversation",
  "x-claude-code-session-id",
  "x-claude-code-agent-id",
  "thread-id",
  "session-id",
  "x-session-affinity",
  "session_id",
];

export function conversations(takesLoneReasoning: boolean): Conversations {
  const firsts = new Map<string, { readonly tools: string; readonly system: string }>();
  const before = new Map<string, readonly string[]>();
  const minted = new Map<string, Minted>();
  const calls = new Map<string, string>();
  const of = new WeakMap<Reading, string>();
  let hits = new Map<string, number>();
  const hit = (conversation: string, kind: string): number => {
    const key = `${conversation} ${kind}`;
    const times = (hits.get(key) ?? 0) + 1;
    hits.set(key, times);
    return times;
  };

  return {
    take(reading, headers, isSide) {
      const opening = reading.blocks.find(({ role, kind }) => role === "user" && kind === "text")?.text ?? "";
      const claimed = names.map((name) => text(headers[name])).filter((value) => value !== "");
      const conversation = [...claimed, reading.api, hash(opening).slice(0, 8)].join("/");
      of.set(reading, conversation);
      const findings: Finding[] = [];
      let isExtension = true;
      if (!isSide) {
        const { tools, system } = reading;
        const first = firsts.get(conversation) ?? { tools, system };
        firsts.set(conversation, first);
        if (first.tools !== tools) findings.push({ kind: "tools-changed", detail: differing(first.tools, tools) });
        if (first.system !== system) findings.push({ kind: "system-changed", detail: differing(first.system, system) });
        findings.push(...bodyFindings(reading, takesLoneReasoning), ...thinkingFindings(reading, minted, calls));
        const values = reading.blocks.map(({ value }) => value);
        const last = before.get(conversation) ?? [];
        isExtension = last.every((value, index) => value === values[index]);
        before.set(conversation, values);
      }
      const thinking = reading.blocks.findLast(({ kind }) => kind === "thinking");
      return {
        conversation,
        findings,
        extends: isExtension,
        prefix: [...prefixes(reading).values()].at(-1)!,
        before: thinking?.signature ?? "",
        hit: (kind) => hit(conversation, kind),
      };
    },

    minted(turn, { signature }, whole) {
      if (signature === undefined) return;
      minted.set(signature, { prefix: turn.prefix, before: turn.before });
      const ids = [
        ...list(whole["content"]).map(({ id }) => id),
        ...list(whole["output"]).map(({ call_id }) => call_id),
      ];
      for (const id of ids) if (text(id) !== "") calls.set(text(id), signature);
    },

    hit: (reading, kind) => hit(of.get(reading) ?? "", kind),

    forgetHits() {
      hits = new Map();
    },
  };
}

/** The place where two texts part. */
function differing(left: string, right: string): string {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const from = Math.max(0, at - 20);
  return `…${left.slice(from, at + 40)} became …${right.slice(from, at + 40)}`;
}

export const bodyOf = (bytes: Buffer | undefined): Json => object(JSON.parse(bytes?.toString("utf8") ?? "{}"));
