/** Readers of answers, whatever chunks they come in: a stream of events, lines of JSON, or one body. */
import type { IncomingHttpHeaders } from "node:http";
import { asObject, parseJson } from "../../message/json.ts";
import type { Answer, AnswerBuilder } from "../../shape/shape.ts";
import type { AnswerReader } from "../gateway.ts";
import { EventStream } from "./events.ts";
import { JsonEnd } from "./json-end.ts";
import { Pieces } from "./pieces.ts";

/** Most bytes of an answer that are read; behind them it stays incomplete. */
const mostBytes = 64 * 1024 * 1024;

/** The forms in which an answer comes. */
type Form = "events" | "lines" | "body";

/** A reader that hands what comes to a builder. It never throws. */
export function readAnswer(headers: IncomingHttpHeaders, builder: AnswerBuilder): AnswerReader {
  return new Reader(formOf(headers["content-type"]), builder);
}

/** The form by the type; servers say `json` of a stream and `event-stream` of an error, so that the bytes tell these. */
function formOf(contentType: string | undefined): Form | undefined {
  return /ndjson|jsonl/i.test(contentType ?? "") ? "lines" : undefined;
}

class Reader implements AnswerReader {
  readonly #builder: AnswerBuilder;
  #form: Form | undefined;
  #events = new EventStream();
  readonly #chunks = new Pieces();
  readonly #jsonEnd = new JsonEnd();
  #bytes = 0;
  #isOver = false;

  constructor(form: Form | undefined, builder: AnswerBuilder) {
    this.#form = form;
    this.#builder = builder;
  }

  push(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > mostBytes) {
      this.#chunks.take();
      this.#isOver = true;
    } else this.#guarded(() => this.#read(chunk));
    return !this.#isOver && this.#builder.isComplete;
  }

  end(): Answer {
    if (!this.#isOver) {
      this.#guarded(() => {
        if (this.#form === "events") this.#take(this.#events.end());
        else if (this.#form === "lines") this.#line(this.#chunks.take());
      });
    }
    try {
      const answer = this.#builder.answer();
      return this.#isOver ? { ...answer, isComplete: false } : answer;
    } catch {
      return { isComplete: false };
    }
  }

  #read(chunk: Buffer): void {
    this.#form ??= sniffed(chunk);
    if (this.#form === "events") this.#take(this.#events.push(chunk));
    else if (this.#form === "lines") this.#lines(chunk);
    else if (this.#form === "body") {
      this.#chunks.add(chunk);
      if (!this.#jsonEnd.push(chunk)) return;
      const value = parseJson(this.#chunks.take().toString());
      if (value !== undefined) this.#builder.body(value);
    }
  }

  #take(events: ReturnType<EventStream["push"]>): void {
    for (const { data, name } of events) {
      if (data.trim() === "[DONE]") this.#builder.done?.();
      else {
        const event = asObject(parseJson(data));
        if (event) this.#builder.event(event, name);
      }
    }
  }

  #lines(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#chunks.add(chunk.subarray(start, end));
      this.#line(this.#chunks.take());
      start = end + 1;
    }
    if (start < chunk.length) this.#chunks.add(chunk.subarray(start));
  }

  #line(bytes: Buffer): void {
    const event = asObject(parseJson(bytes.toString()));
    if (event) this.#builder.event(event, "");
  }

  #guarded(read: () => void): void {
    try {
      read();
    } catch {
      // A copy that cannot be read must not end the answer; it stays incomplete.
      this.#isOver = true;
    }
  }
}

/** An answer is a stream of events, unless it begins as JSON does. */
function sniffed(chunk: Buffer): Form | undefined {
  const first = chunk.find((byte) => byte > 0x20);
  if (first === undefined) return undefined;
  return first === 0x7b || first === 0x5b ? "body" : "events";
}
