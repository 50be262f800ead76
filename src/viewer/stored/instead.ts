/** The window that another strategy or another budget would have made for a call: composed from the log, call by call. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { JsonObject, Message } from "../../message/message.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { Turns } from "../../turns.ts";
import { strategyFrom, strategyIn } from "../../window/by-name.ts";
import { Composer } from "../../window/composer.ts";
import { EditIndex } from "../../window/edits.ts";
import type { SentBlocks } from "../../window/sent.ts";
import type { Composed, Strategy } from "../../window/window.ts";
import type { ViewerWindow } from "../viewer.ts";
import { entriesOf } from "./entries.ts";
import type { Place } from "./epoch-index.ts";
import { fatesOf } from "./fates.ts";
import { repairsIn } from "./repairs.ts";
import { rebuildSettings } from "./settings.ts";
import { rebuiltBlocks } from "./window.ts";

/** The other settings, and those of the session that stay. */
export interface InsteadOptions {
  readonly strategy: string | undefined;
  readonly budget: number | undefined;
  readonly config: JsonObject;
  readonly profile: string;
  readonly counter: TokenCounter;
  /** The blocks that were sent with the call. */
  readonly sent: SentBlocks;
  /** The budget that the call had; null for none. */
  readonly ownBudget: number | null;
  readonly call: number;
  readonly lastSeq: number;
}

/**
 * Composes before each answer of the log, as a live agent would have.
 *
 * @throws WindrowError `unknown-strategy`, `bad-option`; `over-budget` and `budget-too-small` for the last window alone
 */
export async function insteadWindow(
  place: Place,
  options: InsteadOptions,
  signal?: AbortSignal,
): Promise<ViewerWindow> {
  const { config, counter, sent, call, lastSeq } = options;
  const strategy = strategyFor(options);
  const budget = options.budget ?? options.ownBudget ?? Infinity;
  if (!(budget > 0)) throw new WindrowError("bad-option", `A budget is a positive number, not ${budget}.`, { budget });
  const under = { strategy: strategy.name, profile: options.profile, counter: counter.name };
  const settings = { ...(await rebuildSettings(place.store, config, under, counter)), strategy };
  const composer = new Composer(settings);
  const request = {
    budget,
    ...(sent.system !== undefined && { system: sent.system }),
    ...(sent.tools !== undefined && { tools: sent.tools }),
  };
  const turns = new Turns(signal);
  const query = { kind: "message", to: lastSeq } as const;
  for await (const { seq, message } of place.store.read(place.scope, place.id, query)) {
    if (message.role === "assistant" && seq > 1) await composeAnyway(() => turns.run(composer.composing(request)));
    composer.push(seq, message);
    await turns.turn();
  }
  const composed = await turns.run(composer.composing(request));
  const logged = new Map<number, Message>(composer.messages.map(({ seq, message }) => [seq, message]));
  const edits = new EditIndex(composed.state.edits);
  const rebuilt = { composed, shown: composer.shown(), logged, edits, sent, settings };
  const entries = entriesOf(rebuilt);
  return {
    call,
    lastSeq,
    epoch: composed.report.epoch,
    tokens: composed.tokens,
    budget: Number.isFinite(budget) ? budget : null,
    blocks: rebuiltBlocks(rebuilt, entries, composed.tokens),
    verified: notSent(composed),
    ...(sent.system !== undefined && { system: sent.system }),
    tools: sent.tools ?? [],
    missing: [],
    entries,
    fates: fatesOf(composed.state, lastSeq),
    cache: null,
    repairs: repairsIn(rebuilt),
    instead: { strategy: strategy.name, budget: Number.isFinite(budget) ? budget : null },
  };
}

function strategyFor({ strategy, config }: InsteadOptions): Strategy {
  if (strategy !== undefined) return strategyFrom(strategy);
  return strategyIn(config) ?? strategyFrom("adaptive");
}

function notSent({ report: { windowHash } }: Composed): ViewerWindow["verified"] {
  const problem = "Composed with other settings: nothing like it was ever sent.";
  return { isVerified: false, recorded: null, rebuilt: windowHash, problem };
}

/** An earlier window that could not fit was the agent's trouble then; later ones may fit. */
async function composeAnyway(compose: () => Promise<Composed>): Promise<void> {
  try {
    await compose();
  } catch (error) {
    if (!isWindrowError(error, "over-budget") && !isWindrowError(error, "budget-too-small")) throw error;
  }
}
