/** Preset pi, with the literal numbers of docs/presets.md. */
import type { Locale } from "../../config/locale.ts";
import { layers } from "../strategies/layered.ts";
import type { LayeredOptions } from "../strategies/layered.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link piPreset}: the preset's six constants, and the language of its mark. */
export interface PiOptions extends Omit<LayeredOptions, "lowWater"> {
  /** Share of the contextWindow that a request may fill (CONTEXT_RATIO). Default 0.75. */
  readonly contextRatio?: number;
  /** The language of the mark for lines left out. Default `zh`. */
  readonly locale?: Locale;
}

/**
 * On every call, results older than the newest 6 and longer than 500 characters keep 3 + 2 lines, and only the newest
 * answer keeps its reasoning. Over 0.75 of the contextWindow, the first user message and the newest 20 messages stay.
 * An open tool loop keeps its reasoning, because providers that sign it require it; `openLoop: false` keeps to the numbers.
 */
export function piPreset({ contextRatio, locale = "zh", ...options }: PiOptions = {}): Strategy {
  return {
    name: "pi",
    passes: layers(options, { minChars: 500, locale }, false),
    trigger: { messages: 0 },
    lowWater: 1,
    keepFirstUser: true,
    settings: {
      counter: "cl100k",
      imageTokens: 85,
      ratio: contextRatio ?? 0.75,
      ...(contextRatio !== undefined && { ratioOption: "contextRatio" }),
      locale,
    },
  };
}
