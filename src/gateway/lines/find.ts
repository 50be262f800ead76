/** Finding the line of a request: a continuation, a retry, a fork, or a new line. */
import type { Originals } from "../../session/log.ts";
import { asName } from "../../message/json.ts";
import { maskJson } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import type { WireRequest } from "../gateway.ts";
import type { IsEcho, Match, Printed } from "./chain.ts";
import { claimed, groupOf } from "./facts.ts";
import type { LineFacts } from "./facts.ts";
import type { Group } from "./group.ts";
import type { House } from "./house.ts";
import type { Line } from "./line.ts";
import { beginsWithTool } from "../recall/begin.ts";
import { decodeAt } from "./tail.ts";

/** A line, and how far a request is what it holds. */
export interface Found {
  readonly line: Line;
  readonly match: Match;
}

/** The first words of a conversation that goes on from a summary of another. */
const continued = "This session is being continued from a previous conversation";

/** The name of the group of a request. */
export function groupKey(request: WireRequest, tenant: string, first: string): string {
  const name = request.kind === "side" ? "side" : "";
  return groupOf({ ...claimed(request, tenant, first), name });
}

/** Most times that one request has lines read from the store. */
const mostReadings = 8;

/** Whether messages are more than what begins a conversation, or what its client adds behind an answer. */
export function isBegun(messages: WireRequest["messages"]): boolean {
  return messages.some(({ value: { role } }) => !["user", "system", "developer"].includes(asName(role) ?? ""));
}

/**
 * Times that the store is read for a line that has more of a request: none where the best one has all of it, or ends where it
 * goes on; many only where answers follow that no line has.
 */
function readings(best: Found | undefined, { messages }: WireRequest): number {
  const { length = 0 } = best?.match ?? {};
  if (isBegun(messages.slice(length))) return mostReadings;
  return best && (length === messages.length || length === best.line.chain.length) ? 0 : 1;
}

/** The comparison of answers, also of those that the log has masked. */
function echoOf({ api }: WireRequest, { secrets }: House): IsEcho {
  return (sent: JsonObject, answer: JsonObject) =>
    api.isEcho(sent, answer) || api.isEcho(maskJson(secrets, sent), answer);
}

/** Whether a request can be a line's: the tool of recall never joins a conversation, nor a request that may not have it. */
function fits({ facts, chain }: Line, request: WireRequest): boolean {
  return facts.hasTool !== true || (isBegun(request.messages) ? chain.length > 0 : beginsWithTool(request));
}

/** The line that has most of a request; of several, one that it continues whole, then the newest. */
function bestOf(group: Group, request: WireRequest, printed: Printed, isEcho: IsEcho): Found | undefined {
  let best: Found | undefined;
  for (const line of group.lines) {
    const match = line.chain.match(printed, isEcho);
    if (match.length === 0 || !fits(line, request)) continue;
    const isWhole = match.length === line.chain.length;
    const wasWhole = best !== undefined && best.match.length === best.line.chain.length;
    const isBetter =
      match.length > (best?.match.length ?? 0) || (match.length === best?.match.length && (isWhole || !wasWhole));
    if (isBetter) best = { line, match };
  }
  return best;
}

/**
 * As {@link bestOf}, of all lines that the store has.
 *
 * @param left - hears of sessions that are damaged, and left
 */
export async function bestInStore(
  house: House,
  group: Group,
  request: WireRequest,
  printed: Printed,
  left: (id: string, error: unknown) => void,
): Promise<Found | undefined> {
  const isEcho = echoOf(request, house);
  const first = printed.at(0);
  const read = (): Promise<void> => group.read(first, (facts, id) => house.line(request.api, facts, id), left);
  let best = bestOf(group, request, printed, isEcho);
  // The conversations of one agent begin alike: that of the request may be older than many others.
  for (let times = 0; times < readings(best, request) && group.isUnread(first); times++) {
    await read();
    best = bestOf(group, request, printed, isEcho);
  }
  const isEnough = best !== undefined && best.line.facts.hasTool !== true;
  // What another gateway recalled stands in the line that it wrote alone.
  if (isEnough || !isBegun(request.messages.slice(best?.match.length))) return best;
  await house.groups.seek();
  await read();
  return bestOf(group, request, printed, isEcho);
}

/** The line as the memory has it, for a request whose turn with the group did not come. Never throws. */
export function rememberedOf(house: House, group: Group, request: WireRequest, printed: Printed): Found | undefined {
  try {
    return bestOf(group, request, printed, echoOf(request, house));
  } catch {
    return undefined;
  }
}

/** The client's own messages in the place of those that the log has masked, as far as both have the same. */
export function originalsOf(own: WireRequest, line: Line): Originals {
  const { entries } = line.chain;
  let read: WireRequest | undefined;
  return (seq, masked) => {
    const hash = own.messages[seq - 1]?.hash;
    if (hash === undefined || entries[seq - 1]?.hash !== hash) return undefined;
    read ??= line.asRead(own);
    const given = decodeAt(own.api, read.messages, seq - 1);
    if (!given || given.role !== masked.role) return undefined;
    return { ...given, ...(masked.timestamp !== undefined && { timestamp: masked.timestamp }) };
  };
}

/** How the line of a turn is chosen, or made. */
interface LineChoice {
  readonly printed: Printed;
  readonly tenant: string;
  readonly best: Found | undefined;
  /** Whether a new line may be edited, and so begin with the gateway's tool of recall. */
  readonly mayHaveTool: boolean;
}

/**
 * The line of a turn, made where there is none: a request that leaves a line in its middle, or asks again for an answer that
 * was given, goes on in a fork of it.
 */
export async function lineOf(
  house: House,
  group: Group,
  request: WireRequest,
  { printed, tenant, best, mayHaveTool }: LineChoice,
): Promise<Found> {
  if (best) {
    const { line, match } = best;
    line.chain.confirm(printed, match);
    group.use(line);
    if (match.length === line.chain.length) return best;
    const fork = await line.fork(match.length, originalsOf(request, line));
    group.lines.push(fork);
    return { line: fork, match };
  }
  const empty = group.lines.find(
    (line) => line.chain.length === 0 && line.facts.first === printed.at(0) && fits(line, request),
  );
  if (empty) return { line: empty, match: { length: 0, echoes: [] } };
  const hasTool =
    mayHaveTool && house.options.recall === "tool" && !isBegun(request.messages) && beginsWithTool(request);
  const facts = newFacts(group, request, { ...claimed(request, tenant, printed.at(0)), ...(hasTool && { hasTool }) });
  const line = house.line(request.api, facts);
  line.isForeign = isBegun(request.messages);
  group.lines.push(line);
  if (facts.parent) group.compacted = undefined;
  return { line, match: { length: 0, echoes: [] } };
}

/** The line of a client's side requests, which has records and no messages. */
export async function sideLineOf(
  house: House,
  group: Group,
  { api, claims }: WireRequest,
  tenant: string,
): Promise<Found> {
  await group.read("", (facts, id) => house.line(api, facts, id));
  let [line] = group.lines;
  if (!line) {
    const { client, session } = claims;
    line = house.line(api, { api: api.name, client, session, name: "side", first: "", tenant });
    group.lines.push(line);
  }
  return { line, match: { length: 0, echoes: [] } };
}

function newFacts(group: Group, request: WireRequest, facts: Omit<LineFacts, "name" | "parent">): LineFacts {
  const others = group.lines.length + group.unread.length;
  const parent = facts.session === undefined ? undefined : parentOf(group, request);
  const name = facts.agent !== undefined ? "agent" : others === 0 || parent ? "main" : `line-${others + 1}`;
  return { ...facts, name, ...(parent && { parent: { uuid: parent, reason: "client compacted" } }) };
}

function parentOf(group: Group, { messages }: WireRequest): string | undefined {
  if (group.compacted) return group.compacted.id;
  const text = JSON.stringify(messages[0]?.value ?? "").slice(0, 1_000);
  if (!text.includes(continued)) return undefined;
  // The store lists the newest first.
  return group.lines.at(-1)?.id ?? group.unread[0]?.id;
}
