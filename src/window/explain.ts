/** Explanations: the fate of every message of the log in a window, with the pass, the reason and the tokens gained. */
import { noAnswer } from "./provider/encode.ts";
import { WindrowError } from "../errors.ts";
import { isObject } from "../message/json.ts";
import type { Message, Role } from "../message/message.ts";
import type { RepairKind } from "../message/repair.ts";
import { countPart } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { counterOf } from "../tokens/counters.ts";
import { Composer } from "./composer.ts";
import type { ComposerOptions, Shown } from "./compose-options.ts";
import { profileOf } from "./provider/profile.ts";
import type { Profile } from "./provider/profile.ts";
import { none } from "./strategies/strategies.ts";
import { EditIndex } from "./edits.ts";
import { countOnce } from "../tokens/counter.ts";
import type { SentBlocks, SentChange } from "./sent.ts";
import type { Edit, WindowState } from "./window.ts";

/**
 * - `kept`: in the window, whole or without its reasoning;
 * - `stubbed`: in the window, with a result cut to an excerpt;
 * - `replaced`: not in the window; a labelled message stands for it and its neighbours;
 * - `dropped`: not in the window;
 * - `added`: in the window and not in the log: the labelled messages, and what makes the window valid.
 */
export type Fate = (typeof fates)[number];

const fates = ["kept", "stubbed", "replaced", "dropped", "added"] as const;

/** The fate of one message. */
export interface ExplainedItem {
  readonly id: string;
  /** Its place in the log, from 1; the place of an `added` message in the window. */
  readonly seq: number;
  readonly role: Role;
  readonly fate: Fate;
  /** The pass of the edit; `repair` and `profile` for the needs of every window; empty for an unchanged message. */
  readonly pass: string;
  readonly reason: string;
  /** Tokens in the log, 0 for `added`. */
  readonly tokensBefore: number;
  /** Tokens in the window, 0 for `replaced` and `dropped`. */
  readonly tokensAfter: number;
}

/** The number and the tokens of the messages with one fate. */
export interface FateTotal {
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Every message's fate. The differences of the items add up to `tokensBefore − tokensAfter`. */
export interface Explanation {
  /** The fates in the order of the log, each `added` message before the message at its place. */
  readonly items: readonly ExplainedItem[];
  readonly totals: Readonly<Record<Fate, FateTotal>>;
  /** The messages that stayed without their reasoning, and the tokens of that reasoning. */
  readonly reasoning: { readonly messages: number; readonly tokens: number };
  /** The system prompt and the tools that go with the window, as far as they are known; absent for `explainWindow`. */
  readonly sent?: SentBlocks;
  /** The difference between `sent` and what went with the epoch before, where the epoch opened because of it. */
  readonly changed?: SentChange;
  /** Tokens of the whole log. */
  readonly tokensBefore: number;
  /** Tokens of the window's messages, without a system prompt, tools and a tail that the log does not have. */
  readonly tokensAfter: number;
}

/** The facts of a logged message that an explanation needs. */
export interface LoggedMessage {
  readonly seq: number;
  readonly id: string;
  readonly role: Role;
  readonly tokens: number;
  readonly reasoningTokens: number;
}

/** Options of an explanation: the profile and the counter of the window. */
export interface ExplainOptions {
  /** A name or a Profile. Default `openai-chat`, as in `composeWindow`. */
  readonly profile?: string | Profile;
  /** A name or a TokenCounter. Default `estimate`. */
  readonly counter?: string | TokenCounter;
}

/**
 * Explains a window that `composeWindow` made: every message's fate, in tokens. Pure; the state and the history are all
 * it needs, so it can be asked at any time, also about an older state with the history as it then was.
 *
 * @example
 * const { items } = explainWindow(window.state, messages, { profile: "anthropic" });
 *
 * @param state - as the composition returned it
 * @param messages - the history the composition was given
 * @throws WindrowError `bad-option`, `unknown-profile`, `unknown-counter`
 */
export function explainWindow(
  state: WindowState,
  messages: readonly Message[],
  options: ExplainOptions = {},
): Explanation {
  if (!isObject(state) || !Array.isArray(messages)) {
    const message = "explainWindow takes the `state` that composeWindow returned, and the messages it was given.";
    throw new WindrowError("bad-option", message);
  }
  const counter = counterOf(options.counter);
  const profile = profileOf(options.profile ?? "openai-chat");
  const composer = new Composer({ strategy: none(), profile, counter, state });
  const log = messages.map((message, index) => {
    composer.push(index + 1, message);
    return logged(index + 1, message, countOnce(counter, message), counter);
  });
  return explain(log, composer, { profile, counter });
}

/** The facts of a logged message, for an explanation. */
export function logged(seq: number, message: Message, tokens: number, counter: TokenCounter): LoggedMessage {
  let reasoningTokens = 0;
  for (const part of message.parts) if (part.type === "reasoning") reasoningTokens += countPart(counter, part);
  return { seq, id: message.id, role: message.role, tokens, reasoningTokens };
}

/** Compares a log with the messages that a composer shows of it. */
export function explain(
  log: readonly LoggedMessage[],
  composer: Composer,
  { profile, counter }: Pick<ComposerOptions, "profile" | "counter">,
): Explanation {
  const shown = composer.shown();
  const causes = new Causes(shown, composer.state.edits, profile);
  const kept = new Map<number, number>();
  const added = new Map<number, ExplainedItem[]>();
  const ids = new Map(log.map((entry) => [entry.seq, entry.id]));
  for (const { seq, message } of shown.messages) {
    const { id, role } = message;
    const tokensAfter = countOnce(counter, message);
    if (ids.get(seq) === id) kept.set(seq, (kept.get(seq) ?? 0) + tokensAfter);
    else {
      const about = { id, seq, role, fate: "added", tokensBefore: 0, tokensAfter } as const;
      added.set(seq, [...(added.get(seq) ?? []), { ...about, ...causes.ofAdded(seq, message) }]);
    }
  }
  const items = [...(added.get(0) ?? [])];
  let reasoning = { messages: 0, tokens: 0 };
  for (const entry of log) {
    const { seq, id, role, tokens: tokensBefore, reasoningTokens } = entry;
    const tokens = kept.get(seq);
    const without = reasoningTokens > 0 ? causes.ofReasoning(entry, tokens) : undefined;
    items.push(...(added.get(seq) ?? []));
    items.push({ id, seq, role, ...causes.of(entry, tokens, without), tokensBefore, tokensAfter: tokens ?? 0 });
    if (tokens !== undefined && without) {
      reasoning = { messages: reasoning.messages + 1, tokens: reasoning.tokens + reasoningTokens };
    }
  }
  const totals = fates.map((fate) => [fate, totalOf(items.filter((item) => item.fate === fate))] as const);
  const { tokensBefore, tokensAfter } = totalOf(items);
  return { items, totals: Object.fromEntries(totals) as Record<Fate, FateTotal>, tokensBefore, tokensAfter, reasoning };
}

function totalOf(items: readonly ExplainedItem[]): FateTotal {
  const sum = (tokens: "tokensBefore" | "tokensAfter"): number =>
    items.reduce((total, item) => total + item[tokens], 0);
  return { messages: items.length, tokensBefore: sum("tokensBefore"), tokensAfter: sum("tokensAfter") };
}

type Reason = Pick<ExplainedItem, "pass" | "reason">;
type Cause = Reason & Pick<ExplainedItem, "fate">;

const repairReasons: Readonly<Record<RepairKind, string>> = {
  "closed-call": "a call without a result got one that says so",
  "late-result": "the result came late and is shown as a labelled message",
  "orphan-result": "the result has no call and is shown as a labelled message",
  "duplicate-result": "the call was answered before",
  "renamed-call": "the call's id was used before and got a suffix",
  "empty-message": "there is nothing in it to send",
  "mended-text": "empty or broken text was mended",
  "moved-message": "it stands behind the results it came between",
};

/** The edits, the repairs and the profile, as reasons for what became of a message. */
class Causes {
  readonly #ranges: EditIndex;
  readonly #stubs: ReadonlyMap<number, Edit>;
  readonly #repairs: ReadonlyMap<number, RepairKind>;
  readonly #profile: Profile;

  constructor({ repairs }: Shown, edits: readonly Edit[], profile: Profile) {
    this.#ranges = new EditIndex(edits);
    this.#stubs = new Map(edits.flatMap((edit) => (edit.kind === "stub" ? [[edit.from, edit]] : [])));
    this.#repairs = new Map(repairs.flatMap(({ seq, kind }) => (kind === "closed-call" ? [] : [[seq, kind]])));
    this.#profile = profile;
  }

  /** @param without - why it stands without its reasoning; undefined where it has none, or has it still */
  of({ seq, role }: LoggedMessage, tokens: number | undefined, without: Reason | undefined): Cause {
    const range = this.#ranges.rangeOf(seq);
    if (range)
      return { fate: range.kind === "replace" ? "replaced" : "dropped", pass: range.pass, reason: range.reason };
    const stub = this.#stubs.get(seq);
    if (stub) return { fate: "stubbed", pass: stub.pass, reason: stub.reason };
    const fate = tokens === undefined ? "dropped" : "kept";
    if (without) return { fate, ...without };
    const repair = this.#repairs.get(seq);
    if (repair) return { fate, pass: "repair", reason: repairReasons[repair] };
    if (fate === "kept") return { fate, pass: "", reason: "" };
    if (role !== "system") return { fate, pass: "repair", reason: repairReasons["empty-message"] };
    return { fate, pass: "system", reason: "the system prompt given to compose took its place" };
  }

  ofAdded(seq: number, { id }: Message): Reason {
    const note = id.startsWith("windrow:note:") ? this.#ranges.rangeOf(seq) : undefined;
    if (note) return { pass: note.pass, reason: `it stands for the messages ${note.from} to ${note.to}` };
    if (id.startsWith("windrow:pinned")) return { pass: "pinned", reason: "pinned blocks stand in every window" };
    if (id.startsWith("windrow:insert:")) {
      return { pass: "pinned", reason: "it changed since the epoch opened, and stands where it was first shown" };
    }
    if (id === noAnswer.id) return { pass: "repair", reason: "the provider wants an answer behind results" };
    return { pass: "repair", reason: seq === 0 ? "providers want the user first" : repairReasons["closed-call"] };
  }

  ofReasoning({ seq, tokens: logged }: LoggedMessage, tokens = 0): Reason | undefined {
    const edit = this.#ranges.reasoning.find(({ from, to }) => seq >= from && seq <= to);
    if (edit) return { pass: edit.pass, reason: edit.reason };
    const { name, reasoning } = this.#profile;
    if (reasoning === "ignored") return { pass: "profile", reason: `${name} takes no reasoning back` };
    if (tokens >= logged) return undefined;
    return { pass: "profile", reason: "it is another model's, or stands without its signature" };
  }
}
