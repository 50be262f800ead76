/** The map of a session: what became of every message at every call, in one picture. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { SessionState } from "../../state/session.ts";
import { Raster, RasterLegend, RasterTable } from "../parts/raster.tsx";

/** The map of the session. */
export function MapView({ state }: { readonly state: SessionState }): JSX.Element {
  const calls = state.calls.value;
  const { value: epochs = [], isLoading } = state.fates.value;
  useEffect(() => state.needFates(), [state]);
  return (
    <section class="pane wide-pane" aria-label="Map of the session">
      <header class="pane-head">
        <h2>Map</h2>
        <span class="quiet">{isLoading ? "…" : "what became of every message at every call"}</span>
      </header>
      <div class="scroll pad" tabIndex={0} role="region" aria-label="Map">
        <RasterLegend />
        <Raster
          calls={calls}
          epochs={epochs}
          messages={state.messages.value}
          height={Math.max(260, innerHeight - 470)}
          call={state.call.value}
          label={`Map of ${calls.length} calls by ${state.messages.value} messages. The table below says the same in numbers.`}
          onPick={(call, seq) => {
            state.toCall(call);
            state.select(seq, "link");
          }}
        />
        <RasterTable calls={calls} epochs={epochs} />
      </div>
    </section>
  );
}
