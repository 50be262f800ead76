/** Advice at the end of the overview of usage: for each agent and project that spends, the budget that pays. */
import { join } from "node:path";
import { WindrowError } from "../../errors.ts";
import { isObject, parseJson } from "../../message/json.ts";
import { readCache, writeCache } from "../../ops/usage/cache-file.ts";
import type { CollectedUsage } from "../../ops/usage/collect.ts";
import { getOrMake } from "../../ops/look/sum.ts";
import { usageOverview } from "../../ops/usage/overview.ts";
import { adviceStrategies, adviseOn } from "../../replay/advice.ts";
import type { Advice } from "../../replay/advice.ts";
import type { ReplayedSession } from "../../replay/replay.ts";
import { totalsOf } from "../../replay/totals.ts";
import { discoverSessions } from "../../transcript/discover.ts";
import type { FoundSession } from "../../transcript/discover.ts";
import type { CommandIo } from "../command.ts";
import { chosenOf } from "../replay/advice-view.ts";
import { readReplayFlags } from "../replay/options.ts";
import { resultsOf } from "../replay/results.ts";
import { sourcesOf } from "../replay/sources.ts";
import { recordedTotal } from "../replay/words.ts";
import { Progress } from "../text/progress.ts";
import { homeOf } from "../agent-usage.ts";

/** The advice on the sessions of one agent in one project. */
export interface SpendingAdvice {
  readonly agent: string;
  readonly project: string;
  readonly dollars: number;
  /** What they would have cost: their dollars by the share that the replayed session saves. Null where no window pays. */
  readonly managedDollars: number | null;
  /** The share of what calls came back to that is in view or one recall away, in per cent. */
  readonly oneRecall: number | null;
  /** The line that turns it on; null where no window pays. */
  readonly line: string | null;
  readonly reason: NonNullable<Advice["reason"]> | "not-replayed" | null;
  /** The session that was replayed. */
  readonly path: string;
}

/** The agents and projects that advice is given on, by what they cost, and the least dollars. */
const mostGroups = 3;
const leastDollars = 1;
/** Calls of a session that is worth its replay, and its most bytes. */
const leastCalls = 40;
const mostBytes = 12_000_000;
/** Sessions of which the smallest is replayed. */
const newest = 3;
/** The budgets that are replayed: `windrow advise` compares all. */
const budgets = "32k,auto";
/** Milliseconds after which what is not replayed yet is left for the next time. */
const longestMs = 15_000;

interface Group {
  readonly agent: string;
  readonly project: string;
  readonly dollars: number;
  readonly place: FoundSession;
}

/**
 * Replays a new, long session of each group that spends, as far as the time goes. What was replayed is kept, as long as
 * its file does not change.
 *
 * @param since - only calls from then on, in milliseconds since 1970
 * @param cache - the folder of what was replayed before; undefined for none
 * @throws WindrowError `aborted`
 */
export async function spendingAdvice(
  files: readonly CollectedUsage[],
  {
    io,
    since,
    cache,
    signal,
  }: {
    readonly io: CommandIo;
    readonly since: number | undefined;
    readonly cache: string | undefined;
    readonly signal: AbortSignal | undefined;
  },
): Promise<readonly SpendingAdvice[]> {
  // What a sub-agent used is in the dollars; its file says nothing of the agent's windows.
  const own = await discoverSessions({ home: homeOf(io.env), env: io.env });
  const groups = groupsOf(files, new Map(own.map((place) => [place.path, place])), since ?? -Infinity);
  const known = await ReplayCache.open(cache);
  const wanted = groups.filter(({ place }) => known.get(place) === undefined);
  if (wanted.length > 0) {
    await replayGroups(wanted, known, io, signal);
    await known.save();
  }
  return groups.map((group) => adviceOf(group, known.get(group.place) ?? []));
}

async function replayGroups(
  wanted: readonly Group[],
  known: ReplayCache,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = AbortSignal.timeout(longestMs);
  const until = signal ? AbortSignal.any([signal, deadline]) : deadline;
  const flags = { strategy: adviceStrategies.join(), budget: budgets, store: "ram:" };
  const settings = await readReplayFlags(flags);
  const progress = new Progress(io);
  const sources = (await Promise.all(wanted.map(({ place }) => sourcesOf(place.path, settings, io, until)))).flat();
  const done = new Set<string>();
  for await (const { file, sessions, error } of resultsOf(
    { sources, settings, flags, html: undefined, progress, io },
    [],
    until,
  )) {
    if (error !== undefined) continue;
    done.add(file);
    known.set(wanted.find(({ place }) => place.path === file)?.place, sessions);
  }
  progress.end();
  if (signal?.aborted)
    throw new WindrowError("aborted", "The replay behind the advice was aborted; nothing was written.");
  // One that takes all of the time would take it at every run.
  if (deadline.aborted && done.size === 0) known.set(wanted[0]?.place, []);
}

function adviceOf({ agent, project, dollars, place }: Group, sessions: readonly ReplayedSession[]): SpendingAdvice {
  const about = { agent, project, dollars, path: place.path, managedDollars: null, oneRecall: null, line: null };
  if (sessions.length === 0) return { ...about, reason: "not-replayed" };
  const { advised, before, reason = null } = adviseOn(totalsOf(sessions), recordedTotal(sessions));
  if (!advised) return { ...about, reason };
  const [after, whole] = [advised.cost.dollars, before.cost.dollars];
  const share = after !== null && whole ? after / whole : advised.cost.equivalents / before.cost.equivalents;
  const [line = null] = chosenOf(advised, sessions).lines;
  return { ...about, reason, managedDollars: dollars * share, oneRecall: advised.lookback.oneHop, line };
}

/** The agents and projects that cost most, each with a new session of enough calls. A call counts once, in the oldest file. */
function groupsOf(
  files: readonly CollectedUsage[],
  places: ReadonlyMap<string, FoundSession>,
  since: number,
): readonly Group[] {
  const seen = new Set<number>();
  const groups = new Map<string, { agent: string; project: string; files: CollectedUsage[] }>();
  for (const { path, agent, calls: all } of files) {
    const { project = "" } = all[0] ?? {};
    const calls = all.filter(({ key, time = 0 }) => time >= since && !seen.has(key) && seen.add(key));
    const group = getOrMake(groups, JSON.stringify([agent, project]), () => ({ agent, project, files: [] }));
    group.files.push({ path, agent, calls });
  }
  return [...groups.values()]
    .flatMap(({ agent, project, files: own }): readonly Group[] => {
      const dollars = usageOverview(own.map(({ calls }) => calls)).total.dollars ?? 0;
      const place = replayedOf(own, places);
      return place && dollars >= leastDollars ? [{ agent, project, dollars, place }] : [];
    })
    .toSorted((left, right) => right.dollars - left.dollars)
    .slice(0, mostGroups);
}

/** The smallest of the newest sessions that are long enough: what is told of all of them is soon measured. */
function replayedOf(
  files: readonly CollectedUsage[],
  places: ReadonlyMap<string, FoundSession>,
): FoundSession | undefined {
  return files
    .flatMap(({ path, calls }) => (calls.length >= leastCalls ? (places.get(path) ?? []) : []))
    .filter(({ bytes }) => bytes <= mostBytes)
    .toSorted((left, right) => right.modifiedAt.localeCompare(left.modifiedAt))
    .slice(0, newest)
    .toSorted((left, right) => left.bytes - right.bytes)[0];
}

/** Sessions that were replayed before, by their files as they were. */
class ReplayCache {
  readonly #file: string | undefined;
  readonly #entries: Map<string, readonly ReplayedSession[]>;

  private constructor(file: string | undefined, entries: Map<string, readonly ReplayedSession[]>) {
    this.#file = file;
    this.#entries = entries;
  }

  static async open(folder: string | undefined): Promise<ReplayCache> {
    const file = folder === undefined ? undefined : join(folder, "advice.json");
    const entries = file === undefined ? undefined : parseJson(await readCache(file));
    return new ReplayCache(file, new Map(Object.entries(isObject(entries) ? entries : {}) as never));
  }

  get(place: FoundSession): readonly ReplayedSession[] | undefined {
    return this.#entries.get(keyOf(place));
  }

  set(place: FoundSession | undefined, sessions: readonly ReplayedSession[]): void {
    if (place)
      this.#entries.set(
        keyOf(place),
        sessions.map((session) => ({ ...session, results: session.results.map((one) => ({ ...one, series: [] })) })),
      );
  }

  /** Writes the newest of them. */
  async save(): Promise<void> {
    if (this.#file === undefined || this.#entries.size === 0) return;
    await writeCache(this.#file, JSON.stringify(Object.fromEntries([...this.#entries].slice(-mostCached))));
  }
}

const mostCached = 50;

function keyOf({ path, bytes, modifiedAt }: FoundSession): string {
  return JSON.stringify([path, bytes, modifiedAt]);
}
