/** Server-sent events, as they come in chunks of bytes. */
import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";

/** One event of a stream. */
export interface StreamEvent {
  /** The event's name; "" where it has none. */
  readonly name: string;
  readonly data: string;
}

/** Most characters of one event; a longer one is an error without data. */
const mostData = 32 * 1024 * 1024;

/**
 * Reads server-sent events: lines end with LF, CR LF or CR, a chunk may end anywhere, also within a character. Comments,
 * ids and events without data are left out.
 */
export class EventStream {
  readonly #decoder = new StringDecoder("utf8");
  readonly #parser = createParser({
    maxBufferSize: mostData,
    onEvent: ({ event: name = "", data }) => this.#events.push({ name, data }),
    onError: ({ type }) => {
      if (type !== "max-buffer-size-exceeded") return;
      this.#parser.reset();
      this.#events.push({ name: "error", data: "" });
    },
  });
  #events: StreamEvent[] = [];
  #isFirst = true;

  /** The events that are whole with these bytes. */
  push(chunk: Buffer): readonly StreamEvent[] {
    return this.#read(this.#decoder.write(chunk));
  }

  /** The event at the end of a stream that broke off behind its last line; events before it were given already. */
  end(): readonly StreamEvent[] {
    return this.#read(`${this.#decoder.end()}\n\n`);
  }

  #read(text: string): readonly StreamEvent[] {
    this.#parser.feed(this.#isFirst ? text.replace(/^\uFEFF/, "") : text);
    this.#isFirst &&= text === "";
    const found = this.#events;
    this.#events = [];
    return found;
  }
}
