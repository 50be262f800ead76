/** Which session an agent's thread is journalled into, and the fork of a thread that went back to an earlier checkpoint. */
import type { Message } from "../../message/message.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import { keptOf } from "../../shape/host-fields.ts";
import { langchain } from "./message.ts";
import type { LangChainMessage } from "./message.ts";

/** The sessions of a manager's threads. */
export class ThreadSessions {
  /** The newest fork that a thread went on in, by the session it left: its state may not tell yet. */
  readonly #forks = new Map<string, string>();

  /**
   * The session of a thread, or the fork of it that the thread's messages go on in.
   *
   * @param given - the id that the thread's state has
   * @param compare - whether the thread may have gone back since its session was opened
   */
  async session(
    manager: SessionManager,
    given: string,
    messages: readonly LangChainMessage[],
    compare: (session: Session) => boolean,
  ): Promise<Session> {
    const session = await manager.session(given);
    const shared = compare(session) ? await sharedLength(session, messages) : undefined;
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
