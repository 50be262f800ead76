/** Readers of answers, whatever chunks they come in: a stream of events, or JSON values, one or several. */
import { asObject, parseJson } from "../../message/json.ts";
import type { Answer, AnswerBuilder } from "../../shape/shape.ts";
import type { AnswerReader } from "../gateway.ts";
import { EventStream } from "./events.ts";
import { JsonValues } from "./json-values.ts";

const byteOrderMark = Buffer.from("\uFEFF");

/** Most bytes of an answer that are read; behind them it stays incomplete. */
const mostBytes = 64 * 1024 * 1024;

/** A reader that hands what comes to a builder. It never throws. */
export function readAnswer(builder: AnswerBuilder): AnswerReader {
  return new Reader(builder);
}

class Reader implements AnswerReader {
  readonly #builder: AnswerBuilder;
  /** The form of the answer by its first bytes: servers say `json` of a stream and `event-stream` of an error. */
  #form: "events" | "values" | undefined;
  readonly #events = new EventStream();
  readonly #values = new JsonValues();
  #bytes = 0;
  #isOver = false;

  constructor(builder: AnswerBuilder) {
    this.#builder = builder;
  }

  push(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > mostBytes) {
      this.#values.forget();
      this.#isOver = true;
    } else this.#guarded(() => this.#read(chunk));
    return !this.#isOver && this.#builder.isEnded;
  }

  end(): Answer {
    if (!this.#isOver && this.#form === "events") this.#guarded(() => this.#take(this.#events.end()));
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
    if (this.#form !== "values") return;
    for (const bytes of this.#values.push(chunk)) {
      const value = parseJson(bytes.toString());
      if (value !== undefined && !this.#builder.isEnded) this.#builder.body(value);
    }
  }

  #take(events: ReturnType<EventStream["push"]>): void {
    for (const { data, name } of events) {
      if (this.#isOver || this.#builder.isEnded) return;
      const event = asObject(parseJson(data));
      if (event) this.#builder.event(event, name);
      else if (data.trim() === "[DONE]") this.#builder.done?.();
      // An answer that lacks a piece is not whole, whatever follows.
      else if (data.trim() !== "" || name === "error") this.#isOver = true;
    }
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

/** An answer is a stream of events, unless it begins as JSON does, behind a mark of the order of bytes too. */
function sniffed(chunk: Buffer): "events" | "values" | undefined {
  const first = chunk.find((byte) => byte > 0x20 && !byteOrderMark.includes(byte));
  if (first === undefined) return undefined;
  return first === 0x7b || first === 0x5b ? "values" : "events";
}
