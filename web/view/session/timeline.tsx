/** Tokens of every call as a stacked chart: blocks, the budget, epochs, and below it what the cache did. A press scrubs. */
import { useSignal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { EpochRow } from "../../../src/viewer/viewer.ts";
import { axisTop, blockOrder, blockWords, callTokens, columnsOf } from "../../model/buckets.ts";
import { areaPaths, cachePaths } from "../../model/chart.ts";
import type { Frame } from "../../model/chart.ts";
import { compact, count, several } from "../../model/numbers.ts";
import type { SessionState } from "../../state/session.ts";
import { CallSlider, Scrubber } from "./scrubber.tsx";

const frame = { top: 16, height: 84, cacheTop: 108, cacheHeight: 16, left: 44, right: 12 } as const;
const wholeHeight = 128;

/** The timeline of a session. What does not move with the call is drawn apart from what does. */
export function Timeline({ state }: { readonly state: SessionState }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const pointed = useSignal<number | undefined>(undefined);
  const inner = Math.max(1, width - frame.left - frame.right);
  const total = Math.max(1, state.calls.value.length);
  const place: Place = { left: frame.left, inner, total };
  const callOf = (event: PointerEvent): number => {
    const edge = box.current?.getBoundingClientRect().left ?? 0;
    return Math.max(1, Math.min(total, Math.floor(((event.clientX - edge - frame.left) * total) / inner) + 1));
  };
  const chart = useMemo(() => <Chart state={state} width={width} inner={inner} />, [state, width, inner]);
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="timeline-head">
        <Scrubber state={state} />
        <Legend state={state} pointed={pointed} />
      </div>
      <div
        ref={box}
        class="chart"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          state.toCall(callOf(event));
        }}
        onPointerMove={(event) => {
          pointed.value = callOf(event);
          if (event.buttons === 1) state.toCall(callOf(event));
        }}
        onPointerLeave={() => {
          pointed.value = undefined;
        }}
      >
        {chart}
        <Playhead state={state} pointed={pointed} width={width} place={place} />
      </div>
      <CallSlider state={state} inset={{ left: xOf(place, 1), width: xOf(place, total) - xOf(place, 1) }} />
    </section>
  );
}

/** The place of the calls in the chart. */
interface Place {
  readonly left: number;
  readonly inner: number;
  readonly total: number;
}

/** The middle of a call, in pixels. */
function xOf({ left, inner, total }: Place, call: number): number {
  return left + ((call - 0.5) * inner) / total;
}

function Chart(props: { readonly state: SessionState; readonly width: number; readonly inner: number }): JSX.Element {
  const { state, width, inner } = props;
  const calls = state.calls.value;
  const budget = state.budget.value;
  const epochs = state.epochs.value.value ?? [];
  const drawn = useMemo(() => {
    const columns = columnsOf(calls, Math.max(50, Math.floor(inner / 2)));
    const largest = columns.reduce((most, { shown }) => Math.max(most, callTokens(shown)), 0);
    const top = axisTop(Math.max(largest, budget !== null && budget < 4 * largest ? budget : 0));
    const place: Frame = { left: frame.left, width: inner, top: frame.top, height: frame.height, most: top };
    return {
      top,
      areas: areaPaths(columns, place),
      cache: cachePaths(columns, { ...place, top: frame.cacheTop, height: frame.cacheHeight }),
    };
  }, [calls, inner, budget]);
  const yOf = (value: number): number => frame.top + frame.height * (1 - value / drawn.top);
  const right = frame.left + inner;
  return (
    <svg width={width} height={wholeHeight} role="img" aria-label={describe(calls.length, epochs, budget)}>
      <line class="axis" x1={frame.left} x2={right} y1={yOf(0)} y2={yOf(0)} />
      {[0.5, 1].map((share) => (
        <g key={share}>
          <line class="grid" x1={frame.left} x2={right} y1={yOf(drawn.top * share)} y2={yOf(drawn.top * share)} />
          <text class="tick" x={frame.left - 6} y={yOf(drawn.top * share) + 4}>
            {compact(drawn.top * share)}
          </text>
        </g>
      ))}
      {blockOrder.map((block) =>
        drawn.areas[block] ? <path key={block} class={`area block-${block}`} d={drawn.areas[block]} /> : null,
      )}
      {drawn.cache ? (
        <>
          <path class="cache-fresh" d={drawn.cache.fresh} />
          <path class="cache-written" d={drawn.cache.written} />
          <path class="cache-read" d={drawn.cache.read} />
        </>
      ) : (
        <text class="tick start" x={frame.left} y={frame.cacheTop + 12}>
          no provider reported what its cache did
        </text>
      )}
      <text class="tick" x={frame.left - 6} y={frame.cacheTop + 12}>
        cache
      </text>
      <EpochMarks state={state} epochs={epochs} place={{ left: frame.left, inner, total: Math.max(1, calls.length) }} />
      {budget !== null && budget <= drawn.top ? (
        <g>
          <line class="budget" x1={frame.left} x2={right} y1={yOf(budget)} y2={yOf(budget)} />
          <text class="tick end" x={right} y={yOf(budget) - 4}>
            budget {compact(budget)}
          </text>
        </g>
      ) : null}
    </svg>
  );
}

interface PlayheadProps {
  readonly state: SessionState;
  readonly pointed: ReadonlySignal<number | undefined>;
  readonly width: number;
  readonly place: Place;
}

/** The mark of the call, and that of the pointer, over the chart. */
function Playhead({ state, pointed, width, place }: PlayheadProps): JSX.Element {
  const now = state.call.value;
  const x = xOf(place, now);
  const seen = pointed.value === undefined ? undefined : xOf(place, pointed.value);
  return (
    <svg class="over" width={width} height={wholeHeight} aria-hidden="true">
      {seen === undefined ? null : <line class="pointer" x1={seen} x2={seen} y1={frame.top} y2={wholeHeight - 4} />}
      {now > 0 ? (
        <g class="playhead">
          <line x1={x} x2={x} y1={frame.top - 6} y2={wholeHeight - 4} />
          <path d={`M${x - 5} ${frame.top - 12}h10v5l-5 5l-5 -5z`} />
        </g>
      ) : null}
    </svg>
  );
}

function Legend(props: {
  readonly state: SessionState;
  readonly pointed: ReadonlySignal<number | undefined>;
}): JSX.Element {
  const { state, pointed } = props;
  const number = pointed.value ?? state.call.value;
  const call = state.calls.value[number - 1];
  return (
    <div class="legend">
      <span class="legend-call">
        {pointed.value === undefined ? "now" : "at"} call {count(number)}
        {call ? ` · ${count(callTokens(call))} tokens` : ""}
      </span>
      <ul aria-label="Blocks of the request">
        {blockOrder.map((block) => {
          const value = call?.blocks?.[block];
          if (value === 0 && block !== "history") return null;
          return (
            <li key={block}>
              <i class={`swatch block-${block}`} />
              {blockWords[block]}
              {value === undefined ? "" : ` ${compact(value)}`}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

interface MarkProps {
  readonly state: SessionState;
  readonly epochs: readonly EpochRow[];
  readonly place: Place;
}

/** The marks of epochs; where they would stand closer than a few pixels, some are left out. */
function EpochMarks({ state, epochs, place }: MarkProps): JSX.Element {
  const starts = state.starts.value;
  let last = -100;
  return (
    <g>
      {epochs.map(({ epoch, firstCall: named, reason }) => {
        const firstCall = named ?? starts.get(epoch);
        if (firstCall === undefined || epoch === 0) return null;
        const x = xOf(place, firstCall - 0.5);
        if (x - last < 5) return null;
        const isNamed = x - last > 26;
        last = x;
        return (
          <g key={epoch} class="epoch" onClick={() => state.toCall(firstCall)}>
            <title>{`epoch ${epoch}: ${reason}, from call ${firstCall}`}</title>
            <line x1={x} x2={x} y1={frame.top - 4} y2={frame.top + frame.height} />
            {isNamed ? (
              <text class="tick middle" x={x} y={frame.top - 6}>
                e{epoch}
              </text>
            ) : null}
          </g>
        );
      })}
    </g>
  );
}

function describe(calls: number, epochs: readonly EpochRow[], budget: number | null): string {
  const limit = budget === null ? "no budget" : `a budget of ${count(budget)} tokens`;
  return `Tokens of ${several(calls, "call")} by block, with ${several(epochs.length, "epoch")} and ${limit}. The slider below chooses the call.`;
}

function useWidth(box: { readonly current: HTMLDivElement | null }): number {
  const width = useSignal(800);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) width.value = Math.floor(entry.contentRect.width);
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return width.value;
}
