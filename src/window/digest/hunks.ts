/** Hunks: the place of a patch's old lines in what is known of a file, and the text once they gave way to new ones. */
import type { HunkPlace } from "../action/action.ts";
import type { Line, Stretch } from "./line.ts";
import { keyOf } from "./line.ts";

/** Length from which a line that left a file is taken from wherever it is known to stand, in characters. */
const telling = 4;

/** A hunk in lines. */
export interface Hunk extends HunkPlace {
  readonly old: readonly Line[];
  readonly fresh: readonly Line[];
}

/** The known text behind a hunk. */
export interface Patched {
  readonly stretches: readonly Stretch[];
  /** Whether line numbers behind the hunk are no longer certain. */
  readonly shifted: boolean;
  /** Whether the known text contradicts the hunk: it must have changed before. */
  readonly doubt: boolean;
  /** The place behind the new lines, for the next hunk. */
  readonly next: Spot;
}

/** A line by its stretch and its index there. */
export interface Spot {
  readonly stretch: number;
  readonly line: number;
}

/**
 * Puts a hunk's new lines in the place of its old ones.
 *
 * @param from - the place behind the hunk before
 * @param numbered - whether the numbers of stretches are certain
 */
export function applyHunk(stretches: readonly Stretch[], hunk: Hunk, from: Spot, numbered: boolean): Patched {
  const found = hunk.old.length === 0 ? undefined : spotOf(stretches, hunk, from);
  return found ? replaced(stretches, hunk, found, numbered) : merged(stretches, hunk, numbered);
}

function matches(lines: readonly Line[], start: number, run: readonly Line[]): boolean {
  let at = 0;
  while (at < run.length && lines[start + at]?.key === run[at]?.key) at++;
  return at > 0 && at === run.length;
}

/** The place of the old lines: behind the line that the patch names, else behind the hunk before, else the first. */
function spotOf(stretches: readonly Stretch[], { old, under, at }: Hunk, from: Spot): Spot | undefined {
  const anchor = under === undefined ? undefined : keyOf(under);
  let anchored = false;
  let first: Spot | undefined;
  let behind: Spot | undefined;
  for (const [stretch, { at: number, lines }] of stretches.entries()) {
    for (let line = 0; line < lines.length; line++) {
      if (matches(lines, line, old)) {
        const spot = { stretch, line };
        first ??= spot;
        if (anchored || (at !== undefined && number > 0 && number + line === at)) return spot;
        if (stretch > from.stretch || (stretch === from.stretch && line >= from.line)) behind ??= spot;
      }
      if (anchor !== undefined && lines[line]?.key.includes(anchor) === true) anchored = true;
    }
  }
  return behind ?? first;
}

function replaced(stretches: readonly Stretch[], { old, fresh }: Hunk, spot: Spot, numbered: boolean): Patched {
  const own = stretches[spot.stretch];
  const shift = fresh.length - old.length;
  const changed = stretches.flatMap((one, index): readonly Stretch[] => {
    if (index !== spot.stretch) {
      const behind = own && one.at > own.at && own.at > 0;
      return [behind ? { at: one.at + shift, lines: one.lines } : one];
    }
    const lines = [...one.lines.slice(0, spot.line), ...fresh, ...one.lines.slice(spot.line + old.length)];
    return [{ at: one.at, lines }];
  });
  const shifted = shift !== 0 && !(numbered && own !== undefined && own.at > 0);
  const next = { stretch: spot.stretch, line: spot.line + fresh.length };
  return { stretches: changed.filter(({ lines }) => lines.length > 0), shifted, doubt: false, next };
}

/**
 * Takes the known ones of the old lines away, and puts the new ones where the first of them stood. Of the lines that
 * stay, those at the edge of a stretch belong to the hunk; a removed line goes wherever it stands.
 */
function merged(stretches: readonly Stretch[], { old, fresh, at = 0 }: Hunk, numbered: boolean): Patched {
  const kept = new Set(fresh.map(({ key }) => key));
  const gone = new Set(old.map(({ key }) => key).filter((key) => key.length >= telling && !kept.has(key)));
  // A short line may stand for many; one that is known at one place alone is the one that left.
  for (const { key } of old)
    if (!kept.has(key) && /[\p{L}\p{N}]/u.test(key) && timesIn(stretches, key) === 1) gone.add(key);
  const rest: Stretch[] = [];
  let place = -1;
  let number = 0;
  let doubt = false;
  for (const stretch of stretches) {
    const { at: first, lines } = stretch;
    const overlap = overlapOf(lines, old);
    if (!overlap && !lines.some(({ key }) => gone.has(key))) {
      rest.push(stretch);
      continue;
    }
    const leaves = lines.map(({ key }, index) => gone.has(key) || (overlap?.has(index) ?? false));
    doubt ||= lines.some(({ key }, index) => gone.has(key) && !(overlap?.has(index) ?? false));
    let open: Line[] | undefined;
    let left = false;
    for (const [index, line] of lines.entries()) {
      if (leaves[index]) {
        if (place < 0 || (overlap && number === 0)) {
          place = rest.length;
          number = overlap && first > 0 ? first + index : 0;
        }
        open = undefined;
        left = true;
        continue;
      }
      const moved = left ? fresh.length - old.length : 0;
      if (open) open.push(line);
      else rest.push({ at: first === 0 ? 0 : Math.max(1, first + index + moved), lines: (open = [line]) });
    }
  }
  const known = numbered ? Math.max(number, at) : 0;
  if (place < 0) place = known > 0 ? rest.filter((one) => one.at > 0 && one.at < known).length : rest.length;
  if (fresh.length > 0) rest.splice(place, 0, { at: 0, lines: fresh });
  return { stretches: rest, shifted: true, doubt, next: { stretch: place + 1, line: 0 } };
}

function timesIn(stretches: readonly Stretch[], sought: string): number {
  if (sought.length >= telling) return 0;
  return stretches.reduce((sum, { lines }) => sum + lines.filter(({ key }) => key === sought).length, 0);
}

/**
 * The lines of a stretch that are lines of the hunk because one runs into the other without a contradiction. The hunk
 * stands whole nowhere, so it reaches beyond the beginning of the stretch or its end.
 */
function overlapOf(lines: readonly Line[], old: readonly Line[]): ReadonlySet<number> | undefined {
  let best: { readonly from: number; readonly to: number } | undefined;
  for (let offset = 1 - old.length; offset < lines.length; offset++) {
    if (offset === 0 && lines.length > old.length) offset = lines.length - old.length + 1;
    const from = Math.max(0, offset);
    const to = Math.min(lines.length, offset + old.length);
    if (to - from <= (best ? best.to - best.from : 0)) continue;
    let telling = false;
    let at = from;
    while (at < to && lines[at]?.key === old[at - offset]?.key) telling = isTelling(lines[at++]) || telling;
    if (at === to && telling) best = { from, to };
  }
  if (!best) return undefined;
  const { from, to } = best;
  return new Set(Array.from({ length: to - from }, (_, step) => from + step));
}

function isTelling(line: Line | undefined): boolean {
  return line !== undefined && line.key.length >= telling;
}
