/** One message of the log as a line of fixed height. */
import type { JSX } from "preact";
import { memo } from "preact/compat";
import type { OutlineRow, ViewerFate } from "../../../src/viewer/viewer.ts";
import { fateLetter } from "../../model/fates.ts";
import { compact } from "../../model/numbers.ts";
import { plainLine } from "../../model/visible.ts";

/** The height of a line in pixels, as the style sheet has it. */
export const rowHeight = 24;

/** The properties of a line. */
export interface LogRowProps {
  readonly seq: number;
  readonly total: number;
  readonly row: OutlineRow | undefined;
  /** Undefined where the window is not known: nothing is said of what it held. */
  readonly fate: ViewerFate | undefined;
  readonly pass: string;
  readonly isSelected: boolean;
  readonly isLast: boolean;
  readonly onChoose: (seq: number) => void;
  readonly onHover: (seq: number) => void;
}

function Row({ seq, total, row, fate, pass, isSelected, isLast, onChoose, onHover }: LogRowProps): JSX.Element {
  const tools = row?.tools.length ? `${row.tools.join(" ")} ` : "";
  return (
    <div
      id={`log-${seq}`}
      class={`row is-${fate ?? "unknown"}${isSelected ? " is-selected" : ""}${isLast ? " is-last" : ""}${row?.isError ? " is-error" : ""}`}
      role="option"
      aria-selected={isSelected}
      aria-posinset={seq}
      aria-setsize={total}
      onClick={() => onChoose(seq)}
      onMouseEnter={() => onHover(seq)}
    >
      <span class="row-seq">m{seq}</span>
      {fate ? (
        <span class={`fate fate-${fate}`} aria-label={pass ? `${fate}, by ${pass}` : fate}>
          <b>{fateLetter(fate)}</b>
          {fate}
        </span>
      ) : (
        <span class="fate" />
      )}
      <span class={`role role-${row?.role ?? "none"}`}>{row?.role ?? ""}</span>
      <span class="row-tokens">{row ? compact(row.tokens) : ""}</span>
      <span class="row-text">
        {row?.isError ? <b class="row-error">error </b> : null}
        {tools ? <b>{tools}</b> : null}
        {row ? plainLine(row.head) : "…"}
      </span>
    </div>
  );
}

/** A line that is drawn again only when its message or fate changed. */
export const LogRow = memo(
  Row,
  (before, after) =>
    before.row === after.row &&
    before.fate === after.fate &&
    before.pass === after.pass &&
    before.isSelected === after.isSelected &&
    before.isLast === after.isLast &&
    before.total === after.total &&
    before.seq === after.seq,
);
