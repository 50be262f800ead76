/** The options of `windrow compose`, checked before any work is done. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { modelOf } from "../../tokens/models.ts";
import { budgetFor, loadCounterFor, sizedBy } from "../../window/settings.ts";
import { profileOf } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import { strategyOf } from "../../window/by-name.ts";
import { strategyFromText } from "../../session/manager/strategy-file.ts";
import type { Strategy } from "../../window/window.ts";
import type { ReadLimits } from "../../transcript/limits.ts";
import { readLimits } from "../read-limits.ts";
import { budgetOption, countOf } from "../values.ts";
import { readSystem } from "../read-system.ts";

/** The options as they stand on the command line. */
export interface ComposeFlags {
  readonly strategy?: string;
  readonly budget?: string;
  readonly profile?: string;
  readonly model?: string;
  readonly counter?: string;
  readonly system?: string;
  readonly at?: string;
  readonly session?: string;
  readonly store: string;
  readonly explain?: boolean;
  readonly json?: boolean;
  readonly maxBytes?: string;
  readonly maxEntries?: string;
}

/** The options, understood; what was not given is absent. */
export interface ComposeSettings {
  readonly strategy?: Strategy;
  readonly profile?: Profile;
  readonly counter?: TokenCounter;
  readonly budget?: number;
  readonly system?: string;
  readonly at?: number;
  /** Which session of a file that holds several, from 1. */
  readonly session?: number;
  readonly limits?: ReadLimits;
}

/**
 * Checks the options and reads the system prompt.
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`, `unknown-profile`, `unknown-model`, `unknown-counter`,
 * `input-not-found`, `input-unreadable`
 */
export async function readComposeFlags(flags: ComposeFlags): Promise<ComposeSettings> {
  const model = flags.model === undefined ? undefined : modelOf(flags.model);
  const profile = flags.profile ?? model?.profile;
  const named = flags.strategy === undefined ? undefined : await strategyFromText(flags.strategy);
  const given = flags.budget === undefined ? undefined : budgetOption("--budget", flags.budget);
  const strategy = given === "auto" ? sizedBy(named ?? strategyOf("adaptive"), given) : named;
  const budget = budgetFor(strategy?.settings, { budget: given, model });
  const system = await readSystem(flags.system);
  return {
    ...(strategy && { strategy }),
    ...(profile !== undefined && { profile: profileOf(profile) }),
    ...(flags.counter !== undefined && { counter: await loadCounterFor(strategy?.settings, flags.counter) }),
    ...(budget !== undefined && { budget }),
    ...(system !== undefined && { system }),
    ...readLimits(flags),
    ...(flags.at !== undefined && { at: countOf("--at", flags.at) }),
    ...(flags.session !== undefined && { session: countOf("--session", flags.session) }),
  };
}
