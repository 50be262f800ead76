/** The map of a session or a replay's row: calls across, messages down, each point the fate of a message at a call. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { CallRow, EpochRow } from "../../../src/viewer/viewer.ts";
import { fateAt, fateCounts, fateMeanings, fateOrder } from "../../model/fates.ts";
import { count, several } from "../../model/numbers.ts";
import { rasterOf } from "../../model/raster.ts";
import { paints } from "../../state/preferences.ts";
import { Fate } from "./badge.tsx";
import { drawFates } from "./canvas.ts";

/** The properties of a map. */
export interface RasterProps {
  readonly calls: readonly CallRow[];
  readonly epochs: readonly EpochRow[];
  readonly messages: number;
  /** Its height in pixels. */
  readonly height: number;
  /** The call that is marked; 0 for none. */
  readonly call: number;
  readonly label: string;
  readonly onPick: (call: number, seq: number) => void;
}

/** The map; a press on it goes to the call and the message. */
export function Raster({ calls, epochs, messages, height, call, label, onPick }: RasterProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const cursor = useRef<HTMLDivElement>(null);
  const pointed = useSignal<{ readonly call: number; readonly seq: number } | undefined>(undefined);
  const painted = paints.value;
  useEffect(() => {
    if (box.current) box.current.style.height = `${height}px`;
  }, [height]);
  useEffect(() => {
    if (!canvas.current || !box.current || calls.length === 0) return;
    const ratio = Math.min(2, devicePixelRatio);
    const {
      fates,
      width,
      height: rows,
    } = rasterOf(calls, epochs, messages, box.current.clientWidth * ratio, height * ratio);
    drawFates(canvas.current, fates, width, rows);
  }, [calls, epochs, messages, height, painted]);
  useEffect(() => {
    if (cursor.current) cursor.current.style.left = `${(100 * (call - 0.5)) / Math.max(1, calls.length)}%`;
  }, [call, calls.length]);
  const placeOf = (event: PointerEvent): { readonly call: number; readonly seq: number } | undefined => {
    const edges = canvas.current?.getBoundingClientRect();
    if (!edges || calls.length === 0) return undefined;
    const share = (value: number, size: number): number => Math.max(0, Math.min(0.9999, value / size));
    return {
      call: Math.floor(share(event.clientX - edges.left, edges.width) * calls.length) + 1,
      seq: Math.floor(share(event.clientY - edges.top, edges.height) * messages) + 1,
    };
  };
  const shown = pointed.value;
  return (
    <div class="raster">
      <div class="raster-frame">
        <div class="raster-scale" aria-hidden="true">
          <span>m1</span>
          <span>m{messages}</span>
        </div>
        <div
          ref={box}
          class="raster-box"
          role="img"
          aria-label={label}
          onPointerMove={(event) => {
            pointed.value = placeOf(event);
          }}
          onPointerLeave={() => {
            pointed.value = undefined;
          }}
          onClick={(event) => {
            const place = placeOf(event as unknown as PointerEvent);
            if (place) onPick(place.call, place.seq);
          }}
        >
          <canvas ref={canvas} width={1} height={1} />
          {call > 0 ? <div ref={cursor} class="raster-cursor" /> : null}
        </div>
      </div>
      <p class="raster-foot quiet">
        {shown ? (
          <PointWords calls={calls} epochs={epochs} call={shown.call} seq={shown.seq} />
        ) : (
          `calls 1 to ${count(calls.length)} across, messages 1 to ${count(messages)} down; press to go there`
        )}
      </p>
    </div>
  );
}

function PointWords(props: Pick<RasterProps, "calls" | "epochs" | "call"> & { readonly seq: number }): JSX.Element {
  const row = props.calls[props.call - 1];
  if (!row) return <span>call {props.call}</span>;
  const epoch = props.epochs.find(({ epoch: number }) => number === row.epoch);
  const isOld = epoch !== undefined && props.seq <= epoch.opened;
  const fate = isOld ? fateAt(epoch.fates, props.seq, row.lastSeq) : props.seq > row.lastSeq ? "later" : "whole";
  return (
    <span>
      call {count(props.call)}, message {count(props.seq)}: <Fate fate={fate} /> {fateMeanings[fate]}
    </span>
  );
}

/** The meaning of the map's colours. */
export function RasterLegend(): JSX.Element {
  return (
    <ul class="tally legend-fates" aria-label="Legend of the map">
      {fateOrder.map((fate) => (
        <li key={fate}>
          <Fate fate={fate} /> <span class="quiet">{fateMeanings[fate]}</span>
        </li>
      ))}
    </ul>
  );
}

/** The map in words: how many messages had which fate at some calls. */
export function RasterTable({ calls, epochs }: Pick<RasterProps, "calls" | "epochs">): JSX.Element {
  const step = Math.max(1, Math.ceil(calls.length / 12));
  const rows = calls.filter((_, place) => place % step === 0 || place === calls.length - 1);
  return (
    <details>
      <summary>The same as a table ({several(rows.length, "call")})</summary>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">call</th>
            {fateOrder.slice(0, 5).map((fate) => (
              <th key={fate} scope="col" class="number">
                {fate}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const epoch = epochs.find(({ epoch: number }) => number === row.epoch);
            const counts = fateCounts(epoch?.fates ?? [], row.lastSeq, row.lastSeq);
            return (
              <tr key={row.call}>
                <td>{row.call}</td>
                {fateOrder.slice(0, 5).map((fate) => (
                  <td key={fate} class="number">
                    {count(counts[fate])}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </details>
  );
}
