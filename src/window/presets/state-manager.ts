/** Preset state-manager (docs/presets.md). */
import { slidingWindow } from "../strategies/sliding-window.ts";
import { summaryHooks } from "../summary/strategy-hooks.ts";
import { presetWith } from "./preset.ts";
import type { Preset } from "./preset.ts";

/**
 * Over the limit, messages leave from the head, a call never without its result; the system prompt stays. A summary takes
 * their place as a system message that begins `前文の要約：`.
 */
export function stateManager(): Preset {
  const summaryMessage = { role: "system", prefix: "前文の要約：" } as const;
  const { compact } = summaryHooks({ mode: "cumulative", locale: "ja", message: summaryMessage }, {});
  const settings = { counter: "estimate", locale: "ja" } as const;
  return {
    ...presetWith("state-manager", { ...slidingWindow({ note: false }), compact }, settings),
    summaryMessage,
  };
}
