/**
 * Lines whose models recall by themselves (`--recall loop`). They stand before other lines, which see each request as the
 * model does: with the tool, with every hidden round, and each further round as a request of its own.
 */
import { hash } from "node:crypto";
import type { Lines, Sending, WireRequest } from "../gateway.ts";
import { anthropicRecall } from "./anthropic.ts";
import { chatRecall } from "./chat.ts";
import type { KnownTurns, TurnStore } from "./known-turns.ts";
import { machineClock, recallLimits, within } from "./limits.ts";
import type { LoopClock, RecallLimits } from "./limits.ts";
import { RecallLoop } from "./loop.ts";
import { responsesRecall } from "./responses.ts";
import { restored } from "./restore.ts";
import type { RecallShape } from "./shape.ts";
import { mayBegin, withTool } from "./tool.ts";

/** The settings of recalling lines. */
export interface RecallingOptions {
  /** Keeps the hidden rounds. */
  readonly turns: TurnStore;
  /**
   * Whether new lines begin with the tool. A request's header `x-windrow-recall: loop` or `off` goes before it; a line that
   * began goes on in either case.
   */
  readonly begins: boolean;
  /** Other limits than the defaults. */
  readonly limits?: Partial<RecallLimits>;
  /** Default: the machine's. */
  readonly clock?: LoopClock;
}

const shapes: Readonly<Record<string, RecallShape | undefined>> = {
  "anthropic-messages": anthropicRecall,
  "openai-chat": chatRecall,
  "openai-responses": responsesRecall,
};

/** Puts the recall loop before lines. Whatever goes wrong in it, the request goes to them as it came. */
export function recallingLines(inner: Lines, options: RecallingOptions): Lines {
  const { turns, begins, clock = machineClock } = options;
  const limits = { ...recallLimits, ...options.limits };
  return {
    async send(request, tenant) {
      const shape = shapes[request.api.name];
      if (!shape) return inner.send(request, tenant);
      const known = await within(limits.readMs, clock, turns.of(tenant, request.claims.session));
      const asked = { request, shape, isAsked: isAsked(request, begins) };
      const ready = known && (await prepared(asked, known, (work) => settled(work, limits.keepMs, clock)));
      if (!ready) return inner.send(request, tenant);
      const sending = await inner.send(ready.request, tenant);
      return looped(sending, new RecallLoop({ ...ready, sending, lines: inner, tenant, shape, limits, clock }));
    },
    async close() {
      await Promise.all([inner.close(), turns.close()]);
    },
  };
}

function isAsked({ call }: WireRequest, begins: boolean): boolean {
  const header = call.headers["x-windrow-recall"];
  if (header === "loop") return true;
  return begins && header !== "off" && header !== "mcp";
}

/** A request on its way into the loop. */
interface Asked {
  readonly request: WireRequest;
  readonly shape: RecallShape;
  readonly isAsked: boolean;
}

/** A request as the model gets it. */
interface Ready {
  readonly request: WireRequest;
  readonly turns: KnownTurns;
  readonly place: string;
  readonly isLost: boolean;
}

/**
 * The request with the tool and hidden rounds; undefined for one that is no affair of the loop.
 *
 * @param hasFailed - waits for work; whether it failed meanwhile. Slow work goes on.
 */
async function prepared(
  { request, shape, isAsked: asked }: Asked,
  turns: KnownTurns,
  hasFailed: (work: Promise<void>) => Promise<boolean>,
): Promise<Ready | undefined> {
  const { api, call, tools } = request;
  if ((tools.length === 0 && shape.needsTools) || (turns.isEmpty && !asked)) return undefined;
  const { messages, isFound, isLost, place } = restored(request, shape, turns);
  const [first] = shape.turns(request.messages);
  const opening = openingOf(request, first?.from);
  const isBegun = isFound || turns.hasBegun(opening);
  if (!isBegun && (!asked || first || !mayBegin(request, shape))) return undefined;
  const body = isFound ? api.write(request, messages) : call.body;
  const whole = tools.length === 0 ? body : withTool(body, shape);
  const read = whole && api.read({ ...call, body: whole });
  if (!read) return undefined;
  if (!isBegun && (await hasFailed(turns.begin(opening)))) {
    turns.unbegin(opening);
    return undefined;
  }
  return { request: read, turns, place, isLost };
}

/** Whether work failed within some time. */
async function settled(work: Promise<void>, milliseconds: number, clock: LoopClock): Promise<boolean> {
  const failure = work.then(
    () => false,
    () => true,
  );
  return (await within(milliseconds, clock, failure)) ?? false;
}

/** The hash of the messages before the first turn of the model's, and of the agent that sends them. */
function openingOf({ api, claims, messages }: WireRequest, end = messages.length): string {
  const hashes = messages.slice(0, end).map((message) => message.hash);
  return hash("sha256", JSON.stringify([api.name, claims.agent ?? null, ...hashes]), "hex");
}

function looped(sending: Sending, loop: RecallLoop): Sending {
  return {
    ...{ body: sending.body, loop },
    get headers() {
      return sending.headers ?? {};
    },
    // The line may get its name while the request is under way.
    get note() {
      return `${sending.note}; recall=loop`;
    },
    again: (status, text) => sending.again(status, text),
    keep: (answer) => sending.keep(answer),
  };
}
