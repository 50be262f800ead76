/** Tokens of every call as a stacked chart: blocks, the budget, epochs, and below it what the cache did. A press scrubs. */
import { useSignal } from "@preact/signals";
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

/** The timeline of a session. */
export function Timeline({ state }: { readonly state: SessionState }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const pointed = useSignal<number | undefined>(undefined);
  const calls = state.calls.value;
  const budget = state.head.value.value?.budget ?? null;
  const epochs = state.epochs.value.value ?? [];
  const inner = Math.max(1, width - frame.left - frame.right);
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
  const total = Math.max(1, calls.length);
  const xOf = (call: number): number => frame.left + ((call - 0.5) * inner) / total;
  const yOf = (value: number): number => frame.top + frame.height * (1 - value / drawn.top);
  const callOf = (event: PointerEvent): number => {
    const edge = box.current?.getBoundingClientRect().left ?? 0;
    return Math.max(1, Math.min(total, Math.floor(((event.clientX - edge - frame.left) * total) / inner) + 1));
  };
  const now = state.call.value;
  const seen = pointed.value ?? now;
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="timeline-head">
        <Scrubber state={state} />
        <Legend state={state} call={seen} isPointed={pointed.value !== undefined} />
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
        <svg width={width} height={wholeHeight} role="img" aria-label={describe(calls.length, epochs, budget)}>
          <line class="axis" x1={frame.left} x2={frame.left + inner} y1={yOf(0)} y2={yOf(0)} />
          {[0.5, 1].map((share) => (
            <g key={share}>
              <line
                class="grid"
                x1={frame.left}
                x2={frame.left + inner}
                y1={yOf(drawn.top * share)}
                y2={yOf(drawn.top * share)}
              />
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
          <EpochMarks state={state} epochs={epochs} xOf={(call) => xOf(call) - inner / total / 2} inner={inner} />
          {budget !== null && budget <= drawn.top ? (
            <g>
              <line class="budget" x1={frame.left} x2={frame.left + inner} y1={yOf(budget)} y2={yOf(budget)} />
              <text class="tick end" x={frame.left + inner} y={yOf(budget) - 4}>
                budget {compact(budget)}
              </text>
            </g>
          ) : null}
          {pointed.value === undefined ? null : (
            <line class="pointer" x1={xOf(seen)} x2={xOf(seen)} y1={frame.top} y2={wholeHeight - 4} />
          )}
          {now > 0 && calls.length > 0 ? (
            <g class="playhead">
              <line x1={xOf(now)} x2={xOf(now)} y1={frame.top - 6} y2={wholeHeight - 4} />
              <path d={`M${xOf(now) - 5} ${frame.top - 12}h10v5l-5 5l-5 -5z`} />
            </g>
          ) : null}
        </svg>
      </div>
      <CallSlider state={state} inset={{ left: xOf(1), width: xOf(total) - xOf(1) }} />
    </section>
  );
}

function Legend(props: {
  readonly state: SessionState;
  readonly call: number;
  readonly isPointed: boolean;
}): JSX.Element {
  const call = props.state.calls.value[props.call - 1];
  return (
    <div class="legend">
      <span class="legend-call">
        {props.isPointed ? "at" : "now"} call {count(props.call)}
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
  readonly xOf: (call: number) => number;
  readonly inner: number;
}

/** The marks of epochs; where they would stand closer than a few pixels, every other is left out. */
function EpochMarks({ state, epochs, xOf }: MarkProps): JSX.Element {
  const starts = state.starts.value;
  let last = -100;
  return (
    <g>
      {epochs.map(({ epoch, firstCall: named, reason }) => {
        const firstCall = named ?? starts.get(epoch);
        if (firstCall === undefined || epoch === 0) return null;
        const x = xOf(firstCall);
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
