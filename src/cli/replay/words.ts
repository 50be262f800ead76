/** The findings of a replay in sentences: the record behind its figures, and the verdict. */
import type { RecordedUse } from "../../replay/recorded.ts";
import type { ReplayedSession } from "../../replay/replay.ts";
import type { ReplayTotal } from "../../replay/totals.ts";
import { count } from "../text/text.ts";
import { decimals, percent } from "./figures.ts";
import type { Row } from "./table.ts";

/** The strategy that sends everything. */
const everything = "none";
/** Points of recall that a cheaper strategy may lack and still be the better one. */
const nearlyAsGood = 5;
/** Budgets to try where a session fits the one that was asked for. */
const usualBudgets = [2, 4, 8, 16, 32, 64, 128, 256].map((thousands) => thousands * 1_000);

/** The usage that all sessions report together; undefined unless each reports that of nearly all its calls. */
export function recordedTotal(sessions: readonly ReplayedSession[]): RecordedUse | undefined {
  const uses = sessions.flatMap(({ recorded, calls }) =>
    recorded !== undefined && recorded.calls >= 0.9 * calls ? [recorded] : [],
  );
  const [only] = uses;
  if (uses.length < sessions.length || only === undefined) return undefined;
  if (uses.length === 1) return only;
  const sum = (value: (use: RecordedUse) => number): number => uses.reduce((all, use) => all + value(use), 0);
  const [calls, total] = [sum((use) => use.calls), sum((use) => use.tokens.total)];
  return {
    calls,
    tokens: {
      total,
      average: Math.round(total / calls),
      peak: uses.reduce((peak, { tokens }) => Math.max(peak, tokens.peak), 0),
    },
    output: sum((use) => use.output),
    cachedShare: sum((use) => use.cachedShare * use.tokens.total) / total,
    cost: {
      equivalents: sum((use) => use.cost.equivalents),
      dollars: uses.some(({ cost }) => cost.dollars === null) ? null : sum((use) => use.cost.dollars ?? 0),
    },
    others: sum((use) => use.others),
    unpriced: sum((use) => use.unpriced),
  };
}

/** How often the recorded program sent less than before, by its own marks, or else by what its calls report. */
function cutWords(cuts: number, compactions: number): readonly string[] {
  if (compactions > 0)
    return [`The recorded program cut or summarised its history ${times(compactions)}; none sends what it did not.`];
  if (cuts === 0) return [];
  return [`The recorded requests shrank ${times(cuts)}; where the program cut its history, none still sends it.`];
}

/** The record that a session's figures rest on, or that there is none. */
export function recordWords({ recorded, calibration, calls, compactions = 0 }: ReplayedSession): readonly string[] {
  const cut = cutWords(calibration?.cuts ?? 0, compactions);
  if (!recorded) {
    const cold = calibration ? `, cold before ${count(calibration.coldCalls)} calls after long pauses` : "";
    return [`No message reports usage: tokens are counted, and the cache is taken to be warm${cold}.`, ...cut];
  }
  const others = moneyWords(recorded);
  const told = recorded.calls === calls ? "" : ` of ${count(recorded.calls)} calls`;
  if (!calibration) return [...cut, ...others];
  const { rate, overhead, warm, cached, coldCalls, hourShare } = calibration;
  const found = warm > 0 ? `, and held ${count(warm)} tokens before the first call` : "";
  const caching = !cached
    ? "no call was cached, so none is here"
    : coldCalls === 0
      ? `the cache stayed warm${found}`
      : `the cache was cold for ${count(coldCalls)} ${coldCalls === 1 ? "call" : "calls"}${found}`;
  const hour = hourShare > 0 ? `; it kept ${Math.floor(100 * hourShare)} % of what was written for an hour` : "";
  return [
    `By the file's own usage${told}: ${decimals(rate, 2)} tokens for each counted one; ${caching}${hour}; ` +
      `${count(overhead)} tokens a request beside its messages, in average, peak and cost, not in the budget.`,
    ...cut,
    ...others,
  ];
}

/** The calls that are in the money alone, and those that are not in it. */
function moneyWords({ cost, others, unpriced }: RecordedUse): readonly string[] {
  const calls = (number: number): string => `${count(number)} ${number === 1 ? "call" : "calls"}`;
  const whose = "whose answers are no part of the session: abandoned, taken back, or not in the file";
  return [
    ...(others === 0 ? [] : [`In the cost of every row, as they were: ${calls(others)} ${whose}.`]),
    ...(cost.dollars === null || unpriced === 0 ? [] : [`Without a price, and not in the money: ${calls(unpriced)}.`]),
  ];
}

function times(number: number): string {
  return number === 1 ? "once" : number === 2 ? "twice" : `${count(number)} times`;
}

/**
 * Two sentences: what the best strategy would have cost and kept in view, beside what happened.
 *
 * @param rows - of one session, or of all together
 */
export function verdict(rows: readonly Row[], recorded: RecordedUse | undefined, calls: number): string {
  const managed = rows.filter((row) => row.strategy !== everything);
  const none = rows.find((row) => row.strategy === everything);
  if (managed.length === 0 || calls === 0) return "";
  const fits = managed.filter(({ epochs, refused, overBudget }) => epochs + refused + overBudget === 0);
  if (fits.length === managed.length) return fittingWords(managed);
  const best = bestOf(managed.filter((row) => !fits.includes(row)));
  const [first, second] = [savingWords(best, recorded ?? none, recorded !== undefined), keptWords(best, calls)];
  return `${first} ${second}`;
}

function fittingWords(rows: readonly Row[]): string {
  const peak = Math.max(...rows.map(({ tokens }) => tokens.peak));
  const budget = Math.min(...rows.map((row) => row.budget ?? Infinity));
  const smaller = usualBudgets.findLast((one) => one <= peak / 2 && one < budget);
  const fit = Number.isFinite(budget) ? `${count(budget)} tokens hold` : "The budget holds";
  const hint = smaller === undefined ? "" : ` To see a window that is too small for it: -b ${smaller / 1_000}k.`;
  return `${fit} the whole of it, ${count(peak)} tokens in the largest request: there is nothing to manage.${hint}`;
}

/** The cheapest of the strategies that keep in view nearly as much as the one that keeps most. */
function bestOf(rows: readonly Row[]): Row {
  const most = Math.max(...rows.map(({ lookback }) => lookback.all ?? 0));
  const good = rows.filter(({ lookback }) => (lookback.all ?? 0) >= most - nearlyAsGood);
  const sound = good.filter(({ broken, faults, refused }) => broken + faults + refused === 0);
  return (sound.length > 0 ? sound : good).reduce((best, row) =>
    row.cost.equivalents < best.cost.equivalents ? row : best,
  );
}

function savingWords(best: Row, base: Pick<Row, "cost"> | undefined, isRecord: boolean): string {
  const at = best.budget === null ? "" : ` at ${count(best.budget)}`;
  const own = price(best);
  if (!base) return `${best.strategy}${at} would have cost ${own}.`;
  const whole = isRecord ? `as recorded it was ${price(base)}` : `sending everything costs ${price(base)}`;
  const saves = (best.cost.dollars ?? best.cost.equivalents) < (base.cost.dollars ?? base.cost.equivalents);
  if (saves) return `${best.strategy}${at} would have cost ${own}; ${whole}.`;
  return `${best.strategy}${at} saves nothing here: it would have cost ${own}; ${whole}.`;
}

function keptWords({ lookback, epochs }: Row, calls: number): string {
  const rewrote = `It rewrote the beginning of the request ${times(epochs)} in ${count(calls)} calls`;
  if (lookback.all === null) return `${rewrote}; no call referred back to anything.`;
  const hop = lookback.oneHop === null ? "" : `, and ${percent(lookback.oneHop)} % within one recall`;
  return `${rewrote}, and had in view ${percent(lookback.all)} % of what they referred back to${hop}.`;
}

function price({ cost }: Pick<Row, "cost">): string {
  if (cost.dollars !== null) return `$${decimals(cost.dollars, 2)}`;
  return `${decimals(cost.equivalents, cost.equivalents < 1 ? 3 : 2)} million input tokens`;
}

/** The requests that a provider would have refused, of a person's own sessions. */
export function ownWords(sessions: readonly ReplayedSession[], totals: readonly ReplayTotal[]): string {
  const calls = totals[0]?.calls ?? 0;
  const raw = sessions.reduce((sum, session) => sum + session.brokenRaw, 0);
  const which = `Your ${sessions.length === 1 ? "session" : `${sessions.length} sessions`} made ${count(calls)} model calls.`;
  if (raw === 0) return `${which} As recorded, every request was one that a provider accepts.`;
  const share = `${decimals((100 * raw) / Math.max(1, calls), 1)} %`;
  return (
    `${which} Sent as recorded, ${count(raw)} of them (${share}) would have been refused: aborted tool calls have no ` +
    "result, or results no call. Windrow mends that in the window; your files stay as they are."
  );
}
