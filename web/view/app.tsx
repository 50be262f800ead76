/** The frame of the page: its head, the view that the address names, and the help. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { ViewerSource } from "../../src/viewer/viewer.ts";
import type { SessionRoute } from "../model/route.ts";
import { go, route } from "../state/navigation.ts";
import { isHelpOpen, isSearchOpen, nextTheme, theme } from "../state/preferences.ts";
import { CopyLink } from "./parts/copy-link.tsx";
import { FleetPage } from "./fleet/fleet-page.tsx";
import { Help } from "./help.tsx";
import { ReplayPage } from "./replay/replay-page.tsx";
import { SessionPage } from "./session/session-page.tsx";

/** The properties of the page. */
export interface AppProps {
  readonly source: ViewerSource;
  /** The session whose replay this page shows; empty for none. */
  readonly replayed: string;
  /** The names of the replay's rows. */
  readonly rows: readonly string[];
}

/** The page as a whole. */
export function App({ source, replayed, rows }: AppProps): JSX.Element {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const isField = event.target instanceof HTMLInputElement && event.target.type !== "range";
      if (event.key !== "?" || isField || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      isHelpOpen.value = !isHelpOpen.peek();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
  const place = route.value;
  const shown = place.page === "session" ? `${place.row ?? place.id}` : place.page;
  // A search belongs to the page that it was opened on.
  useEffect(() => () => void (isSearchOpen.value = false), [shown]);
  return (
    <>
      <header class="top">
        <a class="brand" href={replayed ? "#/replay" : "#/"}>
          <svg width="18" height="14" viewBox="0 0 18 14" aria-hidden="true">
            <path d="M1 12c3-6 5-6 8 0M5 7c2-4 4-4 6 0M9 12c3-6 5-6 8 0" />
          </svg>
          Windrow
        </a>
        <nav aria-label="Pages">
          {replayed ? <a href="#/replay">Replay</a> : <a href="#/">Sessions</a>}
          {place.page === "session" && place.row !== undefined ? (
            <RowChoice place={place} row={place.row} rows={rows} />
          ) : null}
        </nav>
        <CopyLink />
        <button type="button" class="small" title="theme" onClick={nextTheme}>
          theme: {theme.value}
        </button>
        <button
          type="button"
          class="small"
          title="help (?)"
          aria-label="help"
          onClick={() => {
            isHelpOpen.value = true;
          }}
        >
          ?
        </button>
      </header>
      {place.page === "fleet" ? <FleetPage source={source} /> : null}
      {place.page === "replay" ? <ReplayPage source={source} id={replayed} /> : null}
      {place.page === "session" ? (
        <SessionPage source={source} id={place.row === undefined ? place.id : replayed} route={place} />
      ) : null}
      {isHelpOpen.value ? <Help /> : null}
    </>
  );
}

/** The choice of a replay's row; the call stays the same. */
function RowChoice(props: {
  readonly place: SessionRoute;
  readonly row: number;
  readonly rows: readonly string[];
}): JSX.Element {
  const { place, row, rows } = props;
  return (
    <label>
      row{" "}
      <select value={row} onChange={(event) => go({ ...place, row: Number(event.currentTarget.value) })}>
        {rows.map((name, number) => (
          <option key={number} value={number}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
