/** The conversations of a host whose threads have a session each, or that has one session or none. */
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import { HostConversation } from "./conversation.ts";
import type { ConversationHost, WindowOptions } from "./conversation.ts";

/** How a host of threads makes windows, and where it journals. */
export interface ThreadOptions extends WindowOptions {
  /** Journals one conversation into this session. Its manager then sets strategy, profile and counter. */
  readonly session?: Session;
  /** Journals every thread into a session of its own. Not with `session`. */
  readonly manager?: SessionManager;
}

/** One conversation for each session that is opened. */
export class HostConversations<Host extends object> {
  readonly #open: (session?: Session) => HostConversation<Host>;
  readonly #manager: SessionManager | undefined;
  /** For one session, or for none. */
  readonly #only: HostConversation<Host>;
  readonly #bySession = new WeakMap<Session, HostConversation<Host>>();

  constructor(host: ConversationHost<Host>, options: ThreadOptions) {
    const shared = { secretRules: options.manager?.secretRules };
    // Without a session, every thread comes through one conversation.
    this.#open = (session) => new HostConversation({ ...host, isShared: !session }, { ...options, session }, shared);
    this.#only = this.#open(options.session);
    this.#manager = options.session ? undefined : options.manager;
  }

  /**
   * The conversation of a thread's session; the one without a session where none can be opened, or none is to be.
   *
   * @param open - opens the thread's session, or has none for it
   */
  async of(open: (manager: SessionManager) => Promise<Session | undefined>): Promise<HostConversation<Host>> {
    if (!this.#manager) return this.#only;
    try {
      const session = await open(this.#manager);
      if (!session) return this.#only;
      const conversation = this.#bySession.get(session) ?? this.#open(session);
      this.#bySession.set(session, conversation);
      return conversation;
    } catch (error) {
      this.#only.teller.failed(error);
      return this.#only;
    }
  }

  /** The id of a conversation's session, where a manager opens the sessions. */
  idOf(conversation: HostConversation<Host>): string | undefined {
    return this.#manager && conversation.session?.id;
  }

  /** Whether a conversation of this session was begun here. */
  has(session: Session): boolean {
    return this.#bySession.has(session);
  }
}
