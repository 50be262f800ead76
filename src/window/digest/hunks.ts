/** Hunks: the place of a patch's old lines in what is known of a file, and the text once they gave way to new ones. */
import type { HunkPlace } from "../action/action.ts";
import type { Line, Stretch } from "./line.ts";
import { keyOf, split } from "./line.ts";

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

/** Takes the known ones of the old lines away, wherever they stand, and puts the new ones where the first of them stood. */
function merged(stretches: readonly Stretch[], { old, fresh, at = 0 }: Hunk, numbered: boolean): Patched {
  const gone = new Set(old.map(({ key }) => key).filter((key) => /[\p{L}\p{N}]/u.test(key)));
  const rest: Stretch[] = [];
  let place = -1;
  for (const stretch of stretches) {
    const left = split(stretch, ({ key }) => !gone.has(key));
    if (place < 0 && left[0] !== stretch) place = rest.length + (left[0]?.lines[0] === stretch.lines[0] ? 1 : 0);
    rest.push(...left);
  }
  const doubt = place >= 0;
  if (!doubt) place = numbered && at > 0 ? rest.filter((one) => one.at > 0 && one.at < at).length : rest.length;
  if (fresh.length > 0) rest.splice(place, 0, { at: 0, lines: fresh });
  return { stretches: rest, shifted: true, doubt, next: { stretch: place + 1, line: 0 } };
}
