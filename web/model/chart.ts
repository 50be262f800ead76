/** Paths of the timeline: one for each block of a request, as areas with steps. */
import { blockOrder, cacheParts, callBlocks } from "./buckets.ts";
import type { BlockName, Column } from "./buckets.ts";

/** The place of a chart in pixels, and the value at its top. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly most: number;
}

/** The path of each block, stacked; empty for a block without tokens. */
export function areaPaths(columns: readonly Column[], frame: Frame): Readonly<Record<BlockName, string>> {
  const stacks = columns.map(({ shown }) => {
    const blocks = callBlocks(shown);
    return blockOrder.map((block) => Math.max(0, blocks[block]));
  });
  return Object.fromEntries(blockOrder.map((block, place) => [block, layer(stacks, place, frame)])) as Readonly<
    Record<BlockName, string>
  >;
}

/** The paths of what the cache read, wrote and had not, of what providers reported; undefined where none did. */
export function cachePaths(
  columns: readonly Column[],
  frame: Frame,
): { readonly read: string; readonly written: string; readonly fresh: string } | undefined {
  const parts = columns.map(({ coldest }) => cacheParts(coldest));
  if (parts.every((part) => part === undefined || part.read + part.written === 0)) return undefined;
  const shares = parts.map((part) => {
    const whole = part ? part.read + part.written + part.fresh : 0;
    return part && whole > 0 ? [part.read / whole, part.written / whole, part.fresh / whole] : [0, 0, 0];
  });
  const unit = { ...frame, most: 1 };
  return { read: layer(shares, 0, unit), written: layer(shares, 1, unit), fresh: layer(shares, 2, unit) };
}

/** One layer of stacked values: along its upper edge, and back along its lower. */
function layer(stacks: readonly (readonly number[])[], place: number, frame: Frame): string {
  const { left, top, width, height, most } = frame;
  if (stacks.every((stack) => (stack[place] ?? 0) === 0)) return "";
  const step = width / stacks.length;
  const y = (value: number): string => (top + height * (1 - Math.min(1, value / most))).toFixed(1);
  const x = (column: number): string => (left + column * step).toFixed(1);
  const sum = (stack: readonly number[], end: number): number =>
    stack.slice(0, end).reduce((total, value) => total + value, 0);
  const upper: string[] = [];
  const lower: string[] = [];
  stacks.forEach((stack, column) => {
    upper.push(`L${x(column)} ${y(sum(stack, place + 1))}H${x(column + 1)}`);
    lower.push(`L${x(column + 1)} ${y(sum(stack, place))}H${x(column)}`);
  });
  return `M${x(0)} ${y(sum(stacks[0]!, place))}${upper.join("")}${lower.reverse().join("")}Z`;
}
