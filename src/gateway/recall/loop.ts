/** The rounds of one answer: what the model recalls is looked up, and it goes on within the same answer. */
import type { IncomingHttpHeaders } from "node:http";
import { recallTool } from "../../adapter/host/recall-tool.ts";
import { asObject, parseJson } from "../../message/json.ts";
import type { JsonObject } from "../../message/message.ts";
import type { AnswerLoop, AnswerReader, EndedRound, Lines, LoopStep, Sending, WireRequest } from "../gateway.ts";
import { EventStream } from "../wire/events.ts";
import type { KnownTurns } from "./known-turns.ts";
import { within } from "./limits.ts";
import type { LoopClock, RecallLimits } from "./limits.ts";
import { placeTrace } from "./said.ts";
import { toolName } from "./shape.ts";
import type { MergedStream, RecallCall, RecallResult, RecallShape } from "./shape.ts";

/** The parts of a loop. */
export interface LoopParts {
  /** The request as the model gets it. */
  readonly request: WireRequest;
  readonly sending: Sending;
  readonly lines: Lines;
  readonly tenant: string;
  readonly shape: RecallShape;
  readonly turns: KnownTurns;
  /** The place of the answer among the client's messages. */
  readonly place: string;
  /** Whether the request lacks hidden rounds that it had. */
  readonly isLost: boolean;
  readonly limits: RecallLimits;
  readonly clock: LoopClock;
}

const nothing = Buffer.alloc(0);

/** Answers `windrow_recall` within an answer. */
export class RecallLoop implements AnswerLoop {
  readonly silenceMs: number;
  readonly ping: Buffer;
  readonly after: AnswerLoop["after"];
  readonly #parts: LoopParts;
  readonly #merged: MergedStream;
  #request: WireRequest;
  #sending: Sending;
  #reader: AnswerReader | undefined;
  #events = new EventStream();
  #chunks: Buffer[] = [];
  readonly #bodies: JsonObject[] = [];
  /** All messages of the answer so far, with the results in between. */
  readonly #truth: JsonObject[] = [];
  #rounds = 0;
  #recalledBytes = 0;
  #began: number | undefined;

  constructor(parts: LoopParts) {
    const { request, sending, shape, limits, clock } = parts;
    this.#parts = parts;
    this.#request = request;
    this.#sending = sending;
    this.#merged = shape.stream();
    this.silenceMs = limits.silenceMs;
    this.ping = request.isStream ? Buffer.from(shape.ping) : nothing;
    this.after = (milliseconds, run) => clock.after(milliseconds, run);
  }

  begin(status: number, headers: IncomingHttpHeaders): boolean {
    const { isStream, api } = this.#request;
    const type = headers["content-type"] ?? "";
    if (status !== 200 || !(isStream ? /event-stream/i : /json/i).test(type)) return false;
    this.#reader = api.reader(status, headers, this.#request);
    this.#events = new EventStream();
    this.#chunks = [];
    if (this.#rounds > 0) this.#merged.next();
    return true;
  }

  push(chunk: Buffer): Buffer {
    this.#reader?.push(chunk);
    if (this.#request.isStream) return this.#text(this.#events.push(chunk));
    this.#chunks.push(chunk);
    return nothing;
  }

  async end(round: EndedRound): Promise<LoopStep> {
    try {
      return await this.#end(round);
    } catch {
      return this.#failed(500, "The recall of this answer failed.");
    }
  }

  async again(status: number, body: string): Promise<Buffer | undefined> {
    try {
      return await this.#sending.again(status, body);
    } catch {
      return undefined;
    }
  }

  fault(status: number, message: string): Buffer {
    const { isStream, api } = this.#request;
    return Buffer.from(isStream ? this.#merged.fault(message) : api.fault(status, message).body);
  }

  async #end({ isBroken, ...round }: EndedRound): Promise<LoopStep> {
    const { shape, limits, clock } = this.#parts;
    const { isStream } = this.#request;
    // An event in which the connection broke off is none.
    const rest = isStream && !isBroken ? this.#text(this.#events.end()) : nothing;
    const answer = this.#reader?.end() ?? { isComplete: false };
    await within(limits.keepMs, clock, this.#sending.keep({ ...round, answer }));
    const isWhole = answer.isComplete && !isBroken && !round.isAborted && answer.error === undefined;
    if (!isWhole) return this.#broken(rest, answer.error !== undefined);
    const given = [...(answer.message ? [answer.message] : []), ...(answer.others ?? [])];
    const { messages, recalls, hasOthers } = shape.answered(given, answer.stop);
    this.#truth.push(...messages);
    const body = isStream ? undefined : asObject(parseJson(Buffer.concat(this.#chunks).toString()));
    if (body) this.#bodies.push(body);
    this.#began ??= clock.now();
    const behind = recalls.length === 0 ? [] : shape.results(await this.#recalled(recalls));
    if (behind.length > 0 && !hasOthers && this.#rounds <= limits.rounds) {
      const next = await this.#next([...messages, ...behind]);
      if (next) {
        this.#truth.push(...behind);
        return { bytes: rest, next };
      }
    }
    await within(limits.keepMs, clock, this.#keep(behind));
    const isHidden = this.#rounds > 0 || behind.length > 0;
    const end = isStream ? this.#merged.finish(hasOthers) : this.#whole(isHidden, hasOthers);
    return { bytes: Buffer.concat([rest, Buffer.from(end)]) };
  }

  /** The rest of an answer that did not come to its end: none is invented. */
  #broken(rest: Buffer, isTold: boolean): LoopStep {
    if (this.#rounds > 0 && this.#reader && !isTold)
      return this.#failed(502, "The answer broke off behind a recall.", rest);
    return { bytes: Buffer.concat([rest, ...(this.#request.isStream ? [] : this.#chunks)]) };
  }

  #failed(faultStatus: number, message: string, rest: Buffer = nothing): LoopStep {
    return { bytes: Buffer.concat([rest, this.fault(faultStatus, message)]), faultStatus };
  }

  /** Sends what was recalled: the next request is one of the line's like any other. */
  async #next(messages: readonly JsonObject[]): Promise<LoopStep["next"]> {
    const { lines, tenant } = this.#parts;
    const { api, call } = this.#request;
    const list = [...this.#request.messages, ...messages.map((made) => ({ made }))];
    const request = api.read({ ...call, body: api.write(this.#request, list) });
    if (!request) return undefined;
    this.#rounds++;
    this.#reader = undefined;
    this.#request = request;
    this.#sending = await lines.send(request, tenant);
    const { body, headers } = this.#sending;
    return { body, ...(headers && { headers }) };
  }

  async #recalled(calls: readonly RecallCall[]): Promise<readonly RecallResult[]> {
    const results: RecallResult[] = [];
    for (const call of calls) results.push(await this.#recall(call));
    return results;
  }

  async #recall({ id, args }: RecallCall): Promise<RecallResult> {
    const { limits, clock } = this.#parts;
    const left = (this.#began ?? 0) + limits.totalMs - clock.now();
    const isOver = this.#rounds >= limits.rounds || left <= 0 || this.#recalledBytes >= limits.bytes;
    if (isOver) return { id, text: limitText, isError: true };
    const sending = this.#sending;
    const tool = recallTool((query) => {
      if (!sending.recall) throw new Error("Nothing can be brought back now.");
      return sending.recall(query);
    });
    const answer = await within(left, clock, tool.answer(args));
    if (!answer) return { id, text: limitText, isError: true };
    const text = cut(answer.text, limits.bytes - this.#recalledBytes);
    this.#recalledBytes += Buffer.byteLength(text);
    return { id, text, isError: answer.isError };
  }

  /** Keeps the turn, so that its hidden rounds are in every later request. */
  async #keep(pending: readonly JsonObject[]): Promise<void> {
    const { shape, turns, place, isLost } = this.#parts;
    const { said, traces } = shape.said(this.#truth);
    const all = [placeTrace(place, said), ...traces];
    const isHidden = this.#rounds > 0 || pending.length > 0;
    await Promise.all([
      isHidden ? turns.keep({ said, traces: all, messages: this.#truth, pending }) : undefined,
      isLost ? turns.keepBehindLost(all) : undefined,
    ]);
  }

  #text(events: ReturnType<EventStream["push"]>): Buffer {
    return Buffer.from(events.map((event) => this.#merged.event(event)).join(""));
  }

  #whole(isHidden: boolean, hasOthers: boolean): string | Buffer {
    const whole = Buffer.concat(this.#chunks);
    // A call that was cut off is hidden too.
    if (!isHidden && !whole.includes(toolName)) return whole;
    return JSON.stringify(this.#parts.shape.merged(this.#bodies, hasOthers));
  }
}

/** A result without a recall. */
const limitText =
  "The limit of recalls within one answer is reached. Go on with what you have, or ask in the next turn.";

/** A text within a number of bytes. */
function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  if (whole.length <= bytes) return text;
  const note = "\n[The limit of what one answer may recall is reached.]";
  return (
    whole
      .subarray(0, Math.max(0, bytes - note.length))
      .toString()
      .replace(/\uFFFD$/, "") + note
  );
}
