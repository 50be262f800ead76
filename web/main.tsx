/** The start of the page: it takes its source, and draws itself into the document. */
import { render } from "preact";
import type { ViewerSource } from "../src/viewer/viewer.ts";
import { addressOf, parseRoute } from "./model/route.ts";
import { pickSource } from "./source/pick-source.ts";
import { startNavigation } from "./state/navigation.ts";
import { startPreferences } from "./state/preferences.ts";
import { App } from "./view/app.tsx";
import { Fault } from "./view/parts/badge.tsx";

/** The one session of a file, and whether it was replayed. */
async function soleSession(source: ViewerSource): Promise<{ readonly id: string; readonly isReplay: boolean }> {
  if (source.kind !== "file") return { id: "", isReplay: false };
  const [first, ...others] = (await source.sessions({ limit: 2 })).sessions;
  if (!first || others.length > 0) return { id: "", isReplay: false };
  return { id: first.id, isReplay: (await source.replay(first.id)).length > 0 };
}

async function start(place: HTMLElement): Promise<void> {
  startPreferences();
  try {
    const source = await pickSource();
    const { id, isReplay } = await soleSession(source);
    if (id !== "" && parseRoute(location.hash).page === "fleet") {
      history.replaceState(
        null,
        "",
        addressOf(isReplay ? { page: "replay" } : { page: "session", id, view: "window" }),
      );
    }
    startNavigation();
    render(<App source={source} replayed={isReplay ? id : ""} isAlone={id !== ""} />, place);
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
