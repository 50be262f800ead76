/** prune-ui-tree: dumps of screens and pages shrink to fixed limits, or to one line for each interactive element. */
import type { JsonValue, ToolResultPart } from "../../message/message.ts";
import { inlineName, quoteHint, quoteText } from "../../message/quote.ts";
import { parseLoose } from "../ui/json.ts";
import { cutText, limitUi, uiLimits } from "../ui/limits.ts";
import type { UiLimits } from "../ui/limits.ts";
import { interactiveLines } from "../ui/lines.ts";
import type { LineOptions } from "../ui/lines.ts";
import { isUiDump, readUiTree } from "../ui/tree.ts";
import { recallId } from "../stub/stub.ts";
import type { Edit, Pass, PassContext, TextMask, View } from "../window.ts";
import { resultsOf, stubResult } from "./results.ts";
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
  /** For `interactive-lines`: the options of the lines. */
  readonly lines?: LineOptions;
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
  limits = {},
  lines = {},
  tools,
  keepNewest = rule === "limits" ? 0 : 1,
  when = "always",
}: PruneUiTreeOptions = {}): Pass {
  const shrink = remembering(
    rule === "limits"
      ? (entry, text, mask) => limited(entry, text, { ...uiLimits, ...limits }, mask)
      : (entry, text, mask) => asLines(entry, text, lines, mask),
  );
  return {
    name: "prune-ui-tree",
    plan(view: View, context: PassContext): readonly Edit[] {
      if (when === "over-target" && view.tokens <= context.target) return [];
      const dumps = resultsOf(view).filter((entry) => isDump(entry, tools));
      return dumps.slice(0, dumps.length - keepNewest).flatMap((entry) => {
        const text = shrink(entry, entry.text ?? "", context.mask);
        const edit =
          text === entry.text
            ? undefined
            : stubResult(entry, text, context, { pass: "prune-ui-tree", reason: reasons[rule] });
        return edit ? [edit] : [];
      });
    },
  };
}

type Shrink = (entry: ViewResult, text: string, mask: TextMask) => string;

/** The same, remembered for as long as a result lives: windows of every call ask for the same dumps. */
function remembering(shrink: Shrink): Shrink {
  const known = new WeakMap<
    ToolResultPart,
    { readonly seq: number; readonly name: string; readonly mask: TextMask; readonly shown: string }
  >();
  return (entry, text, mask) => {
    const { seq, name, result } = entry;
    const found = known.get(result);
    if (found?.seq === seq && found.name === name && found.mask === mask) return found.shown;
    const shown = shrink(entry, text, mask);
    known.set(result, { seq, name, mask, shown });
    return shown;
  };
}

const reasons = {
  "interactive-lines": "a dump of a screen, shown as its interactive elements",
  "limits": "a dump of a screen, cut to the limits of its lists, depth and texts",
} as const;

function isDump({ result, name, text }: ViewResult, tools: readonly string[] | undefined): boolean {
  return text !== undefined && (tools ? tools.includes(name) : isUiDump(result));
}

/** The limits are defined for JSON; a dump in another form is cut as data. */
function limited({ name }: ViewResult, text: string, limits: UiLimits, mask: TextMask): string {
  const value = parseLoose(text) as JsonValue | undefined;
  if (value === undefined) return cutText(text, limits.maxDataChars, mask);
  const shown = limitUi(value, name, limits, mask);
  return JSON.stringify(shown) === JSON.stringify(value) ? text : JSON.stringify(shown);
}

function asLines({ seq, name }: ViewResult, text: string, options: LineOptions, mask: TextMask): string {
  const dump = readUiTree(text);
  if (!dump) return text;
  const { lines, shown, total } = interactiveLines(dump, options, mask);
  if (shown === 0) return text;
  const truncated = JSON.stringify({ by: "interactive-lines", shown, total });
  const label = `[Windrow: ${inlineName(name)} truncated ${truncated}, ${quoteHint}; recall ${recallId(seq)} shows the whole]`;
  return [label, ...[...dump.about, ...lines].map(quoteText)].join("\n");
}
