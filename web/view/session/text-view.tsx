/** The whole window as one plain text, uncut and unmarked, to read, to search with the browser and to copy. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { windowMessages, windowText } from "../../../src/viewer/page/window-text.ts";
import type { ViewerMessage, ViewerWindow } from "../../../src/viewer/viewer.ts";
import { count } from "../../model/numbers.ts";
import { wordsOf } from "../../source/fault.ts";
import type { SessionState } from "../../state/session.ts";
import { wholeMessage } from "../../state/whole.ts";
import { Fault } from "../parts/badge.tsx";

/** The text of the window at the call. */
export function TextView({ state }: { readonly state: SessionState }): JSX.Element {
  const found = useSignal<{ readonly window: ViewerWindow; readonly text: string } | undefined>(undefined);
  const fault = useSignal<unknown>(undefined);
  const copied = useSignal("");
  const place = useRef<HTMLPreElement>(null);
  const { value, error } = state.window.value;
  useEffect(() => {
    copied.value = "";
    fault.value = undefined;
    if (!value) return;
    textOf(state, value).then(
      (text) => {
        if (state.window.peek().value === value) found.value = { window: value, text };
      },
      (problem: unknown) => {
        if (state.window.peek().value === value) fault.value = problem;
      },
    );
  }, [value]);
  // The text of another window is never shown under this one's call.
  const text = found.value !== undefined && found.value.window === value ? found.value.text : undefined;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text ?? "");
      copied.value = "copied";
    } catch (problem) {
      const selection = getSelection();
      if (place.current && selection) selection.selectAllChildren(place.current);
      copied.value = `selected; press Ctrl+C (${wordsOf(problem)})`;
    }
  };
  return (
    <section class="pane wide-pane" aria-label="Text of the window">
      <header class="pane-head">
        <h2>Text</h2>
        <span class="quiet">
          {text === undefined ? "…" : `${count(text.length)} characters`}
          {value?.tools.length ? `, without ${count(value.tools.length)} tool definitions` : ""}
        </span>
        <button type="button" class="small end" disabled={text === undefined} onClick={() => void copy()}>
          copy
        </button>
        <span class="quiet" aria-live="polite">
          {copied.value}
        </span>
      </header>
      {error === undefined && fault.value === undefined ? null : <Fault error={error ?? fault.value} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="The window as text">
        <pre
          id="window-text"
          ref={place}
          class="raw"
          data-call={text === undefined ? "" : (value?.call ?? "")}
          aria-busy={text === undefined}
        >
          {text ?? ""}
        </pre>
      </div>
    </section>
  );
}

async function textOf(state: SessionState, window: ViewerWindow): Promise<string> {
  const seqs = window.entries.flatMap(({ message, seq }) => (message ? [] : [seq]));
  const logged = new Map(await state.log.all(seqs));
  for (const seq of seqs) {
    const message = logged.get(seq);
    if (message?.cut) logged.set(seq, await wholeMessage(state.source, state.id, message));
  }
  const messages = windowMessages(window.entries, (seq) => logged.get(seq));
  const own: ViewerMessage[] = [];
  for (const message of messages) own.push(message.cut ? await wholeMessage(state.source, state.id, message) : message);
  return windowText(own);
}
