/** Which session an agent's thread is journalled into. */
import type { Message } from "../../message/message.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import type { HostConversation } from "../host/conversation.ts";
import { keptOf } from "../../shape/host-fields.ts";
import { langchain } from "./message.ts";
import type { LangChainMessage } from "./message.ts";

interface Thread {
  readonly messages: readonly LangChainMessage[];
  readonly _windrow?: { readonly session?: string };
}

type Conversation = HostConversation<LangChainMessage>;

/** The sessions of an agent's threads. */
export class LangChainSessions {
  readonly #manager: SessionManager | undefined;
  readonly #make: (session?: Session) => Conversation;
  /** For one session, or for none. */
  readonly #only: Conversation;
  readonly #bySession = new WeakMap<Session, Conversation>();
  /** The newest fork that a thread went on in, by the session it left: its state may not tell yet. */
  readonly #forks = new Map<string, string>();

  constructor(
    options: { readonly session?: Session; readonly manager?: SessionManager },
    make: (session?: Session) => Conversation,
  ) {
    this.#manager = options.session ? undefined : options.manager;
    this.#make = make;
    this.#only = make(options.session);
  }

  /**
   * The conversation of a thread; without a session where its session cannot be opened.
   *
   * @param at - a run's `start`, where a new thread gets a session; a `call` of the model, before which the thread may have
   * gone back to an earlier checkpoint; else `between`
   */
  async of(thread: Thread, at: "start" | "call" | "between"): Promise<Conversation> {
    const given = thread._windrow?.session;
    if (!this.#manager || (given === undefined && at !== "start")) return this.#only;
    try {
      const session =
        given === undefined
          ? await this.#manager.create()
          : await this.#session(this.#manager, given, thread.messages, at !== "between");
      const conversation = this.#bySession.get(session) ?? this.#make(session);
      this.#bySession.set(session, conversation);
      return conversation;
    } catch (error) {
      this.#only.teller.failed(error);
      return this.#only;
    }
  }

  /** The id to keep in the thread's state, where sessions are opened here. */
  idOf(conversation: Conversation): string | undefined {
    return this.#manager && conversation.session?.id;
  }

  async #session(
    manager: SessionManager,
    given: string,
    messages: readonly LangChainMessage[],
    compare: boolean,
  ): Promise<Session> {
    const session = await manager.session(given);
    if (this.#bySession.has(session) && !compare) return session;
    const shared = await sharedLength(session, messages);
    if (shared === undefined) return session;
    await session.close();
    const earlier = this.#forks.get(given);
    const fork = earlier === undefined ? undefined : await manager.session(earlier);
    if (fork && (await sharedLength(fork, messages)) === undefined) return fork;
    const fresh = await manager.fork(given, { at: shared });
    this.#forks.set(given, fresh.id);
    return fresh;
  }
}

/** How many messages a log and a thread share, where the log holds others behind them; undefined where it does not. */
async function sharedLength(session: Session, messages: readonly LangChainMessage[]): Promise<number | undefined> {
  const { messages: length } = session.stats();
  for await (const message of session.messages({ from: Math.max(1, length) })) {
    if (hostId(message) === messages[length - 1]?.id && length <= messages.length) return undefined;
  }
  let shared = 0;
  for await (const message of session.messages()) {
    if (shared >= messages.length || hostId(message) !== messages[shared]?.id) break;
    shared++;
  }
  return shared === length ? undefined : shared;
}

function hostId({ extra }: Message): unknown {
  return keptOf(langchain, extra)?.["id"];
}
