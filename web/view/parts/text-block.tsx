/** A text as the model saw it: raw, monospaced, unseen characters named, long ones opened step by step. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { extentOf, wholeCharacters } from "../../model/excerpt.ts";
import { count, several } from "../../model/numbers.ts";
import { segments } from "../../model/visible.ts";
import type { SessionState } from "../../state/session.ts";

/** Characters that one step opens: a browser lays out no more at once without a pause that is felt. */
const step = 200_000;

/** The properties of a text. */
export interface TextBlockProps {
  readonly state: SessionState;
  /** The name under which it stays open while the page scrolls. */
  readonly name: string;
  readonly text: string;
  /** Its length where the text is only a beginning. */
  readonly total?: number | undefined;
  /** Asks for characters behind the beginning. */
  readonly more?: ((from: number, to: number) => Promise<string>) | undefined;
}

/** A text in a block of its own. */
export function TextBlock({ state, name, text, total = text.length, more }: TextBlockProps): JSX.Element {
  const rest = useSignal("");
  const fault = useSignal("");
  const extent = useMemo(() => extentOf(text), [text]);
  const wanted = state.opened.value.get(name) ?? 0;
  const whole = text + rest.value;
  useEffect(() => {
    if (wanted <= whole.length || whole.length >= total || !more || fault.value) return;
    more(whole.length, Math.min(total, whole.length + step)).then(
      (next) => {
        if (next === "") fault.value = "The rest of this text is not there.";
        else rest.value += next;
      },
      (error: unknown) => {
        fault.value = error instanceof Error ? error.message : String(error);
      },
    );
  }, [wanted, whole.length, total, more, fault.value]);
  const end = wanted > 0 ? wholeCharacters(whole, Math.min(wanted, whole.length)) : extent.shown;
  const left = total - end;
  const size = total > text.length ? `${count(total)} characters` : several(extent.lines, "line");
  return (
    <>
      <Raw text={whole.slice(0, end)} />
      {(left > 0 || wanted > 0) && (
        <p class="more">
          {left > 0 && (
            <button type="button" onClick={() => state.open(name, Math.max(end, extent.shown) + step)}>
              {left <= step ? `show all ${size}` : `show ${count(step)} more of ${count(total)} characters`}
            </button>
          )}
          {wanted > 0 && (
            <button type="button" onClick={() => state.open(name, 0)}>
              show less
            </button>
          )}
          {fault.value && <span class="fault">{fault.value}</span>}
        </p>
      )}
    </>
  );
}

/** A raw text; what cannot be seen is named. */
export function Raw({ text, class: extra = "" }: { readonly text: string; readonly class?: string }): JSX.Element {
  return (
    <pre class={`raw ${extra}`}>
      <Visible text={text} />
    </pre>
  );
}

/** The pieces of a text, marks as elements of their own. */
export function Visible({ text }: { readonly text: string }): JSX.Element {
  const pieces = useMemo(() => segments(text), [text]);
  return (
    <>
      {pieces.map(({ text: piece, mark }, place) =>
        mark === undefined ? (
          piece
        ) : (
          <span key={place} class="mark" title={`character ${mark}, shown and not followed`}>
            {mark}
          </span>
        ),
      )}
    </>
  );
}
