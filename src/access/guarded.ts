/**
 * A store as one principal may use it. A user sees only sessions of their own, an admin all of them, and a tenant's
 * principal only those of the tenant. Each access goes into the audit. A session outside does not exist for the
 * principal.
 */
import { isWindrowError, WindrowError } from "../errors.ts";
import type { Accessed, Audit } from "./audit.ts";
import { copyOfScope, inFrontOf, storeShape } from "../store/shared/shape.ts";
import type { Call, MethodShape } from "../store/shared/shape.ts";
import type { Lock, Scope, Store } from "../store/store.ts";

/** The person or service in whose name a store is used. */
export interface Principal {
  readonly name: string;
  /** `user` (default) sees only sessions of their own; `admin` every user's. */
  readonly role?: "user" | "admin";
  /** Sees nothing of other tenants, whatever the role. Absent: whatever tenant a call names. */
  readonly tenant?: string;
}

/** On whose behalf a store is used, and where that is written down. */
export interface Access {
  /** Absent: whoever may read the files, who may do everything. */
  readonly principal?: Principal;
  /** The name that the audit says, where it is not the principal's. */
  readonly who?: string;
  /** Default: none. */
  readonly audit?: Audit;
}

const guards = new WeakSet<Store>();

/** Whether a store was made by {@link guardedStore}. */
export function isGuarded(store: Store): boolean {
  return guards.has(store);
}

/**
 * Puts a principal, and an audit if there is one, before a store. Methods beyond the contract are not passed on. It
 * throws `not-allowed` where a call names another user or tenant, or a user asks for what concerns every session;
 * sessions of others are `session-not-found`.
 */
export function guardedStore(behind: Store, access: Access): Store {
  const guard = new Guard(access);
  const front = inFrontOf(behind, storeShape, (name, method, call) => guard.before(name, method, call));
  const close = async (): Promise<void> => {
    try {
      await behind.close();
    } finally {
      access.audit?.close();
    }
  };
  const store: Store = { ...front, close };
  guards.add(store);
  return store;
}

/** One call, as the audit and the principal see it. */
interface Asked {
  /** The scope of the call, copied; empty for a method of all sessions. */
  readonly scope: Scope;
  /** An entry for each session and each file of it; none for a method without an action. */
  readonly entries: readonly Omit<Accessed, "who">[];
}

/** Checks each call of a principal, and writes it into the audit. */
class Guard {
  readonly #principal: Principal | undefined;
  readonly #who: string;
  readonly #audit: Audit | undefined;

  constructor({ principal, who = principal?.name ?? "", audit }: Access) {
    this.#principal = principal;
    this.#who = who;
    this.#audit = audit;
  }

  /** A method in front of one of the store's. */
  before(name: string, method: MethodShape, call: Call): Call {
    const run = (asked: Asked, given: readonly unknown[]): unknown => call(...this.#admit(name, method, asked, given));
    if (method.is === "stream") {
      return (...given) => {
        const asked = this.#asked(method, given);
        return this.#stream(asked, () => run(asked, given) as AsyncIterable<unknown>);
      };
    }
    return async (...given) => {
      const asked = this.#asked(method, given);
      const answer = async (): Promise<unknown> => run(asked, given);
      return method.changes === true ? this.#change(asked, answer) : this.#look(asked, answer);
    };
  }

  #asked(method: MethodShape, given: readonly unknown[]): Asked {
    const { of, action, sessions, files } = method;
    const [first] = given;
    const scope =
      of === "scope" ? copyOfScope(first as Scope) : of === "lock" ? copyOfScope((first as Lock).scope) : {};
    if (!this.#audit || action === undefined) return { scope, entries: [] };
    const tenant = scope.tenant ?? this.#principal?.tenant;
    const about = { action, ...(tenant !== undefined && { tenant }) };
    const named = typeof files === "function" ? files(...given) : files;
    const entries = (sessions ? sessions(...given).map((sessionId) => ({ sessionId })) : [{}]).flatMap((session) =>
      (named ? named.map((file) => ({ file })) : [{}]).map((file) => ({ ...about, ...session, ...file })),
    );
    return { scope, entries };
  }

  /** The arguments as the principal may give them. */
  #admit(name: string, { of }: MethodShape, { scope }: Asked, given: readonly unknown[]): readonly unknown[] {
    if (of === "all") this.#mustSeeAll(name);
    if (of !== "scope") return given;
    const within = this.#scope(scope);
    return [name === "create" ? { ...this.#owner(scope), ...within } : within, ...given.slice(1)];
  }

  /** The sessions that a call may reach. */
  #scope(asked: Scope): Scope {
    const principal = this.#principal;
    if (!principal) return asked;
    const user = principal.role === "admin" ? asked.user : this.#within("user", asked.user, principal.name);
    const tenant =
      principal.tenant === undefined ? asked.tenant : this.#within("tenant", asked.tenant, principal.tenant);
    return { ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
  }

  /** The user of a new session, where the call names none. */
  #owner(asked: Scope): Scope {
    const name = asked.user ?? this.#principal?.name;
    return name === undefined ? {} : { user: name };
  }

  /** Refuses a method of all sessions to a principal who may not see them all. */
  #mustSeeAll(name: string): void {
    const principal = this.#principal;
    if (!principal || (principal.role === "admin" && principal.tenant === undefined)) return;
    throw notAllowed(`"${name}" reads the sessions of every user and tenant: that is for an admin (--admin).`, {
      principal: principal.name,
    });
  }

  /** Reads: the audit is written once the answer is there, before it is given out. */
  async #look(asked: Asked, run: () => Promise<unknown>): Promise<unknown> {
    try {
      const found = await run();
      this.#tell(asked);
      return found;
    } catch (error) {
      this.#tell(asked, error);
      throw error;
    }
  }

  /** Changes: the audit is written before, and again where the change fails. */
  async #change(asked: Asked, run: () => Promise<unknown>): Promise<unknown> {
    this.#tell(asked);
    try {
      return await run();
    } catch (error) {
      this.#tell(asked, error);
      throw error;
    }
  }

  /** Reads item by item: the audit is written before the first item is given out. */
  async *#stream(asked: Asked, run: () => AsyncIterable<unknown>): AsyncGenerator<unknown, void, undefined> {
    let told = false;
    try {
      for await (const item of run()) {
        if (!told) this.#tell(asked);
        told = true;
        yield item;
      }
    } catch (error) {
      this.#tell(asked, error);
      throw error;
    }
    if (!told) this.#tell(asked);
  }

  #within(what: "user" | "tenant", asked: string | undefined, own: string): string {
    if (asked === undefined || asked === own) return own;
    throw notAllowed(`"${this.#principal?.name}" may not act for ${what} "${asked}"; an admin may.`, {
      principal: this.#principal?.name,
      [what]: asked,
    });
  }

  #tell({ entries }: Asked, error?: unknown): void {
    const failed = error === undefined ? {} : { error: isWindrowError(error) ? error.code : "unforeseen" };
    for (const entry of entries) this.#audit?.record({ who: this.#who, ...entry, ...failed });
  }
}

/** The error `not-allowed`, for a principal without the right to an action. */
export function notAllowed(message: string, data: Readonly<Record<string, unknown>>): WindrowError {
  return new WindrowError("not-allowed", message, data);
}
