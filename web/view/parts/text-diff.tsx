/** The lines of two texts, those that were removed and added marked with signs beside their colours. */
import { diffLines } from "diff";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { count } from "../../model/numbers.ts";
import { Visible } from "./text-block.tsx";

/** Lines of sameness that stand around a change. */
const context = 3;
/** The most edits that are looked for: beyond them the texts are told to be different as wholes. */
const mostEdits = 4_000;
const mostShown = 1_500;

interface Line {
  readonly sign: " " | "+" | "−" | "…";
  readonly text: string;
}

/** The difference of two texts by lines. */
export function TextDiff({ before, after }: { readonly before: string; readonly after: string }): JSX.Element {
  const lines = useMemo(() => linesOf(before, after), [before, after]);
  if (!lines) return <p class="quiet">The texts differ in too many lines to be compared.</p>;
  return (
    <pre class="raw text-diff" tabIndex={0} aria-label="Difference of two texts">
      {lines.slice(0, mostShown).map(({ sign, text }, place) => (
        <span key={place} class={sign === "+" ? "added" : sign === "−" ? "removed" : sign === "…" ? "skipped" : ""}>
          {sign} <Visible text={text} />
          {"\n"}
        </span>
      ))}
      {lines.length > mostShown ? `… ${count(lines.length - mostShown)} more lines` : null}
    </pre>
  );
}

function linesOf(before: string, after: string): readonly Line[] | undefined {
  const changes = diffLines(before, after, { maxEditLength: mostEdits });
  if (!changes) return undefined;
  return changes.flatMap(({ value, added, removed }, place): readonly Line[] => {
    const lines = value.replace(/\n$/, "").split("\n");
    if (added || removed) return lines.map((text) => ({ sign: added ? "+" : "−", text }));
    const head = place === 0 ? 0 : context;
    const tail = place === changes.length - 1 ? 0 : context;
    const same = (text: string): Line => ({ sign: " ", text });
    if (lines.length <= head + tail + 1) return lines.map(same);
    return [
      ...lines.slice(0, head).map(same),
      { sign: "…", text: `${count(lines.length - head - tail)} lines the same` },
      ...(tail === 0 ? [] : lines.slice(-tail).map(same)),
    ];
  });
}
