/** The fate of one message in words: the pass, the reason, its tokens before and after. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { fateAt, fateMeanings, lossOf, runAt } from "../../model/fates.ts";
import { count } from "../../model/numbers.ts";
import type { SessionState } from "../../state/session.ts";
import { Fate } from "../parts/badge.tsx";

/** A line on a message's fate at the call. */
export function FateWords({ state, seq }: { readonly state: SessionState; readonly seq: number }): JSX.Element {
  const { value } = state.window.value;
  const { value: epochs = [] } = state.fates.value;
  useEffect(() => state.needFates(), [state]);
  if (!value) return <span class="quiet">m{seq}</span>;
  const fate = fateAt(value.fates, seq, value.lastSeq);
  const run = fate === "later" ? undefined : runAt(value.fates, seq);
  const range = run && run.to > run.from ? ` (m${run.from}–m${run.to})` : "";
  const before = run?.tokensBefore;
  const isWhole = fate === "later" || fate === "whole";
  const loss = isWhole || value.epoch === null ? undefined : lossOf(epochs, seq, value.epoch);
  const lostAt = loss && (loss.firstCall ?? state.starts.value.get(loss.epoch));
  return (
    <>
      <b>m{seq}</b> <Fate fate={fate} /> {fateMeanings[fate]}
      {run?.pass ? (
        <>
          {" · pass "}
          <b>{run.pass}</b>
        </>
      ) : null}
      {run?.reason ? ` · ${run.reason}` : ""}
      {loss === undefined ? null : (
        <>
          {" · whole before "}
          {lostAt === undefined ? null : (
            <>
              <button type="button" class="link" title="to the call that lost it" onClick={() => state.toCall(lostAt)}>
                call {lostAt}
              </button>
              {", "}
            </>
          )}
          epoch {loss.epoch}, {loss.reason}
        </>
      )}
      {before === undefined ? null : (
        <>
          {" · "}
          {count(before)} → {run?.tokensAfter === undefined ? "?" : count(run.tokensAfter)} tokens{range}
        </>
      )}
    </>
  );
}
