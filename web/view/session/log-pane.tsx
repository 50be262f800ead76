/** The log: every message a line with its fate at the call, a strip of all fates beside it, and the words of one below. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { fateAt, fateCounts, fateOrder, runAt } from "../../model/fates.ts";
import { compact, several } from "../../model/numbers.ts";
import { keyPane } from "../../state/preferences.ts";
import type { SessionState } from "../../state/session.ts";
import { List } from "../parts/list.tsx";
import { Detail } from "./detail.tsx";
import { FateStrip } from "./fate-strip.tsx";
import { FateWords } from "./fate-words.tsx";
import { LogRow, rowHeight } from "./log-row.tsx";

/** The `id` of the list. */
const logId = "log";

/** The pane of the log, with the selected message below. */
export function LogPane({ state }: { readonly state: SessionState }): JSX.Element {
  const hovered = useSignal<number | undefined>(undefined);
  const messages = state.messages.value;
  const selection = state.selection.value;
  const { value } = state.window.value;
  const lastSeq = value?.lastSeq ?? messages;
  const fates = value?.fates ?? [];

  /** The offset that the list was scrolled to by itself, and whether the reader scrolled since they came to the call. */
  const placed = useRef(0);
  const isScrolled = useRef(false);
  const show = (seq: number): void => {
    placed.current = reveal(seq - 1, false) ?? placed.current;
  };

  useEffect(() => {
    if (selection) show(selection.seq);
  }, [selection, messages > 0]);
  useLayoutEffect(() => void (isScrolled.current = false), [state.call.value]);
  // A window that comes late does not take the reader away from the place that they scrolled to, nor one that is drawn.
  useLayoutEffect(() => {
    if (!state.selection.peek() && value && !isScrolled.current) show(value.lastSeq);
  }, [value?.lastSeq, messages > 0]);

  const shown = hovered.value ?? selection?.seq;
  return (
    <section class="pane log" aria-label="Log">
      <header class="pane-head">
        <h2>Log</h2>
        <span class="quiet">{several(messages, "message")}</span>
        {value && <FateTally counts={fateCounts(fates, lastSeq, messages)} />}
      </header>
      <div class="log-body">
        <List
          class="rows"
          role="listbox"
          id={logId}
          label={`Messages of the log with their fate at call ${state.call.value}`}
          active={selection ? `log-${selection.seq}` : undefined}
          data={{ length: messages } as ArrayLike<undefined>}
          itemSize={rowHeight}
          bufferSize={120}
          onFocus={() => {
            keyPane.value = "log";
          }}
          onLeave={() => {
            hovered.value = undefined;
          }}
          onScroll={(offset) => {
            if (Math.abs(offset - placed.current) > rowHeight) isScrolled.current = true;
          }}
        >
          {(_, index) => {
            const seq = index + 1;
            const run = runAt(fates, seq);
            return (
              <LogRow
                key={seq}
                seq={seq}
                total={messages}
                row={state.outline.at(seq)}
                fate={value && fateAt(fates, seq, lastSeq)}
                pass={run && seq <= lastSeq ? run.pass : ""}
                isSelected={selection?.seq === seq}
                isLast={seq === lastSeq}
                onChoose={(chosen) => state.select(chosen, "log")}
                onHover={(over) => {
                  hovered.value = over;
                }}
              />
            );
          }}
        </List>
        <FateStrip state={state} onPick={(seq) => void reveal(seq - 1, true)} />
      </div>
      <p class="pane-foot" id="fate-words">
        {shown === undefined ? (
          <span class="quiet">Point at a message, or press j and k, to see what became of it and why.</span>
        ) : (
          <FateWords state={state} seq={shown} />
        )}
      </p>
      {selection && <Detail state={state} seq={selection.seq} />}
    </section>
  );
}

function FateTally({ counts }: { readonly counts: Readonly<Record<(typeof fateOrder)[number], number>> }): JSX.Element {
  return (
    <ul class="tally" aria-label="Messages by fate">
      {fateOrder.map((fate) =>
        counts[fate] === 0 ? null : (
          <li key={fate} class={`fate fate-${fate}`}>
            <b aria-hidden="true">{fate.charAt(0).toUpperCase()}</b>
            {compact(counts[fate])} {fate}
          </li>
        ),
      )}
    </ul>
  );
}

/**
 * Scrolls a row to the middle, where it is out of view or `always`; the offset that the list then has, undefined where it
 * stays. The list's own way to a row goes on after it was left, and takes a reader back who scrolls at once.
 */
function reveal(index: number, always: boolean): number | undefined {
  const list = document.getElementById(logId);
  if (!list || index < 0) return undefined;
  const { clientHeight, scrollHeight, scrollTop } = list;
  const top = index * rowHeight;
  if (!always && top >= scrollTop && top + rowHeight <= scrollTop + clientHeight) return undefined;
  const offset = Math.max(0, Math.min(top - (clientHeight - rowHeight) / 2, scrollHeight - clientHeight));
  list.scrollTop = offset;
  return offset;
}
