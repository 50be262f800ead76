/** Conversations of every shape: their messages read one by one, and the very object of one that nothing changed. */
import { asName } from "../message/json.ts";
import type { JsonObject, Message, NewMessage } from "../message/message.ts";
import { CallPairing, UniqueIds } from "../message/parts.ts";
import { hostMessage, hostMessages, hostOr, Originals } from "./host-fields.ts";

/** A reader of one shape's messages. */
export interface Reader {
  /** The function that is called, for errors. */
  readonly owner: string;
  /** What a message is, for errors: "a chat message". */
  readonly what: string;
  /** Whether a message has the id that its host gave it. */
  readonly isNamed?: boolean;
  /** Pairs results with calls. Default: a {@link CallPairing}. */
  calls?(): CallPairing;
  /** @throws WindrowError `bad-message` */
  read(host: JsonObject, index: number, calls: CallPairing): NewMessage;
}

/** The messages of a host, and the objects that they came from. */
export class Conversations {
  readonly #originals = new Originals();
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /**
   * A host's messages as Windrow's, one for each.
   *
   * @throws WindrowError `bad-message`, with the `index` of a value that is no message of the shape
   */
  read(messages: readonly object[]): readonly Message[] {
    const { owner, what, isNamed = false } = this.#reader;
    const calls = this.#reader.calls?.() ?? new CallPairing();
    const ids = new UniqueIds();
    return hostMessages(messages, owner).map((value, index) => {
      const host = hostMessage(value, index, what);
      const wanted = isNamed ? (asName(host["id"]) ?? `m${index + 1}`) : undefined;
      const message = this.#reader.read(host, index, calls);
      return this.#originals.note({ id: ids.take(wanted), ...message }, value);
    });
  }

  /** The host's object of a message; undefined for one of another origin. */
  original(message: Message): object | undefined {
    return this.#originals.of(message);
  }

  /** The host's object if it says what was built of its message; otherwise that. */
  written(message: Message, built: object): object {
    return hostOr(this.original(message), built);
  }
}

/** A history's system messages at its beginning, and all others. @param isLead - default: by the role */
export function leading(
  messages: readonly Message[],
  isLead: (message: Message) => boolean = ({ role }) => role === "system",
): { readonly lead: readonly Message[]; readonly rest: readonly Message[] } {
  const first = messages.findIndex((message) => !isLead(message));
  const length = first === -1 ? messages.length : first;
  return { lead: messages.slice(0, length), rest: messages.slice(length) };
}
