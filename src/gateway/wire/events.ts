/** Server-sent events, as they come in chunks of bytes. */
import { StringDecoder } from "node:string_decoder";
import { textPieces } from "./pieces.ts";

/** One event of a stream. */
export interface StreamEvent {
  /** The event's name; "" where it has none. */
  readonly name: string;
  readonly data: string;
}

/** Most characters of one event; a longer one is left out. */
const mostData = 32 * 1024 * 1024;

/**
 * Reads server-sent events: lines end with LF, CR LF or CR, a chunk may end anywhere, also within a character. Comments,
 * ids and events without data are left out.
 */
export class EventStream {
  readonly #decoder = new StringDecoder("utf8");
  readonly #line = textPieces();
  #name = "";
  #data: string[] = [];
  #size = 0;
  #isFirst = true;
  #afterReturn = false;

  /** The events that are whole with these bytes. */
  push(chunk: Buffer): readonly StreamEvent[] {
    return this.#read(this.#decoder.write(chunk));
  }

  /** The event at the end of a stream that broke off behind its last line; events before it were given already. */
  end(): readonly StreamEvent[] {
    return this.#read(`${this.#decoder.end()}\n\n`);
  }

  #read(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    let start = 0;
    if (this.#afterReturn && text !== "") {
      if (text.startsWith("\n")) start = 1;
      this.#afterReturn = false;
    }
    let feed = text.indexOf("\n", start);
    let turn = text.indexOf("\r", start);
    for (let end = nearest(feed, turn); end !== -1; end = nearest(feed, turn)) {
      this.#take(text.slice(start, end));
      const event = this.#closed();
      if (event) events.push(event);
      const isReturn = text[end] === "\r";
      start = end + (isReturn && text[end + 1] === "\n" ? 2 : 1);
      this.#afterReturn = isReturn && end + 1 === text.length;
      if (feed !== -1 && feed < start) feed = text.indexOf("\n", start);
      if (turn !== -1 && turn < start) turn = text.indexOf("\r", start);
    }
    if (start < text.length) this.#take(text.slice(start));
    return events;
  }

  #take(piece: string): void {
    this.#size += piece.length;
    if (this.#size > mostData) {
      this.#line.take();
      this.#data = [];
    } else if (piece !== "") this.#line.add(piece);
  }

  /** Reads the line that has ended; an empty one ends the event. */
  #closed(): StreamEvent | undefined {
    let line = this.#line.take();
    if (this.#isFirst && line.startsWith("\uFEFF")) line = line.slice(1);
    this.#isFirst = false;
    if (line !== "") {
      this.#field(line);
      return undefined;
    }
    const event = { name: this.#name, data: this.#data.join("\n") };
    const isWhole = this.#data.length > 0 && this.#size <= mostData;
    this.#name = "";
    this.#data = [];
    this.#size = 0;
    return isWhole ? event : undefined;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const start = colon === -1 ? line.length : colon + (line[colon + 1] === " " ? 2 : 1);
    if (field === "data") this.#data.push(line.slice(start));
    else if (field === "event") this.#name = line.slice(start);
  }
}

/** The smaller of two places; -1 is none. */
function nearest(one: number, other: number): number {
  return one === -1 || other === -1 ? Math.max(one, other) : Math.min(one, other);
}
