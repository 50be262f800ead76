/** Plain messages as instances of LangChain's own classes, which are learnt from the messages that stand beside them. */
import type { LangChainMessage } from "./message.ts";

type MessageClass = new (fields: object) => LangChainMessage;

/** The classes of messages seen so far, by type. */
export class Revived {
  readonly #classes = new Map<string, MessageClass>();

  /**
   * The messages with every plain one made an instance, so that other middleware and models can call its methods. One of
   * a type that no message had so far stays plain: LangChain makes it a message itself.
   *
   * @param seen - messages of the host
   */
  all(messages: readonly LangChainMessage[], seen: readonly LangChainMessage[]): readonly LangChainMessage[] {
    for (const message of seen) {
      const { constructor } = message;
      if (constructor !== Object) this.#classes.set(message.type, constructor as unknown as MessageClass);
    }
    return messages.map((message) => {
      const Class = message.constructor === Object ? this.#classes.get(message.type) : undefined;
      const { type: _type, ...fields } = message;
      return Class ? new Class(fields) : message;
    });
  }
}
