/** The references that the windows of a replay's row did not answer, each with the recall that would have brought it. */
import type { JSX } from "preact";
import type { ReplayRow } from "../../../src/viewer/viewer.ts";
import { count, several } from "../../model/numbers.ts";
import { addressOf } from "../../model/route.ts";
import { Visible } from "../parts/text-block.tsx";

const mostRows = 300;

/** The properties of the table of misses. */
export interface MissesProps {
  readonly rows: readonly ReplayRow[];
  readonly chosen: number;
  readonly onChoose: (row: number) => void;
}

/** The misses of the chosen row. */
export function Misses({ rows, chosen, onChoose }: MissesProps): JSX.Element | null {
  const row = rows[chosen];
  if (!row) return null;
  const linkTo = (call: number, seq: number): string =>
    addressOf({ page: "session", id: "", row: chosen, view: "window", call, seq });
  return (
    <section class="card" aria-label="Misses">
      <h2>
        Misses{" "}
        <label class="quiet">
          of{" "}
          <select value={chosen} onChange={(event) => onChoose(Number(event.currentTarget.value))}>
            {rows.map(({ name, budget }, place) => (
              <option key={place} value={place}>
                {name} {budget === null ? "" : count(budget)}
              </option>
            ))}
          </select>
        </label>
        <span class="quiet end">
          {several(row.misses.length, "reference")} that the window did not answer by itself
        </span>
      </h2>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Table of misses">
        <table class="table" hidden={row.misses.length === 0}>
          <thead>
            <tr>
              <th scope="col">call</th>
              <th scope="col">made in</th>
              <th scope="col">refers to</th>
              <th scope="col">text</th>
              <th scope="col">the recall that brings it</th>
            </tr>
          </thead>
          <tbody>
            {row.misses.slice(0, mostRows).map(({ call, seq, source, text, recall }, place) => (
              <tr key={place}>
                <td>{row.hasWindows ? <a href={linkTo(call, seq)}>{call}</a> : call}</td>
                <td>m{seq}</td>
                <td>{row.hasWindows ? <a href={linkTo(call, source)}>m{source}</a> : `m${source}`}</td>
                <td>
                  <code class="clip">
                    <Visible text={text} />
                  </code>
                </td>
                <td>{recall === null ? <b class="none">none</b> : <code>{recall}</code>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {row.misses.length > mostRows ? <p class="quiet">The first {mostRows} are shown.</p> : null}
    </section>
  );
}
