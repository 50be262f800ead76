/** Facts of a call: its tokens by block, its cost, the cache, what was mended, other strategies, repeated lines. */
import type { JSX } from "preact";
import type { CallRow, ViewerWindow } from "../../../src/viewer/viewer.ts";
import { blockOrder, blockWords } from "../../model/buckets.ts";
import { cacheVerdict } from "../../model/cache.ts";
import { count, dollars, duration, moment, percent, several, tokens } from "../../model/numbers.ts";
import { groupedRepairs } from "../../model/repairs.ts";
import { plainLine } from "../../model/visible.ts";
import type { SessionState } from "../../state/session.ts";
import { MessageLink } from "../parts/badge.tsx";
import { Redundancy } from "./redundancy.tsx";
import { WhatIf } from "./what-if.tsx";

/** The pane of facts. */
export function Facts({ state }: { readonly state: SessionState }): JSX.Element {
  const { value } = state.window.value;
  const call = state.calls.value[state.call.value - 1];
  return (
    <section class="pane facts" aria-label="Facts of the call">
      <header class="pane-head">
        <h2>Facts</h2>
        <span class="quiet">call {count(state.call.value)}</span>
      </header>
      <div class="facts-body" tabIndex={0} role="region" aria-label="Facts">
        {value ? <Blocks window={value} /> : null}
        {value && !value.instead ? <Cache state={state} window={value} /> : null}
        {call ? <CallFacts state={state} call={call} /> : null}
        {value ? <Repairs state={state} window={value} /> : null}
        {state.source.kind === "file" || state.row !== undefined ? null : <WhatIf state={state} />}
        <Redundancy state={state} />
      </div>
    </section>
  );
}

function Blocks({ window }: { readonly window: ViewerWindow }): JSX.Element {
  const { blocks, tokens: whole, budget } = window;
  const most = Math.max(1, ...blockOrder.map((block) => blocks[block]));
  return (
    <section class="card">
      <h3>
        Tokens{" "}
        <span class="quiet end">{budget === null ? "no budget" : `${percent(whole, budget)} of the budget`}</span>
      </h3>
      <table class="bars">
        <tbody>
          {blockOrder.map((block) =>
            blocks[block] === 0 ? null : (
              <tr key={block}>
                <th scope="row">{blockWords[block]}</th>
                <td class="bar">
                  <svg width="100%" height="10" aria-hidden="true">
                    <rect
                      class={`area block-${block}`}
                      width={`${(100 * Math.max(0, blocks[block])) / most}%`}
                      height="10"
                    />
                  </svg>
                </td>
                <td class="number">{count(blocks[block])}</td>
              </tr>
            ),
          )}
          <tr class="sum">
            <th scope="row">window</th>
            <td />
            <td class="number">{count(whole)}</td>
          </tr>
        </tbody>
      </table>
    </section>
  );
}

function Cache({ state, window }: { readonly state: SessionState; readonly window: ViewerWindow }): JSX.Element | null {
  const { cache } = window;
  if (!cache) return null;
  const { predicted, reported, written, commonEntries, commonTokens, divergence, cause } = cache;
  const words = cacheVerdict(cache, window.tokens);
  return (
    <section class="card">
      <h3>
        Cache <span class={`end verdict verdict-${words.replaceAll(" ", "-")}`}>{words}</span>
      </h3>
      <dl>
        <dt>expected prefix</dt>
        <dd>{tokens(predicted)}</dd>
        <dt>reported read</dt>
        <dd>{tokens(reported)}</dd>
        <dt>reported written</dt>
        <dd>{tokens(written)}</dd>
        <dt>same as the call before</dt>
        <dd>
          {several(commonEntries, "entry", "entries")}, {several(commonTokens, "token")}
        </dd>
        <dt>first difference</dt>
        <dd>
          {divergence.block === "none" ? "none, the window only grew" : divergence.block}
          {divergence.entry === undefined ? "" : ` ${divergence.entry + 1}`}{" "}
          {divergence.seq ? <MessageLink state={state} seq={divergence.seq} by="link" /> : null}
        </dd>
      </dl>
      <p class="cause">{cause}</p>
    </section>
  );
}

function CallFacts({ state, call }: { readonly state: SessionState; readonly call: CallRow }): JSX.Element {
  const { value } = state.head.value;
  const { usage } = call;
  return (
    <section class="card">
      <h3>Call</h3>
      <dl>
        <dt>time</dt>
        <dd>{moment(call.timestamp)}</dd>
        <dt>since the call before</dt>
        <dd>{call.idleMs === null ? "–" : duration(call.idleMs)}</dd>
        <dt>model</dt>
        <dd>{plainLine(call.model ?? "unknown")}</dd>
        <dt>purpose</dt>
        <dd>{call.purpose}</dd>
        {state.row === undefined ? (
          <>
            <dt>reported input</dt>
            <dd>{usage?.input === undefined ? "unknown" : count(usage.input)}</dd>
            <dt>reported output</dt>
            <dd>{usage?.output === undefined ? "unknown" : count(usage.output)}</dd>
            <dt>cost of the call</dt>
            <dd>{dollars(call.dollars)}</dd>
            <dt>cost of the session</dt>
            <dd>{dollars(value?.dollars)}</dd>
          </>
        ) : null}
      </dl>
      {state.row === undefined ? null : (
        <p class="quiet">Composed by a replay and never sent, so nothing was reported or paid for it.</p>
      )}
    </section>
  );
}

/** Messages that a line of mended faults links to. */
const mostLinks = 12;

function Repairs({
  state,
  window,
}: {
  readonly state: SessionState;
  readonly window: ViewerWindow;
}): JSX.Element | null {
  if (window.repairs.length === 0) return null;
  return (
    <section class="card">
      <h3>
        Mended <span class="quiet end">{count(window.repairs.length)}</span>
      </h3>
      <ul class="plain">
        {groupedRepairs(window.repairs).map(({ kind, reason, seqs }) => (
          <li key={kind}>
            <b>{kind}</b> {reason}:{" "}
            {seqs.slice(0, mostLinks).map((seq) => (
              <span key={seq}>{seq > 0 ? <MessageLink state={state} seq={seq} by="link" /> : "the start"} </span>
            ))}
            {seqs.length > mostLinks ? <span class="quiet">and {count(seqs.length - mostLinks)} more</span> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}
