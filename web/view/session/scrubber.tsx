/** The choice of a call: a slider, steps, a number, epochs, and following the newest one. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { count } from "../../model/numbers.ts";
import { epochBeside } from "../../state/steps.ts";
import type { SessionState } from "../../state/session.ts";

/** The middle of the first call of a chart, and the way from there to the middle of the last, in pixels. */
export interface Inset {
  readonly left: number;
  readonly width: number;
}

/** Half of the slider's thumb, as the style sheet has it. */
const halfThumb = 7;

/** The slider under the chart: a call's place on it is the call's place in the chart. */
export function CallSlider({ state, inset }: { readonly state: SessionState; readonly inset: Inset }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const call = state.call.value;
  const total = state.total.value;
  useEffect(() => {
    if (!input.current) return;
    input.current.style.marginLeft = `${inset.left - halfThumb}px`;
    input.current.style.width = `${inset.width + 2 * halfThumb}px`;
  }, [inset.left, inset.width]);
  return (
    <input
      ref={input}
      type="range"
      id="scrub"
      class="scrub"
      aria-label="Call"
      aria-valuetext={`call ${call} of ${total}`}
      min={1}
      max={Math.max(1, total)}
      value={call}
      onInput={(event) => state.toCall(Number(event.currentTarget.value))}
    />
  );
}

/** The controls of a session's call. */
export function Scrubber({ state }: { readonly state: SessionState }): JSX.Element {
  const call = state.call.value;
  const total = state.total.value;
  const unread = state.unread.value;
  const isLive = state.head.value.value?.isLive ?? false;
  return (
    <div class="scrubber" role="group" aria-label="Choose a call">
      <button type="button" class="small" title="previous epoch ([)" onClick={() => epochBeside(state, -1)}>
        <span aria-hidden="true">⇤</span> epoch
      </button>
      <button
        type="button"
        class="small"
        title="previous call (←)"
        aria-label="previous call"
        disabled={call <= 1}
        onClick={() => state.toCall(call - 1)}
      >
        ←
      </button>
      <button
        type="button"
        class="small"
        title="next call (→)"
        aria-label="next call"
        disabled={call >= total}
        onClick={() => state.toCall(call + 1)}
      >
        →
      </button>
      <button type="button" class="small" title="next epoch (])" onClick={() => epochBeside(state, 1)}>
        epoch <span aria-hidden="true">⇥</span>
      </button>
      <label class="call-number">
        call
        <input
          id="call-number"
          inputMode="numeric"
          size={String(total).length + 1}
          value={call}
          title="go to a call (g)"
          onChange={(event) => {
            const wanted = Number(event.currentTarget.value.replaceAll(/\D/g, ""));
            if (wanted > 0) state.toCall(wanted, "go");
            event.currentTarget.value = String(state.call.peek());
          }}
        />
        <span>of {count(total)}</span>
      </label>
      {isLive || unread > 0 || state.follows.value ? (
        <button
          type="button"
          class="small"
          aria-pressed={state.follows.value}
          title="follow the newest call (f)"
          onClick={() => {
            state.follows.value = !state.follows.value;
            if (state.follows.value) state.toCall(total);
          }}
        >
          follow{unread > 0 ? ` · ${unread} new` : ""}
        </button>
      ) : null}
      <span class="sr-only" aria-live="polite" id="call-live">
        call {call} of {total}
        {unread > 0 ? `, ${unread} new` : ""}
      </span>
    </div>
  );
}
