/** The kinds of edits and window states that come from outside: from passes, callers, and the lines of a log. */
import type { CalibrationState } from "../tokens/calibrate.ts";
import { count, having, kinds, listOf, oneOf, orAbsent, whole, withTexts } from "./options.ts";
import type { Kind } from "./options.ts";
import type { CountedWindow, Edit, ForcedEpoch, Insert, Sizing, WindowState } from "./window.ts";

type Fields<Value> = { readonly [Field in keyof Value]-?: Kind };

const above: Kind = {
  is: "a number above 0",
  fits: (value) => Number.isFinite(value) && (value as number) > 0,
};

const calibrationKinds = {
  version: whole(1),
  observations: whole(0),
  estimated: count,
  reported: count,
  countedChange: above,
  reportedChange: above,
  doubt: count,
  refused: whole(0),
} as const satisfies Fields<CalibrationState>;

const counted = having("an object", {
  tokens: count,
  calibration: having("an object", calibrationKinds),
} as const satisfies Fields<CountedWindow>);

const sizingKinds = { size: above, calls: count, tokens: count, returns: count } as const satisfies Fields<Sizing>;

const places = { from: whole(1), to: whole(1) };

/** The kind of lists of edits. */
export const editList = listOf(
  having("an edit", {
    kind: oneOf("drop", "stub", "replace"),
    ...places,
    only: orAbsent(oneOf("reasoning")),
    callId: orAbsent(kinds.text),
    part: orAbsent(oneOf("arguments", "text")),
    place: orAbsent(whole(1)),
    text: orAbsent(kinds.text),
    keepsMedia: orAbsent(kinds.flag),
    role: orAbsent(oneOf("user", "assistant", "system", "tool")),
    stubs: orAbsent(listOf(withTexts("tool", "subject", "id"))),
    pass: kinds.text,
    reason: kinds.text,
    tokensBefore: count,
    tokensAfter: count,
  } as const satisfies Fields<Edit>),
);

/** The kind of window states: objects that a composition returned, or their JSON parsed. */
export const windowState = having(
  "an object that composeWindow returned as `state`, whole; leave it out to begin anew",
  {
    version: { is: "1", fits: (value) => value === 1 },
    epoch: whole(0),
    edits: editList,
    opened: whole(0),
    openedHash: kinds.text,
    systemHash: kinds.text,
    toolsHash: kinds.text,
    length: whole(0),
    prefixHash: kinds.text,
    slot: orAbsent(listOf(withTexts("id", "text"))),
    inserts: orAbsent(
      listOf(having("an insert", { after: whole(0), id: kinds.text, text: kinds.text } satisfies Fields<Insert>)),
    ),
    previous: orAbsent(whole(0)),
    reverted: orAbsent(listOf(having("a range", places))),
    counted: orAbsent(counted),
    horizon: orAbsent(whole(1)),
    cached: orAbsent(count),
    sizing: orAbsent(having("a size", sizingKinds)),
    forced: orAbsent(
      listOf(having("an epoch", { calls: count, brought: count, left: count } satisfies Fields<ForcedEpoch>)),
    ),
  } as const satisfies Fields<WindowState>,
);
