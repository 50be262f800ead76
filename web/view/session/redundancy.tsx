/** Lines that the window carries more than once, with what that costs on every call. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { partsText, windowMessages } from "../../../src/viewer/page/window-text.ts";
import type { RepeatedLine } from "../../model/redundancy.ts";
import { repeatedLines } from "../../model/redundancy.ts";
import { count, percent, several } from "../../model/numbers.ts";
import { wordsOf } from "../../source/fault.ts";
import type { SessionState } from "../../state/session.ts";
import { MessageLink } from "../parts/badge.tsx";
import { Visible } from "../parts/text-block.tsx";

/** The panel of repeated lines; it is asked for, since it reads the whole window. */
export function Redundancy({ state }: { readonly state: SessionState }): JSX.Element {
  const lines = useSignal<readonly RepeatedLine[] | undefined>(undefined);
  const fault = useSignal("");
  const { value } = state.window.value;
  useEffect(() => {
    lines.value = undefined;
    fault.value = "";
  }, [value]);
  const measure = async (): Promise<void> => {
    if (!value) return;
    try {
      const logged = await state.log.all(value.entries.flatMap(({ message, seq }) => (message ? [] : [seq])));
      const messages = windowMessages(value.entries, (seq) => logged.get(seq));
      const texts = messages.map(({ parts }, place) => {
        const entry = value.entries[place];
        return { seq: entry?.seq ?? 0, tokens: entry?.tokens ?? 0, text: partsText(parts) };
      });
      if (state.window.peek().value === value) lines.value = repeatedLines(texts);
    } catch (error) {
      fault.value = wordsOf(error);
    }
  };
  const sum = (lines.value ?? []).reduce((total, { tokens }) => total + tokens, 0);
  return (
    <section class="card">
      <h3>
        Repeated lines{" "}
        <button type="button" class="small end" onClick={() => void measure()}>
          measure
        </button>
      </h3>
      {fault.value ? <p class="fault">{fault.value}</p> : null}
      {lines.value === undefined ? (
        <p class="quiet">Lines that stand in this window more than once.</p>
      ) : (
        <>
          <p>
            About <b>{count(sum)}</b> tokens ({percent(sum, value?.tokens ?? 0) || "0%"} of the window) are carried
            again on every call.
          </p>
          <ul class="plain repeated">
            {lines.value.slice(0, 20).map(({ line, seqs, times, tokens }) => (
              <li key={line}>
                <span class="quiet">
                  {several(times, "time")} · {count(tokens)} tokens ·{" "}
                  {seqs.slice(0, 4).map((seq) => (
                    <MessageLink key={seq} state={state} seq={seq} by="link" />
                  ))}
                  {seqs.length > 4 ? "…" : ""}
                </span>
                <code class="clip">
                  <Visible text={line.slice(0, 200)} />
                </code>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
