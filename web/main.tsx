/** The start of the page: it takes its source, and draws itself into the document. */
import { render } from "preact";
import type { ViewerSource } from "../src/viewer/viewer.ts";
import { compact } from "./model/numbers.ts";
import { addressOf, parseRoute } from "./model/route.ts";
import { connectionTrouble } from "./state/connection.ts";
import { pickSource } from "./source/pick-source.ts";
import { startNavigation } from "./state/navigation.ts";
import { startPreferences } from "./state/preferences.ts";
import { App } from "./view/app.tsx";
import { Fault } from "./view/parts/badge.tsx";

/** The one session of a file, and the names of its replay's rows. */
async function soleSession(source: ViewerSource): Promise<{ readonly id: string; readonly rows: readonly string[] }> {
  if (source.kind !== "file") return { id: "", rows: [] };
  const [first, ...others] = (await source.sessions({ limit: 2 })).sessions;
  if (!first || others.length > 0) return { id: "", rows: [] };
  const rows = await source.replay(first.id);
  return {
    id: first.id,
    rows: rows.map(({ name, budget }) => `${name}${budget === null ? "" : ` ${compact(budget)}`}`),
  };
}

async function start(place: HTMLElement): Promise<void> {
  startPreferences();
  try {
    const source = await pickSource((words) => {
      connectionTrouble.value = words;
    });
    const { id, rows } = await soleSession(source);
    if (id !== "" && parseRoute(location.hash).page === "fleet") {
      history.replaceState(
        null,
        "",
        addressOf(rows.length > 0 ? { page: "replay" } : { page: "session", id, view: "window" }),
      );
    }
    startNavigation();
    render(<App source={source} replayed={rows.length > 0 ? id : ""} rows={rows} />, place);
  } catch (error) {
    render(
      <main class="pad">
        <h1>Windrow</h1>
        <Fault error={error} />
      </main>,
      place,
    );
  }
}

const place = document.getElementById("app");
if (place) void start(place);
