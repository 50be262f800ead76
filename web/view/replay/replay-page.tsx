/** A replay: its strategies side by side as figures and as maps, and the references that their windows did not answer. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { JsonValue } from "../../../src/message/message.ts";
import type { CallRow, EpochRow, ReplayRow, ViewerSession, ViewerSource } from "../../../src/viewer/viewer.ts";
import { figureText, figureWords } from "../../model/figures.ts";
import { compact, several } from "../../model/numbers.ts";
import { addressOf } from "../../model/route.ts";
import { plainLine } from "../../model/visible.ts";
import { loader } from "../../state/loaded.ts";
import { go } from "../../state/navigation.ts";
import { Fault } from "../parts/badge.tsx";
import { Raster, RasterLegend, RasterTable } from "../parts/raster.tsx";
import { Misses } from "./misses.tsx";

interface Replay {
  readonly session: ViewerSession;
  readonly rows: readonly ReplayRow[];
}

/** The page of a replay. */
export function ReplayPage({ source, id }: { readonly source: ViewerSource; readonly id: string }): JSX.Element {
  const replay = useMemo(() => loader<Replay>(), [source, id]);
  const picked = useSignal<number | undefined>(undefined);
  useEffect(() => {
    if (id === "") return;
    void replay.ask(async () => ({ session: await source.session(id), rows: await source.replay(id) }));
  }, [source, id]);
  const { value, error, isLoading } = replay.state.value;
  if (error !== undefined)
    return (
      <main class="pad">
        <Fault error={error} />
      </main>
    );
  if (!value || value.rows.length === 0) {
    return (
      <main class="pad">
        <p class="quiet">
          {isLoading ? "…" : "This source has no replay. `windrow replay FILE --html OUT` writes one."}
        </p>
      </main>
    );
  }
  const { session, rows } = value;
  const chosen =
    picked.value ??
    Math.max(
      0,
      rows.findIndex(({ misses }) => misses.length > 0),
    );
  const choose = (row: number): void => {
    picked.value = row;
  };
  return (
    <main class="replay">
      <header class="pane-head">
        <h1>Replay</h1>
        <span class="clip">{plainLine(session.title)}</span>
        <span class="quiet end">
          {several(session.messages, "message")}, {several(session.calls, "call")}, {compact(session.historyTokens)}{" "}
          tokens
        </span>
      </header>
      <section class="card" aria-label="Figures">
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Table of strategies">
          <Figures rows={rows} chosen={chosen} onChoose={choose} />
        </div>
      </section>
      <section class="card" aria-label="Maps">
        <h2>What each window held</h2>
        <RasterLegend />
        <div class="maps">
          {rows.map((row, place) =>
            row.hasWindows ? (
              <RowMap key={place} source={source} id={id} place={place} row={row} messages={session.messages} />
            ) : null,
          )}
        </div>
      </section>
      <Misses rows={rows} chosen={chosen} onChoose={choose} />
    </main>
  );
}

interface FiguresProps {
  readonly rows: readonly ReplayRow[];
  readonly chosen: number;
  readonly onChoose: (row: number) => void;
}

function Figures({ rows, chosen, onChoose }: FiguresProps): JSX.Element {
  const names = [
    ...new Set(rows.flatMap(({ figures }) => Object.keys(figures).filter((name) => isShown(figures[name])))),
  ];
  return (
    <table class="table figures">
      <thead>
        <tr>
          <th scope="col">strategy</th>
          <th scope="col" class="number">
            budget
          </th>
          {names.map((name) => (
            <th key={name} scope="col" class="number">
              {figureWords(name)}
            </th>
          ))}
          <th scope="col">misses</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, budget, figures, misses, hasWindows }, place) => (
          <tr key={place} class={place === chosen ? "is-selected" : ""}>
            <th scope="row">
              {hasWindows ? (
                <a href={addressOf({ page: "session", id: "", row: place, view: "window", call: 1 })}>{name}</a>
              ) : (
                name
              )}
            </th>
            <td class="number">{budget === null ? "none" : compact(budget)}</td>
            {names.map((figure) => (
              <td key={figure} class="number">
                {figureText(figure, figures[figure])}
              </td>
            ))}
            <td>
              {hasWindows ? (
                <button type="button" class="small" aria-pressed={place === chosen} onClick={() => onChoose(place)}>
                  {several(misses.length, "miss", "misses")}
                </button>
              ) : (
                "–"
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Figures that are numbers or words stand in the table; those with figures of their own do not. */
function isShown(value: JsonValue | undefined): boolean {
  return typeof value === "number" || typeof value === "boolean" || typeof value === "string";
}

interface RowMapProps {
  readonly source: ViewerSource;
  readonly id: string;
  readonly place: number;
  readonly row: ReplayRow;
  readonly messages: number;
}

function RowMap({ source, id, place, row, messages }: RowMapProps): JSX.Element {
  const data = useMemo(
    () => loader<{ readonly calls: readonly CallRow[]; readonly epochs: readonly EpochRow[] }>(),
    [source],
  );
  useEffect(() => {
    void data.ask(async () => ({
      calls: (await source.calls(id, 1, 100_000, place)).calls,
      epochs: await source.epochs(id, place),
    }));
  }, [source, id, place]);
  const { value, error } = data.state.value;
  const title = `${row.name} ${row.budget === null ? "" : compact(row.budget)}`;
  return (
    <figure>
      <figcaption>{title}</figcaption>
      {error === undefined ? null : <Fault error={error} />}
      {value ? (
        <>
          <Raster
            calls={value.calls}
            epochs={value.epochs}
            messages={messages}
            height={220}
            call={0}
            label={`Map of ${title}: ${value.calls.length} calls by ${messages} messages. The table below says the same in numbers.`}
            onPick={(call, seq) => go({ page: "session", id: "", row: place, view: "window", call, seq })}
          />
          <RasterTable calls={value.calls} epochs={value.epochs} />
        </>
      ) : null}
    </figure>
  );
}
