/** The lines of a digest, each with the message and line that it is from; a gap opens from the log in its place. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { messageText } from "../../../src/message/message.ts";
import type { LineOrigin, WindowEntry } from "../../../src/viewer/viewer.ts";
import { several } from "../../model/numbers.ts";
import { originLines } from "../../model/origins.ts";
import type { OriginLine } from "../../model/origins.ts";
import { shownLines } from "../../model/excerpt.ts";
import type { SessionState } from "../../state/session.ts";
import { Raw, Visible } from "../parts/text-block.tsx";

/** The properties of a labelled text. */
export interface DigestLinesProps {
  readonly state: SessionState;
  readonly entry: WindowEntry;
  readonly text: string;
  readonly origins: readonly LineOrigin[];
  readonly selected: number | undefined;
}

const mostLines = 2_000;

/** The lines of a labelled text. */
export function DigestLines({ state, entry, text, origins, selected }: DigestLinesProps): JSX.Element {
  const lines = useMemo(() => originLines(text, origins), [text, origins]);
  const name = `digest/${entry.key}`;
  const list = useRef<HTMLOListElement>(null);
  const chosen = selected === undefined ? -1 : lines.findIndex(({ origin }) => origin?.seq === selected);
  const isOpen = (state.opened.value.get(name) ?? 0) > 0 || chosen >= shownLines;
  const shown = lines.slice(0, isOpen ? mostLines : shownLines);
  useEffect(() => {
    if (chosen !== -1 && state.selection.peek()?.by !== "window")
      list.current?.children[chosen]?.scrollIntoView({ block: "center" });
  }, [chosen]);
  return (
    <>
      <ol class="origins" ref={list}>
        {shown.map((line) => (
          <Line
            key={line.line}
            state={state}
            line={line}
            isSelected={line.origin?.seq === selected && line.origin !== undefined}
          />
        ))}
      </ol>
      {lines.length > shown.length || isOpen ? (
        <p class="more">
          <button type="button" onClick={() => state.open(name, isOpen ? 0 : 1)}>
            {isOpen ? "show less" : `show all ${several(lines.length, "line")}`}
          </button>
          {isOpen && lines.length > mostLines ? <span class="quiet">the rest is in the text view (t)</span> : null}
        </p>
      ) : null}
    </>
  );
}

function Line(props: {
  readonly state: SessionState;
  readonly line: OriginLine;
  readonly isSelected: boolean;
}): JSX.Element {
  const { state, line, isSelected } = props;
  const opened = useSignal<string | undefined>(undefined);
  const { origin, gap } = line;
  const expand = async (): Promise<void> => {
    if (!gap) return;
    if (opened.value !== undefined) {
      opened.value = undefined;
      return;
    }
    try {
      const message = (await state.log.all([gap.seq])).get(gap.seq);
      const logged = message ? messageText(message).split("\n") : [];
      opened.value = logged.slice(Math.max(0, gap.from - 1), gap.to === 0 ? undefined : gap.to).join("\n");
    } catch (error) {
      opened.value = String(error);
    }
  };
  return (
    <li class={isSelected ? "is-selected" : ""}>
      <span class="gutter">
        {origin ? (
          <button
            type="button"
            class="link"
            title={`from message ${origin.seq}${origin.at > 0 ? `, line ${origin.at}` : ""}`}
            onClick={() => state.select(origin.seq, "window")}
          >
            m{origin.seq}
            {origin.at > 0 ? `:${origin.at}` : ""}
          </button>
        ) : null}
      </span>
      <code class="raw">
        <Visible text={line.text === "" ? " " : line.text} />
        {gap ? (
          <button
            type="button"
            class="small gap"
            aria-expanded={opened.value !== undefined}
            onClick={() => void expand()}
          >
            {opened.value === undefined ? `open the gap from m${gap.seq}` : "close"}
          </button>
        ) : null}
      </code>
      {opened.value === undefined ? null : (
        <Raw class="from-log" text={opened.value === "" ? "(nothing there)" : opened.value} />
      )}
    </li>
  );
}
