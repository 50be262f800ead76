/** Compactions: what a recorded program cut out of its own window, what its summary kept, and what calls read again. */
import { asCount, asObject, asString } from "../message/json.ts";
import { resultText, toolCalls, toolResults } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { findModel, priceOf } from "../tokens/models.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { isPath, subjectOf } from "../window/stub/stub.ts";
import { MessageTokens } from "./cost-metric.ts";
import { callsOf } from "./measure.ts";
import { AtomReader, atomsOf, isLine } from "./recall-metric.ts";
import { calibrationOf } from "./recorded.ts";

/** One result that brought back what a compaction had taken out. */
export interface ReadAgain {
  /** The index of the message with the result. */
  readonly index: number;
  readonly tool: string;
  readonly subject: string;
  readonly tokens: number;
}

/** How much of something a summary names. */
export interface KeptShare {
  readonly kept: number;
  readonly of: number;
}

/** One compaction of a recorded session. */
export interface Compaction {
  /** Messages before it. */
  readonly after: number;
  /** The messages and the tokens that left the window with it. */
  readonly left: { readonly messages: number; readonly tokens: number };
  /** The text that stood for them; empty where the file does not have it, as with Codex, which keeps it encrypted. */
  readonly summary: { readonly text: string; readonly tokens: number };
  /** What of the messages that left the summary names. */
  readonly kept: { readonly files: KeptShare; readonly names: KeptShare; readonly numbers: KeptShare };
  /** The input that the call before it reported, in tokens, and that of the call behind it; null where they report none. */
  readonly input: { readonly before: number | null; readonly after: number | null };
  /** Tokens of the window behind it as the file tells them, system prompt and tools among them; null where it does not. */
  readonly window: number | null;
  /** Results that brought back what had left, until the next compaction. */
  readonly again: readonly ReadAgain[];
  /** Calls that did nothing else. */
  readonly calls: number;
  /** The tokens that were read again, written to the cache, and the calls that did nothing else; null without a price. */
  readonly dollars: number | null;
}

/** The share of a result's lines that had left, from which it brings back what had left. */
const againShare = 0.5;
/** The fewest lines by which that is told. */
const fewestLines = 3;

/** The compactions of a session, oldest first. Empty where its format notes none, or where it had none. */
export function compactionsOf(transcript: Transcript, counter: TokenCounter): readonly Compaction[] {
  const { messages, meta } = transcript;
  const noted = Array.isArray(meta?.["compactions"]) ? meta["compactions"] : [];
  if (noted.length === 0) return [];
  const tokens = new MessageTokens(counter);
  const counted = new Map<number, number>();
  let sum = 0;
  const calls = new Set(callsOf(messages));
  messages.forEach((message, index) => {
    if (calls.has(index)) counted.set(index, sum);
    sum += tokens.of(message);
  });
  const { rate, overhead } = calibrationOf(messages, counted);
  const places = noted.map((one) => ({
    after: asCount(asObject(one)?.["after"]) ?? 0,
    text: asString(asObject(one)?.["summary"]) ?? "",
    // What Claude Code counted behind it: the summary, the newest messages, and the files that it attached.
    counted: asCount(asObject(one)?.["postTokens"]),
  }));
  return places.map(({ after, text, counted: own }, place) => {
    const from = places[place - 1]?.after ?? 0;
    const to = places[place + 1]?.after ?? messages.length;
    const left = messages.slice(from, after);
    const behind = messages.slice(after, to);
    const first = behind.findIndex(({ role, usage }) => role === "assistant" && (usage?.input ?? 0) > 0);
    const summary = { text, tokens: Math.round(rate * counter.count(text)) };
    const between = rate * tokens.sum(behind.slice(0, Math.max(0, first)));
    const { again, only } = readAgain(left, behind, after, (message) => rate * tokens.of(message));
    return {
      after,
      left: { messages: left.length, tokens: Math.round(rate * tokens.sum(left)) },
      summary,
      kept: keptOf(left, text),
      input: {
        before:
          left.findLast(({ role, usage }) => role === "assistant" && (usage?.input ?? 0) > 0)?.usage?.input ?? null,
        after: behind[first]?.usage?.input ?? null,
      },
      window: text === "" ? null : Math.round(overhead + (own ?? summary.tokens + between)),
      again,
      calls: only.length,
      dollars: dollarsOf(again, only, transcript.model),
    };
  });
}

/** Results with what had left, and the assistant messages whose calls all asked for it. */
function readAgain(
  left: readonly Message[],
  behind: readonly Message[],
  after: number,
  tokensOf: (message: Message) => number,
): { readonly again: readonly ReadAgain[]; readonly only: readonly Message[] } {
  const reader = new AtomReader();
  const gone = new Set(
    left
      .filter(({ role }) => role === "tool")
      .flatMap(({ parts }) => [...reader.of(parts)])
      .filter(isLine),
  );
  const names = new Map<string, { readonly name: string; readonly subject: string; readonly message: Message }>();
  const again: ReadAgain[] = [];
  const asked = new Map<Message, number>();
  for (const [at, message] of behind.entries()) {
    for (const { callId, name, args } of toolCalls(message))
      names.set(callId, { name, subject: subjectOf(args), message });
    for (const result of toolResults(message)) {
      const call = names.get(result.callId);
      const lines = [...reader.part(result)].filter(isLine);
      const old = lines.filter((line) => gone.has(line));
      if (!call || old.length < fewestLines || old.length < againShare * lines.length) continue;
      again.push({
        index: after + at,
        tool: call.name,
        subject: call.subject,
        tokens: Math.round(tokensOf({ ...message, parts: [result] })),
      });
      asked.set(call.message, (asked.get(call.message) ?? 0) + 1);
      // What was read again has not left any more.
      for (const line of old) gone.delete(line);
    }
  }
  const only = [...asked].filter(([message, count]) => toolCalls(message).length === count).map(([message]) => message);
  return { again, only };
}

function dollarsOf(again: readonly ReadAgain[], only: readonly Message[], model: string | undefined): number | null {
  const prices = model === undefined ? undefined : findModel(model)?.prices;
  if (!prices) return null;
  const read = again.reduce((sum, { tokens }) => sum + tokens, 0);
  const written = priceOf({ input: read, cacheWrite: read }, prices);
  return only.reduce((sum, { usage }) => sum + (usage ? priceOf(usage, prices) : 0), written);
}

/** How many of the files, names and numbers of messages a summary names. */
function keptOf(left: readonly Message[], summary: string): Compaction["kept"] {
  const files = new Set(
    left.flatMap((message) => toolCalls(message).map(({ args }) => subjectOf(args))).filter(isPath),
  );
  const results = left.map((message) => toolResults(message).map(resultText).join("\n")).join("\n");
  const atoms = [...atomsOf(results)].filter((atom) => !isLine(atom) && !atom.includes("/"));
  const numbers = atoms.filter((atom) => /^[\d.]+$/.test(atom));
  const share = (all: Iterable<string>, named: (text: string) => boolean): KeptShare => {
    const list = [...all];
    return { kept: list.filter(named).length, of: list.length };
  };
  const told = atomsOf(summary);
  return {
    files: share(files, (path) => summary.includes(path.slice(path.lastIndexOf("/") + 1))),
    names: share(
      atoms.filter((atom) => !numbers.includes(atom)),
      (atom) => told.has(atom),
    ),
    numbers: share(numbers, (atom) => told.has(atom)),
  };
}
