/** Tables of a session: its epochs, and the recalls on record. */
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { EpochRow, RecallRow } from "../../../src/viewer/viewer.ts";
import { fateCounts } from "../../model/fates.ts";
import { count, moment, several, tokens } from "../../model/numbers.ts";
import { loader } from "../../state/loaded.ts";
import type { SessionState } from "../../state/session.ts";
import { Fault, MessageLink } from "../parts/badge.tsx";
import { Visible } from "../parts/text-block.tsx";

const mostRows = 1_000;

/** The table of epochs: why each opened, and what it left of the messages before it. */
export function EpochsView({ state }: { readonly state: SessionState }): JSX.Element {
  const [figures, fates] = [state.epochs.value, state.fates.value];
  const value = fates.value ?? figures.value ?? [];
  const error = figures.error ?? fates.error;
  useEffect(() => state.needFates(), [state]);
  return (
    <section class="pane wide-pane" aria-label="Epochs">
      <header class="pane-head">
        <h2>Epochs</h2>
        <span class="quiet">
          {several(value.filter(({ epoch }) => epoch > 0).length, "time")} the window was made anew
        </span>
      </header>
      {error === undefined ? null : <Fault error={error} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of epochs">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">epoch</th>
              <th scope="col">reason</th>
              <th scope="col">time</th>
              <th scope="col">opened at</th>
              <th scope="col">first call</th>
              <th scope="col" class="number">
                tokens
              </th>
              <th scope="col" class="number">
                budget
              </th>
              <th scope="col">messages then</th>
            </tr>
          </thead>
          <tbody>
            {value.slice(-mostRows).map((epoch) => (
              <EpochLine key={epoch.epoch} state={state} epoch={epoch} />
            ))}
          </tbody>
        </table>
        {value.length > mostRows ? <p class="quiet pad">The newest {count(mostRows)} are shown.</p> : null}
      </div>
    </section>
  );
}

function EpochLine({ state, epoch }: { readonly state: SessionState; readonly epoch: EpochRow }): JSX.Element {
  const firstCall = epoch.firstCall ?? state.starts.value.get(epoch.epoch);
  const counts = fateCounts(epoch.fates, epoch.opened, epoch.opened);
  const { system, tools } = epoch.changed ?? {};
  const changes = [system ? "system prompt" : "", tools ? "tools" : ""].filter((word) => word);
  return (
    <tr>
      <td>{epoch.epoch}</td>
      <td>
        {epoch.reason}
        {changes.length > 0 ? <span class="quiet"> · new {changes.join(", ")}</span> : null}
      </td>
      <td class="quiet">{moment(epoch.timestamp)}</td>
      <td>{epoch.opened > 0 ? <MessageLink state={state} seq={epoch.opened} by="link" /> : "the start"}</td>
      <td>
        {firstCall === undefined ? <span class="quiet">none</span> : <CallLinks state={state} call={firstCall} />}
      </td>
      <td class="number">
        {tokens(epoch.tokensBefore)} → {tokens(epoch.tokensAfter)}
      </td>
      <td class="number">{epoch.budget === null ? "none" : count(epoch.budget)}</td>
      <td class="quiet">
        {epoch.fates.length === 0 && epoch.opened > 0
          ? "…"
          : `${counts.whole} whole, ${counts.cut} cut, ${counts.quoted} quoted, ${counts.named} named, ${counts.gone} gone`}
      </td>
    </tr>
  );
}

/** Links to a call's window, and to its difference from the one before. */
export function CallLinks({ state, call }: { readonly state: SessionState; readonly call: number }): JSX.Element {
  return (
    <>
      <button
        type="button"
        class="link"
        onClick={() => {
          state.toCall(call);
          state.toView("window");
        }}
      >
        call {call}
      </button>{" "}
      {call > 1 ? (
        <button
          type="button"
          class="link"
          onClick={() => {
            state.toCall(call);
            state.toView("diff", call - 1);
          }}
        >
          difference
        </button>
      ) : null}
    </>
  );
}

/** The table of recalls: what was asked, what it brought, and at which call. */
export function RecallsView({ state }: { readonly state: SessionState }): JSX.Element {
  const recalls = useMemo(() => loader<readonly RecallRow[]>(), [state]);
  useEffect(() => {
    void recalls.ask(() => state.source.recalls(state.id));
  }, [state, state.total.value]);
  const { value = [], error, isLoading } = recalls.state.value;
  return (
    <section class="pane wide-pane" aria-label="Recalls">
      <header class="pane-head">
        <h2>Recalls</h2>
        <span class="quiet">{isLoading ? "…" : `${several(value.length, "recall")} on record`}</span>
      </header>
      {error === undefined ? null : <Fault error={error} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of recalls">
        {value.length === 0 && !isLoading ? <p class="quiet pad">Nothing was recalled in this session.</p> : null}
        <table class="table" hidden={value.length === 0}>
          <thead>
            <tr>
              <th scope="col">time</th>
              <th scope="col">call</th>
              <th scope="col">asked</th>
              <th scope="col">answered</th>
              <th scope="col" class="number">
                tokens
              </th>
            </tr>
          </thead>
          <tbody>
            {value.slice(-mostRows).map((recall, place) => (
              <tr key={place}>
                <td class="quiet">{moment(recall.at)}</td>
                <td>{recall.call > 0 ? <CallLinks state={state} call={recall.call} /> : "–"}</td>
                <td>
                  <code>
                    <Visible text={recall.asked} />
                  </code>
                </td>
                <td>
                  {recall.error === null ? null : <span class="fault">{recall.error}</span>}
                  {recall.seqs.slice(0, 12).map((seq) => (
                    <MessageLink key={seq} state={state} seq={seq} by="link" />
                  ))}
                  {recall.seqs.length > 12 ? ` and ${recall.seqs.length - 12} more` : ""}
                </td>
                <td class="number">{tokens(recall.tokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
