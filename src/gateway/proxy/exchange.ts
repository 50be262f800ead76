/** One exchange: a client's request, the upstream's answer, and the conversation that is kept of both. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AnswerReader, SentAnswer, WireApi } from "../gateway.ts";
import { Attempt } from "./attempt.ts";
import type { Head, Receiver } from "./attempt.ts";
import { hasBody, passingBody, wholeBody } from "./body.ts";
import type { Pace, PassingBody } from "./body.ts";
import { AnswerCopy } from "./copy.ts";
import { decoded } from "./encoding.ts";
import type { Course } from "./events.ts";
import { causeOf, faultOf } from "./faults.ts";
import { HeldError } from "./held-error.ts";
import type { HoldLimits } from "./held-error.ts";
import { outwardHeaders } from "./headers.ts";
import type { RawHeaders } from "./headers.ts";
import { Passage } from "./passage.ts";
import { apiFor, planOf, within } from "./plan.ts";
import type { Plan, Planning } from "./plan.ts";
import { sendRefusal } from "./refusal.ts";
import type { Route } from "./routes.ts";
import type { Upstream } from "./upstreams.ts";

/** Limits of an exchange. */
export interface ExchangeLimits extends Pace, HoldLimits {
  /** Bytes of a body that is read; a larger one passes unread. */
  readonly bodyBytes: number;
  /** Milliseconds that the last bytes of an answer wait for its being kept. */
  readonly keepMs: number;
}

/** A request that has its upstream. */
export interface ExchangeCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly upstream: Upstream;
  readonly course: Course;
}

/** Passes a request and its answer. It settles when both are under way, and never rejects. */
export async function exchange(call: ExchangeCall, planning: Planning, limits: ExchangeLimits): Promise<void> {
  const { request, route } = call;
  const { method = "GET" } = request;
  const api = apiFor(planning, method, route.path, request.headers);
  const one = new Exchange(call, limits, api);
  if (!hasBody(request)) return one.send(null, "passed");
  const read = api ? await wholeBody(request, limits.bodyBytes, limits) : "rest";
  if (read === "gone") return;
  if (read === "slow") return one.refuse(408, "The request's body did not come in time.");
  if (read === "rest") return one.send(passingBody(request, limits), api ? "bypassed; reason=size" : "passed");
  if (!api) return;
  const { session } = route;
  const whole = { method, path: route.path, headers: request.headers, body: read };
  one.sendPlan(await planOf(planning, api, { ...whole, ...(session !== undefined && { session }) }));
}

class Exchange implements Receiver {
  readonly #call: ExchangeCall;
  readonly #limits: ExchangeLimits;
  readonly #api: WireApi | undefined;
  #plan: Plan | undefined;
  #passing: PassingBody | undefined;
  #attempt: Attempt | undefined;
  #passage: Passage | undefined;
  #copy: AnswerCopy | undefined;
  #note = "passed";
  /** An error's answer, held while another body may be tried. */
  #error: HeldError | undefined;
  /** The whole answer of the first attempt, once another body is tried. */
  #first: HeldError | undefined;
  #isRefusedAgain = false;
  #isKept = false;
  #isOver = false;

  constructor(call: ExchangeCall, limits: ExchangeLimits, api: WireApi | undefined) {
    this.#call = call;
    this.#limits = limits;
    this.#api = api;
    call.response.once("finish", () => this.#onFinish()).once("close", () => this.#onClose());
  }

  /** Sends a body unread, or none. */
  send(body: PassingBody | null, note: string): void {
    this.#note = note;
    this.#passing = body ?? undefined;
    body?.stream.on("data", (chunk: Buffer) => (this.#call.course.bytesOut += chunk.length));
    body?.stream.pause();
    this.#dispatch(body?.stream ?? null, false);
  }

  /** Sends a conversation's request. */
  sendPlan(plan: Plan): void {
    this.#plan = plan;
    this.#note = plan.note;
    if (this.#call.response.destroyed) return void this.#keep();
    this.#dispatch(plan.body, plan.isChanged);
  }

  /** Answers in the upstream's place. */
  refuse(status: number, message: string): void {
    const { response, route, course } = this.#call;
    this.#isOver = true;
    const note = status === 502 ? "failed" : "refused";
    const fault = this.#faultOf(status, message) ?? faultOf(route.family, status, message);
    sendRefusal({ response, course, status, note, fault });
    this.#note = note;
    void this.#keep();
  }

  head(head: Head): void {
    if (this.#first && HeldError.isFirstTold(head, this.#first.head)) {
      this.#attempt?.abort();
      this.#isRefusedAgain = HeldError.isRefusedAgain(head, this.#first.head);
      return this.#passFirst(this.#first);
    }
    this.#call.course.head(head);
    const { read } = this.#plan ?? {};
    if (read && HeldError.holds(head) && !this.#first)
      this.#error = new HeldError(head, this.#limits, (error) => this.#passError(error));
    else this.#begin(head);
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#call.course.bytesIn += chunk.length;
    if (this.#error) this.#error.push(chunk);
    else this.#passage?.data(chunk);
  }

  end(trailers: RawHeaders): void {
    if (this.#error) this.#endError(this.#error, trailers).catch(() => this.#call.response.destroy());
    else this.#finish(trailers);
  }

  fail(error: Error): void {
    if (this.#first && !this.#passage) return this.#passFirst(this.#first);
    const { course, upstream } = this.#call;
    const cause = causeOf(error);
    course.cause = cause;
    course.outcome = "failed";
    this.#isOver = true;
    // An error that broke off passes as far as it came.
    if (this.#error) this.#passError(this.#error);
    if (this.#passage) this.#passage.cut();
    else if (this.#passing?.isSlow()) this.refuse(408, "The request's body did not come in time.");
    else this.refuse(502, `The gateway got no answer of ${upstream.name} at ${upstream.host}: ${cause}.`);
  }

  #dispatch(body: Buffer | PassingBody["stream"] | null, isChanged: boolean): void {
    const added = this.#plan?.read?.sending.headers;
    const { request, response, route, upstream, course } = this.#call;
    if (response.destroyed) return void this.#keep();
    const isWhole = Buffer.isBuffer(body);
    if (isWhole) course.bytesOut += body.length;
    const headers = outwardHeaders(request.rawHeaders, { isWhole, isChanged, ...(added && { added }) });
    const call = { method: request.method ?? "GET", path: route.path, headers, body };
    this.#attempt = Attempt.send(upstream, call, this);
  }

  #begin(head: Head): void {
    const { response, course } = this.#call;
    const { read } = this.#plan ?? {};
    const reader = read && this.#reader();
    const coding = head.headers["content-encoding"];
    if (reader) this.#copy = new AnswerCopy(reader, typeof coding === "string" ? coding : undefined);
    this.#note = read?.sending.note ?? this.#note;
    course.note = this.#note;
    const passage = new Passage({
      response,
      pause: () => this.#attempt?.pause(),
      resume: () => this.#attempt?.resume(),
      keep: () => this.#keep(),
      ...(this.#copy && { copy: this.#copy }),
    });
    // A head that cannot be written, such as one with a broken status line, is answered with an error instead.
    passage.begin(head, this.#note);
    this.#passage = passage;
  }

  #finish(trailers: RawHeaders): void {
    this.#isOver = true;
    if (!this.#copy) void this.#keep();
    this.#passage?.end(trailers);
  }

  #passFirst(first: HeldError): void {
    this.#call.course.head(first.head);
    this.#passError(first);
    this.#finish([]);
  }

  #passError(error: HeldError): void {
    error.settle();
    this.#error = undefined;
    try {
      this.#begin(error.head);
    } catch {
      return void this.#call.response.destroy();
    }
    for (const chunk of error.chunks) this.#passage?.data(chunk);
  }

  async #endError(error: HeldError, trailers: RawHeaders): Promise<void> {
    const { head, chunks } = error;
    error.settle();
    const coding = head.headers["content-encoding"];
    const body = await decoded(Buffer.concat(chunks), typeof coding === "string" ? coding : undefined);
    const sending = this.#plan?.read?.sending;
    const text = body?.toString();
    const ask = async (): Promise<Buffer | undefined> => sending?.again(head.status, text ?? "");
    const other = text === undefined ? undefined : await within(ask);
    if (this.#call.response.destroyed) return;
    this.#error = undefined;
    this.#first = error;
    if (other) return this.#dispatch(other, true);
    this.#passError(error);
    this.#finish(trailers);
  }

  #onFinish(): void {
    const { response, course } = this.#call;
    course.status = response.statusCode;
    if (this.#passage) course.outcome = "answered";
  }

  #onClose(): void {
    if (this.#call.response.writableFinished) return;
    this.#error?.settle();
    this.#attempt?.abort();
    this.#passing?.stream.destroy();
    void this.#keep();
  }

  /** Keeps the answer as far as it came; settles when it is kept, or when that takes too long. */
  async #keep(): Promise<void> {
    const { read } = this.#plan ?? {};
    if (!read || this.#isKept) return;
    this.#isKept = true;
    const { course, response } = this.#call;
    const { status, requestId } = course;
    const totalMs = course.totalMs();
    const answer: SentAnswer = {
      status: course.firstByteMs === undefined ? 0 : status,
      answer: this.#copy?.end() ?? { isComplete: false },
      isAborted: response.destroyed && !this.#isOver,
      isRefusedAgain: this.#isRefusedAgain,
      firstByteMs: course.firstByteMs ?? totalMs,
      totalMs,
      ...(requestId !== undefined && { requestId }),
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.#limits.keepMs)));
    const kept = Promise.resolve().then(() => read.sending.keep(answer));
    await Promise.race([kept.catch(() => undefined), late]);
    clearTimeout(timer);
  }

  #reader(): AnswerReader | undefined {
    const request = this.#plan?.read?.request;
    try {
      return request && this.#api?.reader(request);
    } catch {
      return undefined;
    }
  }

  #faultOf(status: number, message: string): { readonly contentType: string; readonly body: string } | undefined {
    try {
      return this.#plan?.read && this.#api?.fault(status, message);
    } catch {
      return undefined;
    }
  }
}
