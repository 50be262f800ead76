/** The settings that a strategy fixes around its windows: its counter, its share of the contextWindow, its folder. */
import type { Locale } from "../config/locale.ts";

/** Settings that come with a strategy, under those that are given beside it. */
export interface StrategySettings {
  /** The counter, by name. Default `estimate`. */
  readonly counter?: string;
  /** Tokens of one image, whatever its size. Default: the counter's, else by its dimensions. */
  readonly imageTokens?: number;
  /** Share of the model's contextWindow that a request may fill. Default 0.75. */
  readonly ratio?: number;
  /** The option that set `ratio`. A budget beside it is refused: one of the two would have no effect. */
  readonly ratioOption?: string;
  /** The language of its marks and prompts. */
  readonly locale?: Locale;
  /** The base folder of the store, where no store is named. */
  readonly folder?: string;
  /** Whether e-mail addresses are masked, where no mask is given. Default false. */
  readonly maskEmail?: boolean;
}
