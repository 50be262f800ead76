/** A source with as many messages and calls as a test wants; each answer is made of the numbers that are asked for. */
import type {
  CallBlocks,
  CallRow,
  EpochRow,
  FateRun,
  OutlineRow,
  ViewerMessage,
  ViewerSession,
  ViewerSource,
  ViewerWindow,
} from "windrow/viewer";

const time = "2026-01-01T00:00:00.000Z";
const most = 200;
const callsInEpoch = 50;

/** A session called `large`: its windows hold the newest 200 messages, and what left has a fate. */
export function largeSource(messages: number, calls: number): ViewerSource {
  const perCall = messages / calls;
  const session: ViewerSession = {
    ...{ id: "large", title: "large", status: "completed", isLive: false, windows: "recorded" },
    ...{ model: "a-model", strategy: "adaptive", profile: null, counter: null, budget: 32_000 },
    ...{ startedAt: time, updatedAt: time, completedAt: time, user: null, error: null, taskKey: {}, damage: [] },
    ...{ calls, messages, toolCalls: 0, epochs: calls / callsInEpoch, historyTokens: messages * 100 },
    ...{ usedTokens: 1, windowTokens: 1 },
  };
  const range = <Row>(from: number, to: number, most: number, row: (number: number) => Row): readonly Row[] =>
    Array.from({ length: Math.max(0, Math.min(to, most) - from + 1) }, (_, place) => row(from + place));
  return {
    kind: "server",
    sessions: async () => ({ sessions: [session], looked: 1, unreadable: [] }),
    session: async () => session,
    outline: async (_, from, to) => range(from, to, messages, outlineRow),
    messages: async (_, from, to) => range(from, to, messages, message),
    text: async () => "",
    calls: async (_, from, to) => ({ total: calls, calls: range(from, to, calls, (call) => callRow(call, perCall)) }),
    epochs: async () => range(0, calls / callsInEpoch - 1, calls, (epoch) => epochRow(epoch, perCall)),
    window: async (_, call) => windowOf(call, perCall),
    recalls: async () => [],
    search: async () => [],
    replay: async () => [],
    follow: (_id, _onEvent, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  };
}

function outlineRow(seq: number): OutlineRow {
  return { seq, role: "assistant", tokens: 100, timestamp: time, head: `message ${seq}`, tools: [], isError: false };
}

function message(seq: number): ViewerMessage {
  const text = `message ${seq}\n`.repeat(1 + (seq % 60));
  const parts = [{ type: "text", text }] as const;
  return { seq, id: `message-${seq}`, role: "assistant", tokens: 100, timestamp: time, parts };
}

function blocksOf(tokens: number): CallBlocks {
  return { system: 500, tools: 800, pinned: 0, digest: 2_000, stubs: 300, history: tokens - 3_600, rest: 0 };
}

function callRow(call: number, perCall: number): CallRow {
  const tokens = 8_000 + (call % callsInEpoch) * 400;
  const cacheRead = tokens - 500;
  return {
    ...{ call, purpose: "turn", timestamp: time, model: "a-model", lastSeq: call * perCall, dollars: null, idleMs: 10 },
    ...{ epoch: Math.floor((call - 1) / callsInEpoch), tokens, blocks: blocksOf(tokens), predictedCached: cacheRead },
    usage: { input: tokens, output: 10, cacheRead, cacheWrite: 500 },
  };
}

function epochRow(epoch: number, perCall: number): EpochRow {
  const opened = epoch * callsInEpoch * perCall;
  const tokens = { tokensBefore: 32_000, tokensAfter: 8_000, budget: 32_000 };
  const firstCall = epoch * callsInEpoch + 1;
  return { epoch, reason: "over-budget", timestamp: time, opened, ...tokens, firstCall, fates: fatesTo(opened) };
}

/** Fates in at most 300 runs, and the newest messages whole. */
function fatesTo(last: number): readonly FateRun[] {
  const names = ["gone", "quoted", "named", "cut"] as const;
  const left = Math.max(0, last - most);
  const step = Math.max(1, Math.ceil(left / 300));
  const runs: FateRun[] = [];
  for (let from = 1; from <= left; from += step) {
    const fate = names[runs.length % names.length] ?? "gone";
    runs.push({
      from,
      to: Math.min(left, from + step - 1),
      fate,
      pass: "digest",
      reason: "older steps became a digest",
    });
  }
  if (left < last) runs.push({ from: left + 1, to: last, fate: "whole", pass: "", reason: "" });
  return runs;
}

function windowOf(call: number, perCall: number): ViewerWindow {
  const lastSeq = call * perCall;
  const first = Math.max(1, lastSeq - most + 1);
  const shown = { role: "assistant", kind: "message", tokens: 100 } as const;
  return {
    ...{ call, lastSeq, epoch: Math.floor((call - 1) / callsInEpoch), tokens: 20_000, budget: 32_000 },
    blocks: blocksOf(20_000),
    verified: { isVerified: true, recorded: "0", rebuilt: "0" },
    entries: Array.from({ length: lastSeq - first + 1 }, (_, place) => {
      return { ...shown, seq: first + place, key: `${first + place}` };
    }),
    fates: fatesTo(lastSeq),
    ...{ tools: [], missing: [], cache: null, repairs: [] },
  };
}
