/**
 * Calibration: the tokens that a provider reported for the last request correct the count of the next one. Only messages
 * that came or went since are counted, at a rate learned from earlier reports. The reported figure includes tool schemas,
 * framing and everything else that no counter sees.
 */

/** The counts observed of one model. Plain JSON, which a later process can continue from. */
export interface CalibrationState {
  readonly version: 1;
  /** Reported figures that were taken. */
  readonly observations: number;
  /** The newest request: tokens as counted, and as the provider reported them. */
  readonly estimated: number;
  readonly reported: number;
  /** Decayed sums of what requests grew or shrank by, as counted and as reported; their quotient is the rate. */
  readonly countedChange: number;
  readonly reportedChange: number;
  /** How far a request's change was from the one expected, as a decayed share of it. */
  readonly doubt: number;
  /** Figures refused in a row. */
  readonly refused: number;
}

/** A corrected count: tokens the provider will report, and the band they should stand in. */
export interface CorrectedCount {
  readonly tokens: number;
  readonly low: number;
  readonly high: number;
}

/** One request: its count, and what the provider said of it. */
export interface Observation {
  /** Tokens of the whole request by the session's counter: a composition's `tokens`. */
  readonly estimated: number;
  /** The whole input as reported, what was read from a cache included: `usage.input`. */
  readonly reported: number;
  /** The model's capacity in tokens, where it is known: no request can be larger. */
  readonly contextWindow?: number;
}

/** The result of an observation. */
export interface Observed {
  readonly state: CalibrationState;
  /** Set where the figure cannot be true and was ignored. For people. */
  readonly warning?: string;
}

/** Weight the first rate, one token for one, has against what is seen: tokens. */
const startWeight = 2_000;

/** The weight that older changes keep after one call. */
const keptShare = 0.95;

/** A figure this many times away from the expected one is ignored, until three in a row say the same. */
const farOff = 3;

/** Before anything was reported: two vocabularies differ by up to three quarters on one text. */
const firstBand = { low: 0.5, high: 1.75 };

/** The band's least half-width, as a share of the tokens; 98 % of the calls of recorded sessions stand in the band. */
const leastBand = 0.005;

/** The calibration of a model that nothing was reported of. */
export const initialCalibration: CalibrationState = {
  version: 1,
  observations: 0,
  estimated: 0,
  reported: 0,
  countedChange: startWeight,
  reportedChange: startWeight,
  doubt: 0.5,
  refused: 0,
};

/**
 * Takes what a provider reported for a request. A figure that cannot be true (no whole number above 0, more than the
 * model takes, or three times off what was expected) changes nothing and comes back as a warning; the third of those in
 * a row that a model could have taken is believed, as the counter or the host may have changed.
 */
export function observe(state: CalibrationState, { estimated, reported, contextWindow }: Observation): Observed {
  if (!Number.isSafeInteger(reported) || reported <= 0 || (contextWindow !== undefined && reported > contextWindow)) {
    const limit = contextWindow === undefined ? "" : `, with room for ${contextWindow}`;
    return { state, warning: `The reported input of ${reported} tokens cannot be${limit}; it is ignored.` };
  }
  if (!(estimated > 0)) return { state };
  if (state.observations === 0) return { state: { ...state, observations: 1, estimated, reported } };

  const expected = correct(state, estimated).tokens;
  const off = reported > expected * farOff || reported < expected / farOff;
  if (off && state.refused < 2) {
    return {
      state: { ...state, refused: state.refused + 1 },
      warning: `The reported input of ${reported} tokens is far from the ${expected} expected; it is ignored.`,
    };
  }
  if (off) return { state: { ...initialCalibration, observations: 1, estimated, reported } };

  const counted = estimated - state.estimated;
  const change = reported - state.reported;
  const sameWay = counted * change > 0;
  const miss = Math.abs(reported - expected) / Math.max(50, Math.abs(expected - state.reported));
  return {
    state: {
      version: 1,
      observations: state.observations + 1,
      estimated,
      reported,
      countedChange: sameWay ? state.countedChange * keptShare + Math.abs(counted) : state.countedChange,
      reportedChange: sameWay ? state.reportedChange * keptShare + Math.abs(change) : state.reportedChange,
      doubt: 0.8 * state.doubt + 0.2 * Math.min(1, miss),
      refused: 0,
    },
  };
}

/** The tokens a provider will report for a request that counts `estimate` tokens. Whole numbers; never below 0. */
export function correct(state: CalibrationState, estimate: number): CorrectedCount {
  if (state.observations === 0) return rounded(estimate, estimate * firstBand.low, estimate * firstBand.high);
  const change = rateOf(state) * (estimate - state.estimated);
  const tokens = Math.max(0, state.reported + change);
  // The uncertainty of one message stays whole; over many messages it evens out, as far as the rate is known.
  const one = Math.min(Math.abs(change), (1 - keptShare) * state.reportedChange);
  const many = Math.abs(change) / Math.sqrt(Math.min(state.observations, 1 / (1 - keptShare)));
  const half = leastBand * tokens + Math.min(1, 2 * state.doubt) * Math.max(one, many);
  return rounded(tokens, tokens - half, tokens + half);
}

/**
 * The count a request may have so that the provider sees at most `tokens`: {@link correct} backwards. The same number
 * until something was reported.
 */
export function countFor(state: CalibrationState, tokens: number): number {
  if (state.observations === 0) return tokens;
  return Math.max(0, Math.floor(state.estimated + (tokens - state.reported) / rateOf(state)));
}

function rateOf({ countedChange, reportedChange }: CalibrationState): number {
  return reportedChange / countedChange;
}

function rounded(tokens: number, low: number, high: number): CorrectedCount {
  return { tokens: Math.round(tokens), low: Math.max(0, Math.floor(low)), high: Math.ceil(high) };
}
