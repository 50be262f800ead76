/** Compactions: what a recorded program cut out of its own window, what its summary kept, and what calls read again. */
import { asArray, asCount, asObject, asString, objectsOf } from "../message/json.ts";
import { resultText, toolCalls, toolResults } from "../message/message.ts";
import type { JsonObject, Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { findModel, priceOf } from "../tokens/models.ts";
import type { ModelPrices } from "../tokens/models.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { isPath, subjectOf } from "../window/stub/stub.ts";
import { MessageTokens } from "./cost-metric.ts";
import { callsOf } from "./measure.ts";
import { rereadsOf } from "./read-again.ts";
import type { Reread } from "./read-again.ts";
import { atomsOf, isLine } from "./recall-metric.ts";
import { calibrationOf } from "./recorded.ts";
import type { Calibration } from "./recorded.ts";

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
  /**
   * Tokens of the window behind it by what the file tells, system prompt and tools among them; null where it does not. It
   * is reckoned without what the call behind it reported.
   */
  readonly window: number | null;
  /** Results that read what had left again, until the next compaction; the first of them for each line. */
  readonly again: readonly ReadAgain[];
  /** Calls of the model that asked for nothing else. */
  readonly calls: number;
  /** US dollars of the tokens read again, written to the cache once, and of those calls; null without a price or usage. */
  readonly dollars: number | null;
}

/** The compactions of a session, oldest first. Empty where its format notes none, or where it had none. */
export function compactionsOf(transcript: Transcript, counter: TokenCounter): readonly Compaction[] {
  const { messages, meta } = transcript;
  const noted = objectsOf(meta?.["compactions"]);
  if (noted.length === 0) return [];
  const tokens = new MessageTokens(counter);
  const calibration = calibrationIn(messages, tokens);
  const { rate } = calibration;
  const ends = noted.map((one) => Math.min(asCount(one["after"]) ?? 0, messages.length));
  const prices = transcript.model === undefined ? undefined : findModel(transcript.model)?.prices;
  let stayed: readonly Message[] = [];
  const found = noted.map((one, place) => {
    const after = ends[place] ?? 0;
    const inWindow = [...stayed, ...messages.slice(ends[place - 1] ?? 0, after)];
    stayed = keptOf(one, inWindow);
    const left = inWindow.filter((message) => !stayed.includes(message));
    const behind = messages.slice(after, ends[place + 1] ?? messages.length);
    const text = asString(one["summary"]) ?? asString(one["summaryContent"]) ?? "";
    const summary = { text, tokens: Math.round(rate * counter.count(text)) };
    const first = behind.findIndex(isTold);
    const newer = rate * tokens.sum([...stayed, ...behind.slice(0, Math.max(0, first))]);
    const rereads = rereadsOf(inWindow, [...stayed, summaryMessage(text)], behind);
    const only = onlyAsking(rereads);
    const again = rereads.map(({ message, result, call }) => ({
      index: messages.indexOf(message, after),
      tool: call.name,
      subject: subjectOf(call.args),
      tokens: Math.round(rate * tokens.of({ ...message, parts: [result] })),
    }));
    return {
      after,
      left: { messages: left.length, tokens: Math.round(rate * tokens.sum(left)) },
      summary,
      kept: namedOf(left, text),
      input: { before: inWindow.findLast(isTold)?.usage?.input ?? null, after: behind[first]?.usage?.input ?? null },
      // What Claude Code counted behind it: the summary, the newest messages, and the files that it attached.
      window:
        text === "" || !calibration.reported ? null : Math.round(asCount(one["postTokens"]) ?? summary.tokens + newer),
      again,
      calls: only.length,
      dollars: prices && calibration.reported ? dollarsOf(again, only, prices, calibration) : null,
    };
  });
  return found.map((one, place) =>
    one.window === null ? one : { ...one, window: one.window + overheadOf(found.toSpliced(place, 1), calibration) },
  );
}

/** Whether a message is an answer whose call reported its input. */
function isTold({ role, usage }: Message): boolean {
  return role === "assistant" && (usage?.input ?? 0) > 0;
}

function calibrationIn(messages: readonly Message[], tokens: MessageTokens): Calibration {
  const calls = new Set(callsOf(messages));
  const counted = new Map<number, number>();
  let sum = 0;
  messages.forEach((message, index) => {
    if (calls.has(index)) counted.set(index, sum);
    sum += tokens.of(message);
  });
  return calibrationOf(messages, counted);
}

/** The newest messages that Claude Code left in the window; other files do not say. */
function keptOf(noted: JsonObject, messages: readonly Message[]): readonly Message[] {
  const kept = asObject(noted["preservedMessages"]);
  const ids = new Set(asArray(kept?.["allUuids"]) ?? asArray(kept?.["uuids"]));
  return messages.filter(({ id }) => ids.has(id.replace(/\/text$/, "")));
}

function summaryMessage(text: string): Message {
  return { id: "summary", role: "user", parts: [{ type: "text", text }] };
}

/**
 * Tokens of the window beside its messages: what the calls behind the session's other compactions reported beyond them,
 * in the median. Reminders of the session's start leave with a compaction, so its first request tells too much; it is
 * asked where there is no other compaction.
 */
function overheadOf(others: readonly Pick<Compaction, "input" | "window">[], { overhead }: Calibration): number {
  const told = others
    .flatMap(({ input, window }) => (input.after === null || window === null ? [] : [input.after - window]))
    .toSorted((left, right) => left - right);
  const middle = told[Math.floor(told.length / 2)];
  return middle === undefined ? overhead : Math.max(0, middle);
}

/** The assistant messages all of whose calls read again. */
function onlyAsking(rereads: readonly Reread[]): readonly Message[] {
  const asked = new Map<Message, number>();
  for (const reread of rereads) asked.set(reread.asked, (asked.get(reread.asked) ?? 0) + 1);
  return [...asked].filter(([message, count]) => toolCalls(message).length === count).map(([message]) => message);
}

function dollarsOf(
  again: readonly ReadAgain[],
  only: readonly Message[],
  prices: ModelPrices,
  { cached, hourShare }: Calibration,
): number {
  const input = again.reduce((sum, { tokens }) => sum + tokens, 0);
  const cacheWrite = cached ? input : 0;
  const written = priceOf({ input, cacheWrite, cacheWriteHour: hourShare * cacheWrite }, prices);
  return only.reduce((sum, { usage }) => sum + (usage ? priceOf(usage, prices) : 0), written);
}

/** How many of the files, names and numbers of messages a summary names. */
function namedOf(left: readonly Message[], summary: string): Compaction["kept"] {
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
