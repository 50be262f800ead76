/** The page of one session: its head, the timeline, the scrubber, and the view that the address names. */
import type { JSX } from "preact";
import { connectionTrouble } from "../../state/connection.ts";
import { useEffect, useState } from "preact/hooks";
import type { ViewerSource } from "../../../src/viewer/viewer.ts";
import { count, dollars, several } from "../../model/numbers.ts";
import type { SessionRoute, SessionView } from "../../model/route.ts";
import { plainLine } from "../../model/visible.ts";
import { isSearchOpen, sidePane } from "../../state/preferences.ts";
import { openSession } from "../../state/session.ts";
import type { SessionState } from "../../state/session.ts";
import { startKeys } from "../../state/keys.ts";
import { Fault, StatusMark } from "../parts/badge.tsx";
import { DiffView } from "./diff-view.tsx";
import { Facts } from "./facts.tsx";
import { LogPane } from "./log-pane.tsx";
import { MapView } from "./map-view.tsx";
import { Search } from "./search.tsx";
import { RequestsView } from "./requests.tsx";
import { EpochsView, RecallsView } from "./tables.tsx";
import { TextView } from "./text-view.tsx";
import { Timeline } from "./timeline.tsx";
import { WindowPane } from "./window-pane.tsx";

/** The properties of a session's page. */
export interface SessionPageProps {
  readonly source: ViewerSource;
  readonly id: string;
  readonly route: SessionRoute;
}

/** The page of a session. */
export function SessionPage({ source, id, route }: SessionPageProps): JSX.Element | null {
  const [state, setState] = useState<SessionState>();
  useEffect(() => {
    const opened = openSession(source, id, route.row);
    const stopKeys = startKeys(opened);
    setState(opened);
    return () => {
      stopKeys();
      opened.dispose();
    };
  }, [source, id, route.row]);
  return state ? <Opened state={state} route={route} /> : null;
}

function Opened({ state, route }: { readonly state: SessionState; readonly route: SessionRoute }): JSX.Element {
  const { error, value } = state.head.value;
  if (error !== undefined && !value) {
    return (
      <main class="pad">
        <Fault error={error} />
        <p>
          <a href="#/">All sessions</a>
        </p>
      </main>
    );
  }
  return (
    <main class="session">
      <Head state={state} view={route.view} />
      {error === undefined ? null : <Fault error={error} />}
      <p class="fault" role="status" hidden={connectionTrouble.value === undefined}>
        {connectionTrouble.value}
      </p>
      {isSearchOpen.value ? <Search source={state.source} state={state} /> : null}
      <Timeline state={state} />
      <View state={state} route={route} />
    </main>
  );
}

function View({ state, route }: { readonly state: SessionState; readonly route: SessionRoute }): JSX.Element {
  switch (route.view) {
    case "text":
      return <TextView state={state} />;
    case "map":
      return <MapView state={state} />;
    case "diff":
      return <DiffView state={state} other={route.other ?? Math.max(1, state.call.value - 1)} />;
    case "epochs":
      return <EpochsView state={state} />;
    case "recalls":
      return <RecallsView state={state} />;
    case "requests":
      return <RequestsView state={state} />;
    case "window":
      return (
        <div class={`panes side-${sidePane.value}`}>
          <LogPane state={state} />
          <div class="side">
            <div class="side-tabs" role="group" aria-label="Pane beside the log">
              {(["window", "facts"] as const).map((name) => (
                <button
                  key={name}
                  type="button"
                  class="small"
                  aria-pressed={sidePane.value === name}
                  onClick={() => {
                    sidePane.value = name;
                  }}
                >
                  {name}
                </button>
              ))}
            </div>
            <WindowPane state={state} />
          </div>
          <Facts state={state} />
        </div>
      );
  }
}

const tabs: readonly (readonly [SessionView, string, string])[] = [
  ["window", "Window", "log and window side by side (w)"],
  ["map", "Map", "every message at every call (m)"],
  ["diff", "Difference", "of two calls (d)"],
  ["epochs", "Epochs", "why the window was made anew (e)"],
  ["recalls", "Recalls", "what was asked back (r)"],
  ["requests", "Requests", "that passed the gateway (q)"],
  ["text", "Text", "the window as plain text (t)"],
];

function Head({ state, view }: { readonly state: SessionState; readonly view: SessionView }): JSX.Element {
  const { value } = state.head.value;
  return (
    <header class="session-head">
      <div class="session-title">
        <h1>{value ? plainLine(value.title) || state.id.slice(0, 12) : "…"}</h1>
        {value ? <HeadFacts state={state} /> : null}
      </div>
      <nav aria-label="Views of the session" class="tabs">
        {tabs
          .filter(([name]) => name !== "requests" || value?.line)
          .map(([name, words, title]) => (
            <button
              key={name}
              type="button"
              title={title}
              aria-current={view === name ? "page" : undefined}
              onClick={() => state.toView(name)}
            >
              {words}
            </button>
          ))}
        <button
          type="button"
          title="search (/)"
          aria-expanded={isSearchOpen.value}
          onClick={() => {
            isSearchOpen.value = !isSearchOpen.value;
          }}
        >
          Search
        </button>
      </nav>
    </header>
  );
}

const windowWords = {
  recorded: "",
  replayed: "windows composed by a replay",
  none: "its calls name no window: what is shown is the log itself",
} as const;

function HeadFacts({ state }: { readonly state: SessionState }): JSX.Element | null {
  const { value } = state.head.value;
  if (!value) return null;
  const facts = [
    state.id.slice(0, 12),
    value.model ?? "",
    value.strategy ?? "",
    several(state.messages.value, "message"),
    several(state.total.value || value.calls, "call"),
    several(state.row === undefined ? value.epochs : (state.epochs.value.value?.at(-1)?.epoch ?? 0), "epoch"),
    `${count(value.historyTokens)} tokens of history`,
    state.row === undefined ? `cost ${dollars(value.dollars)}` : "",
    windowWords[value.windows],
  ].filter((fact) => fact !== "");
  return (
    <>
      <p class="facts-line">
        <StatusMark status={value.status} standing={value.standing} />
        {value.isLive ? <span class="live">live</span> : null}
        {facts.map((fact, place) => (
          <span key={place}>{plainLine(fact)}</span>
        ))}
      </p>
      {value.error === null ? null : <p class="fault">{plainLine(value.error)}</p>}
      {value.damage.map((words, place) => (
        <p key={place} class="fault">
          {words}
        </p>
      ))}
    </>
  );
}
