/** The window of the call as another strategy and budget would have made it. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { fateCounts } from "../../model/fates.ts";
import { count } from "../../model/numbers.ts";
import { isOvertaken, wordsOf } from "../../source/fault.ts";
import type { SessionState } from "../../state/session.ts";

/** The names that are offered; any other strategy's name may be typed. */
const offered = [
  "adaptive",
  "sliding-window",
  "rolling-summary",
  "summary-at-threshold",
  "entity-state",
  "importance",
  "layered",
  "none",
  "coding-agent",
  "miki",
  "pi",
];

/** The form of another strategy and budget, and what its window keeps. */
export function WhatIf({ state }: { readonly state: SessionState }): JSX.Element {
  const strategy = useSignal("");
  const budget = useSignal("");
  const instead = state.instead.value;
  const { value, error } = state.window.value;
  const submit = (event: Event): void => {
    event.preventDefault();
    const name = strategy.value.trim() || "adaptive";
    state.instead.value = { strategy: name, budget: numberOf(budget.value) };
  };
  const counts = value?.instead ? fateCounts(value.fates, value.lastSeq, value.lastSeq) : undefined;
  return (
    <section class="card">
      <h3>Another strategy</h3>
      <p class="quiet">What would it have kept here, at this call?</p>
      <form class="what-if" onSubmit={submit}>
        <label>
          strategy
          <input
            list="strategies"
            value={strategy.value}
            placeholder="adaptive"
            onInput={(event) => {
              strategy.value = event.currentTarget.value;
            }}
          />
        </label>
        <label>
          budget
          <input
            value={budget.value}
            placeholder={value?.budget ? String(value.budget) : "16k"}
            size={7}
            onInput={(event) => {
              budget.value = event.currentTarget.value;
            }}
          />
        </label>
        <datalist id="strategies">
          {offered.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button type="submit">compose</button>
        {instead ? (
          <button
            type="button"
            onClick={() => {
              state.instead.value = undefined;
            }}
          >
            back
          </button>
        ) : null}
      </form>
      {instead && error !== undefined && !isOvertaken(error) ? <p class="fault">{wordsOf(error)}</p> : null}
      {counts && value ? (
        <p>
          {count(value.tokens)} tokens: {count(counts.whole)} whole, {count(counts.cut)} cut, {count(counts.quoted)}{" "}
          quoted, {count(counts.named)} named, {count(counts.gone)} gone.
        </p>
      ) : null}
    </section>
  );
}

/** A number of tokens as people write it: `16000`, `16k`, `1.5M`. */
function numberOf(text: string): number | undefined {
  const [, digits, unit = ""] = /^\s*([\d.,]+)\s*([kKmM]?)\s*$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const factor = { "": 1, "k": 1_000, "m": 1_000_000 }[unit.toLowerCase()] ?? 1;
  const value = Math.round(Number(digits.replaceAll(",", "")) * factor);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}
