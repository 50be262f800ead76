/** The requests of a line that a gateway keeps: how each went, what it used, and where its window first differs. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { GatewayLine, RequestPage, RequestRow } from "../../../src/viewer/requests.ts";
import type { CacheCard, ListedSession } from "../../../src/viewer/viewer.ts";
import { requestWords } from "../../model/requests.ts";
import { compact, count, duration, moment, percent, several, tokens } from "../../model/numbers.ts";
import { addressOf } from "../../model/route.ts";
import { plainLine } from "../../model/visible.ts";
import { loader } from "../../state/loaded.ts";
import type { SessionState } from "../../state/session.ts";
import { Fault, MessageLink } from "../parts/badge.tsx";
import { CallLinks } from "./tables.tsx";

/** Requests of a page. */
const pageSize = 100;

/** The table of requests, the newest first. */
export function RequestsView({ state }: { readonly state: SessionState }): JSX.Element {
  const page = useMemo(() => loader<RequestPage>(), [state]);
  const known = state.requests.value;
  // A page that ends here; 0 for the newest.
  const end = useSignal(0);
  useEffect(() => {
    void page.ask(async () => {
      const none: RequestPage = { total: 0, requests: [] };
      const ask = (from: number, to: number): Promise<RequestPage> =>
        state.source.requests?.(state.id, from, to) ?? Promise.resolve(none);
      const last = end.value > 0 ? end.value : (await ask(1, 1)).total;
      return last === 0 ? none : ask(Math.max(1, last - pageSize + 1), last);
    });
    // What a request used is recorded behind it, and comes with its call.
  }, [state, known, state.total.value, end.value]);
  const { value, error, isLoading } = page.state.value;
  const rows = (value?.requests ?? []).toReversed();
  const line = state.head.value.value?.line;
  const [newest, oldest] = [rows[0]?.request ?? 0, rows.at(-1)?.request ?? 0];
  return (
    <section class="pane wide-pane" aria-label="Requests" aria-busy={isLoading}>
      <header class="pane-head">
        <h2>Requests</h2>
        <span class="quiet" aria-live="polite">
          {value ? `${several(value.total, "request")} passed the gateway` : "…"}
        </span>
      </header>
      {line ? <Lines state={state} line={line} /> : null}
      {error === undefined ? null : <Fault error={error} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of requests">
        {rows.length === 0 && !isLoading ? <p class="quiet pad">No request was recorded in this session.</p> : null}
        <table class="table requests" hidden={rows.length === 0}>
          <thead>
            <tr>
              <th scope="col">request</th>
              <th scope="col">time</th>
              <th scope="col">kind</th>
              <th scope="col">went</th>
              <th scope="col" class="number">
                first byte
              </th>
              <th scope="col" class="number">
                total
              </th>
              <th scope="col" class="number">
                bytes in → out
              </th>
              <th scope="col" class="number">
                tokens
              </th>
              <th scope="col" class="number">
                cached
              </th>
              <th scope="col">call</th>
              <th scope="col">first differs</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <RequestLine key={row.request} state={state} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      <nav class="pages" aria-label="Pages of requests">
        <button
          type="button"
          disabled={end.value === 0}
          onClick={() => {
            end.value = newest + pageSize >= (value?.total ?? 0) ? 0 : newest + pageSize;
          }}
        >
          newer
        </button>
        <button
          type="button"
          disabled={oldest <= 1}
          onClick={() => {
            end.value = oldest - 1;
          }}
        >
          older
        </button>
      </nav>
    </section>
  );
}

function RequestLine({ state, row }: { readonly state: SessionState; readonly row: RequestRow }): JSX.Element {
  const { request, at, kind, attempt, firstByteMs, totalMs, bytesIn, bytesOut, usage, predictedCached, call } = row;
  const { words, isBad } = requestWords(row);
  const time = (value: number | null): string => (value === null ? "–" : duration(value));
  return (
    <tr>
      <th scope="row">{request}</th>
      <td class="quiet">{plainLine(moment(at))}</td>
      <td>
        {plainLine(kind)}
        {attempt > 1 ? <span class="quiet"> · attempt {attempt}</span> : null}
      </td>
      <td class="went" title={[words, row.note].map(plainLine).join("\n")}>
        <span class={isBad ? "clip fault" : "clip"}>{plainLine(words)}</span>
      </td>
      <td class="number">{time(firstByteMs)}</td>
      <td class="number">{time(totalMs)}</td>
      <td class="number">
        {bytesIn === null ? "–" : compact(bytesIn)} → {bytesOut === null ? "–" : compact(bytesOut)}
      </td>
      <td class="number">
        {row.tokens === null ? "" : `counted ${count(row.tokens)}, `}
        {tokens(usage?.input)} in, {tokens(usage?.output)} out
      </td>
      <td class="number">
        {predictedCached === null ? "" : `expected ${percent(predictedCached, row.tokens ?? 0) || "0%"}, `}
        {usage?.cacheRead === undefined ? "–" : percent(usage.cacheRead, usage.input ?? 0) || "0%"}
      </td>
      <td>{call === null ? <span class="quiet">none</span> : <CallLinks state={state} call={call} />}</td>
      <td>{call === null ? null : <Divergence state={state} call={call} request={request} />}</td>
    </tr>
  );
}

/** The place where a call's window first differs from the one before, and the cause, once they are asked for. */
function Divergence(props: {
  readonly state: SessionState;
  readonly call: number;
  readonly request: number;
}): JSX.Element {
  const { state, call, request } = props;
  const card = useMemo(() => loader<CacheCard | null>(), [state, call]);
  const { value, error, isLoading } = card.state.value;
  if (error !== undefined) return <Fault error={error} />;
  if (value === null) return <span class="quiet">its window is not known</span>;
  if (value === undefined) {
    return (
      <button
        type="button"
        class="link"
        aria-label={`find where request ${request} first differs`}
        disabled={isLoading}
        onClick={() => void card.ask(async () => (await state.source.window(state.id, call)).cache)}
      >
        {isLoading ? "…" : "find"}
      </button>
    );
  }
  const { block, seq } = value.divergence;
  return (
    <>
      {block === "message" && seq !== undefined && seq > 0 ? (
        <MessageLink state={state} seq={seq} by="link" />
      ) : block === "none" ? null : (
        block
      )}{" "}
      <span class="quiet">{plainLine(value.cause)}</span>
    </>
  );
}

/** The names of the line, the line that it goes on from, and the other lines of the client's session. */
function Lines({ state, line }: { readonly state: SessionState; readonly line: GatewayLine }): JSX.Element {
  const others = useMemo(() => loader<readonly ListedSession[]>(), [state]);
  const { session, parent } = line;
  useEffect(() => {
    if (session === undefined) return;
    void others.ask(async () => {
      const page = await state.source.sessions({ text: session, limit: 50 });
      return page.sessions.filter((one) => one.line?.session === session && one.id !== state.id);
    });
  }, [state, session]);
  return (
    <p class="facts-line pad">
      {session === undefined ? null : <span>session {plainLine(session)}</span>}
      {parent === undefined ? null : (
        <span>
          goes on from <SessionLink id={parent.id} words={parent.id.slice(0, 8)} /> ({plainLine(parent.reason)})
        </span>
      )}
      {(others.state.value.value ?? []).map((one) => (
        <SessionLink key={one.id} id={one.id} words={plainLine(one.title)} />
      ))}
    </p>
  );
}

function SessionLink({ id, words }: { readonly id: string; readonly words: string }): JSX.Element {
  return <a href={addressOf({ page: "session", id, view: "requests" })}>{words}</a>;
}
