/**
 * Windows by their hashes, to tell whether a change of the code left them as they were, byte by byte.
 *
 *   npm run bench:window -- hashes
 *   HASHES_BUDGETS=32000 HASHES_STRATEGIES=adaptive,pi   those alone
 *   HASHES_SAVE=before.txt                               keeps the hashes
 *   HASHES_BASE=before.txt                               names each that is another than the one that was kept
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { hashName, hashText } from "../../src/message/hash.ts";
import type { Message } from "../../src/message/message.ts";
import { estimate } from "../../src/tokens/estimate.ts";
import { strategyNames, strategyOf } from "../../src/window/by-name.ts";
import { Composer } from "../../src/window/composer.ts";
import { profileOf } from "../../src/window/provider/profile.ts";
import type { Profile } from "../../src/window/provider/profile.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { dataFile, recordedSessions } from "./kit.ts";

/** Files of sessions, and how many of each file are composed: the longest ones. */
const samples: Readonly<Record<string, number>> = {
  "long-sessions/trajectories.jsonl.gz": 4,
  "pi-sessions/trajectories.jsonl.gz": 2,
  "claude-code-sessions/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl": 1,
  "openhands/trajectories.jsonl.gz": 2,
  "swe-smith/trajectories.jsonl.gz": 2,
  "swe-agent-demos/trajectories.jsonl.gz": 2,
  "tau-bench-airline/trajectories.jsonl.gz": 4,
  "locomo/conversations.jsonl.gz": 1,
};

/** Conversations of a user and an assistant in Chinese, one after another. */
const dialogues = "memorybank/memory_bank_cn.json.gz";

/** Each with one provider's rules; `anthropic` binds reasoning to what stands before it. */
const budgets: Readonly<Record<number, string>> = {
  4_000: "openai-chat",
  16_000: "anthropic",
  32_000: "openai-chat",
  128_000: "openai-chat",
};
/** Sessions of more messages are left out at the smallest budget, where they would take most of the time. */
const longestAtLeast = 400;

/** One row a strategy and a budget, with one hash of all its sessions. */
export async function benchHashes(): Promise<BenchReport> {
  const sessions: { readonly name: string; readonly messages: readonly Message[] }[] = [];
  for (const [file, count] of Object.entries(samples)) {
    const found = (await recordedSessions([file])).toSorted(
      (left, right) => right.messages.length - left.messages.length,
    );
    sessions.push(...found.slice(0, count).map(({ id, messages }) => ({ name: `${file}#${id}`, messages })));
  }
  sessions.push(...dialogueSessions());
  const lines: string[] = [];
  const rows: BenchRow[] = [];
  for (const strategy of (process.env["HASHES_STRATEGIES"] ?? strategyNames.join(",")).split(",")) {
    for (const budget of (process.env["HASHES_BUDGETS"] ?? Object.keys(budgets).join(",")).split(",").map(Number)) {
      const profile = profileOf(budgets[budget] ?? "openai-chat");
      const taken = sessions.filter(({ messages }) => budget > 4_000 || messages.length <= longestAtLeast);
      const own = taken.map(({ name, messages }) => ({ name, ...windowsOf(messages, strategy, budget, profile) }));
      lines.push(...own.map(({ name, hash }) => `${name} ${strategy} ${budget} ${hash}`));
      const sum = (of: (one: (typeof own)[number]) => number): number => own.reduce((all, one) => all + of(one), 0);
      rows.push({
        strategy,
        budget,
        sessions: own.length,
        windows: sum(({ windows }) => windows),
        epochs: sum(({ epochs }) => epochs),
        refused: sum(({ refused }) => refused),
        hash: hashName(hashText(own.map(({ hash }) => hash).join(" "))),
      });
    }
    console.error(`  ${strategy}`);
  }
  const save = process.env["HASHES_SAVE"];
  if (save !== undefined) writeFileSync(save, `${lines.join("\n")}\n`);
  const note = `${lines.length} hashes of a session, a strategy and a budget, each of every window of it and its edits; a sample of the sessions: the longest of each file`;
  return { name: "window/hashes", rows, note: [note, ...compared(lines)].join("; ") };
}

/** The dialogues of all their people as one session. */
function dialogueSessions(): readonly { readonly name: string; readonly messages: readonly Message[] }[] {
  const path = dataFile(dialogues);
  if (path === undefined) return [];
  const people = JSON.parse(gunzipSync(readFileSync(path)).toString("utf8")) as Record<string, Person>;
  const turns = Object.values(people).flatMap(({ history }) => Object.values(history).flat());
  const messages = turns.flatMap(({ query, response }, index): readonly Message[] => [
    { id: `q${index}`, role: "user", parts: [{ type: "text", text: query }] },
    { id: `r${index}`, role: "assistant", parts: [{ type: "text", text: response }] },
  ]);
  return [{ name: dialogues, messages }];
}

/** A person of the dialogues, with what was said by day. */
interface Person {
  readonly history: Readonly<Record<string, readonly { readonly query: string; readonly response: string }[]>>;
}

/** A session composed before every call, as a live agent does. */
function windowsOf(
  messages: readonly Message[],
  strategy: string,
  budget: number,
  profile: Profile,
): { readonly hash: string; readonly windows: number; readonly epochs: number; readonly refused: number } {
  const composer = new Composer({ strategy: strategyOf(strategy), profile, counter: estimate });
  let [hash, windows, epochs, refused] = ["", 0, 0, 0];
  for (const [index, message] of messages.entries()) {
    composer.push(index + 1, message);
    if (message.role === "assistant" || message.role === "system") continue;
    let shown: string;
    try {
      const { report } = composer.compose({ budget });
      const { windowHash, tokens, opened } = report;
      if (opened) epochs++;
      shown = `${windowHash} ${tokens} ${opened ? JSON.stringify([opened, report.counts]) : ""}`;
    } catch (error) {
      refused++;
      shown = error instanceof Error ? error.message : String(error);
    }
    windows++;
    hash = hashName(hashText(`${hash} ${shown}`));
  }
  return { hash, windows, epochs, refused };
}

/** The hashes that are others than those that were kept, one a line, and their number. */
function compared(lines: readonly string[]): readonly string[] {
  const from = process.env["HASHES_BASE"];
  if (from === undefined) return [];
  const base = new Set(readFileSync(from, "utf8").trim().split("\n"));
  const others = lines.filter((line) => !base.has(line));
  for (const line of others) console.error(`  another window: ${line}`);
  return [`${lines.length - others.length} as they were, ${others.length} are not`];
}
