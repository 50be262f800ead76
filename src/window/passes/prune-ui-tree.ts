/** prune-ui-tree: dumps of screens and pages shrink to fixed limits, or to one line for each interactive element. */
import type { ToolResultPart } from "../../message/message.ts";
import { inlineName, quoteHint, quoteText } from "../../message/quote.ts";
import { isUiDump, parseLoose, readUiTree } from "../ui/tree.ts";
import { cutText, interactiveLines, limitUi, uiLimits } from "../ui/limits.ts";
import type { UiLimits } from "../ui/limits.ts";
import { recallId } from "../stub/stub.ts";
import type { Pass, TextMask } from "../window.ts";
import { shortening } from "./results.ts";
import type { ViewResult } from "./results.ts";

/** Options of {@link pruneUiTree}. */
export interface PruneUiTreeOptions {
  /**
   * - `interactive-lines` (default): a line for each element a user can act on, under a label that says how many of how
   * many are shown. Measured on real pages, it keeps every element that was acted on next, at a third of the tokens.
   * - `limits`: the cuts of preset `miki`, which leave the shape as it is; measured on the same pages, they lose nearly
   * all such elements.
   */
  readonly rule?: "interactive-lines" | "limits";
  /** For `limits`: limits that differ from {@link uiLimits}. */
  readonly limits?: Partial<UiLimits>;
  /** Only results of these tools. Default: every result that is a dump by its structure. */
  readonly tools?: readonly string[];
  /** How many of the newest dumps stay whole. Default 1 for `interactive-lines`, 0 for `limits`. */
  readonly keepNewest?: number;
  /** When dumps shrink: `over-target`, or `always` (default). */
  readonly when?: "over-target" | "always";
}

/** Shrinks UI dumps in tool results; other results, and dumps that would not get shorter, stay as they are. */
export function pruneUiTree({
  rule = "interactive-lines",
  limits,
  tools,
  keepNewest = rule === "limits" ? 0 : 1,
  when = "always",
}: PruneUiTreeOptions = {}): Pass {
  const shrink = remembering((entry, mask) =>
    rule === "limits" ? limited(entry, { ...uiLimits, ...limits }, mask) : asLines(entry, mask),
  );
  const isDump = ({ result, name, text }: ViewResult): boolean =>
    text !== undefined && (tools ? tools.includes(name) : isUiDump(result));
  return shortening({
    name: "prune-ui-tree",
    when,
    *texts(results, mask) {
      const dumps = results.filter(isDump);
      for (const entry of dumps.slice(0, Math.max(0, dumps.length - keepNewest))) {
        const text = shrink(entry, mask);
        if (text !== undefined) yield { entry, text, reason: reasons[rule] };
      }
    },
  });
}

const reasons = {
  "interactive-lines": "a dump of a screen, shown as its interactive elements",
  "limits": "a dump of a screen, cut to the limits of its lists, depth and texts",
} as const;

/** The shorter text of a dump; undefined where it stays as it is. */
type Shrink = (entry: ViewResult, mask: TextMask) => string | undefined;

/** The same, remembered for as long as a result lives: windows of every call ask for the same dumps. */
function remembering(shrink: Shrink): Shrink {
  const known = new WeakMap<ToolResultPart, Readonly<Record<"seq" | "mask" | "text", unknown>>>();
  return (entry, mask) => {
    const { seq, result } = entry;
    const found = known.get(result);
    if (found?.seq === seq && found.mask === mask) return found.text as string | undefined;
    const text = shrink(entry, mask);
    known.set(result, { seq, mask, text });
    return text;
  };
}

/** The limits are defined for JSON; a dump in another form is cut as data. */
function limited({ name, text = "" }: ViewResult, limits: UiLimits, mask: TextMask): string | undefined {
  const value = parseLoose(text);
  if (value === undefined) return cutText(text, limits.maxDataChars, mask);
  const shown = JSON.stringify(limitUi(value, name, limits, mask));
  return shown === JSON.stringify(value) ? undefined : shown;
}

function asLines({ seq, name, text = "" }: ViewResult, mask: TextMask): string | undefined {
  const dump = readUiTree(text);
  if (!dump) return undefined;
  const { lines, shown, total } = interactiveLines(dump, mask);
  if (shown === 0) return undefined;
  const truncated = JSON.stringify({ by: "interactive-lines", shown, total });
  const label = `[Windrow: ${inlineName(name)} truncated ${truncated}, ${quoteHint}; recall ${recallId(seq)} shows the whole]`;
  return [label, ...[...dump.about, ...lines].map(quoteText)].join("\n");
}
