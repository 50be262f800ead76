/**
 * Calls that an agent's own file and Windrow's store both have: of a gateway, or of an adapter in an agent that keeps files
 * as well. They get the key of the agent's call, so that each counts once, in the folder that the agent worked in.
 */
import { getOrMake } from "../look/sum.ts";
import type { CallUsage } from "../../transcript/usage/usage.ts";
import type { CollectedUsage } from "./collect.ts";

/** Milliseconds between the times under which two programs note the end of one call, at most. */
const mostApart = 300_000;

/**
 * The calls of each place, those of Windrow's store under the key of the same call in an agent's file. A call is the same by
 * the provider's ids, which files of Claude Code have; where one side holds none, by its tokens and its time, and each of an
 * agent's calls is one of the store's.
 *
 * @param agents - the calls that agents keep
 * @param own - the calls of Windrow's store
 */
export function withSharedKeys(
  agents: readonly CollectedUsage[],
  own: readonly CollectedUsage[],
): readonly (readonly CallUsage[])[] {
  const known = new Set<number>();
  const named = new Set<CallUsage>();
  for (const { agent, calls } of agents) if (agent === "claude-code") for (const call of calls) named.add(call);
  const alike = new Map<string, CallUsage[]>();
  for (const call of agents.flatMap(({ calls }) => calls)) {
    if (known.has(call.key)) continue;
    known.add(call.key);
    getOrMake(alike, likeness(call), () => []).push(call);
  }
  const keys = new Map<CallUsage, number>();
  const all = own.flatMap(({ calls }) => calls);
  for (const call of all) {
    const key = call.others?.find((other) => known.has(other));
    if (key === undefined) continue;
    keys.set(call, key);
    drop(alike.get(likeness(call)), (other) => other.key === key);
  }
  for (const call of all) {
    if (keys.has(call)) continue;
    const list = alike.get(likeness(call)) ?? [];
    // Two calls with other ids of the provider's are two, whatever their tokens.
    const may = call.others ? list.filter((other) => !named.has(other)) : list;
    const apart = (other: CallUsage): number => Math.abs((other.time ?? Infinity) - (call.time ?? 0));
    const [nearest] = may.toSorted((one, other) => apart(one) - apart(other));
    if (!nearest || !(apart(nearest) <= mostApart)) continue;
    keys.set(call, nearest.key);
    drop(list, (other) => other === nearest);
  }
  const shared = own.map(({ calls }) => calls.map((call) => ({ ...call, key: keys.get(call) ?? call.key })));
  return [...agents.map(({ calls }) => calls), ...shared];
}

/** Calls of the same tokens. */
function likeness({ input, output }: CallUsage): string {
  return `${input} ${output}`;
}

function drop(list: CallUsage[] | undefined, isIt: (call: CallUsage) => boolean): void {
  const place = list?.findIndex(isIt) ?? -1;
  if (place >= 0) list?.splice(place, 1);
}
