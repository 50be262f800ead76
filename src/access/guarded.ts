/**
 * A store as one principal may use it: a user sees only sessions of their own, an admin all, a tenant's principal only
 * that tenant, and each access goes into the audit. What is outside does not exist for those inside.
 */
import { isWindrowError, WindrowError } from "../errors.ts";
import { kindLogs } from "../store/transfer.ts";
import type { Accessed, Audit, AuditAction } from "./audit.ts";
import type { RecordKind, StoredRecordOf } from "../message/record.ts";
import { after, decided, inFrontOf, storeShape } from "../store/shared/shape.ts";
import type { MethodShape } from "../store/shared/shape.ts";
import type { Lock, ReadQuery, Scope, Store } from "../store/store.ts";
import { checkedUpkeep, guardedUpkeep } from "./upkeep.ts";

/** Who asks. */
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

/** A scope with a tenant. */
export type TenantScope = Scope & { readonly tenant: string };

/**
 * A store that many tenants share. Every call names its tenant, by type and at run time: one that forgets to is refused,
 * instead of reaching the sessions of no tenant.
 */
export interface TenantStore extends Store {
  readonly tenants: true;
  create(scope: TenantScope, ...rest: Rest<Store["create"]>): ReturnType<Store["create"]>;
  info(scope: TenantScope, ...rest: Rest<Store["info"]>): ReturnType<Store["info"]>;
  list(scope: TenantScope, ...rest: Rest<Store["list"]>): ReturnType<Store["list"]>;
  lock(scope: TenantScope, ...rest: Rest<Store["lock"]>): ReturnType<Store["lock"]>;
  read<K extends RecordKind>(scope: TenantScope, id: string, query: ReadQuery<K>): AsyncIterable<StoredRecordOf<K>>;
  recovery(scope: TenantScope, ...rest: Rest<Store["recovery"]>): ReturnType<Store["recovery"]>;
}

type Rest<F extends (...given: never) => unknown> = Parameters<F> extends readonly [unknown, ...infer R] ? R : never;

const guards = new WeakSet<Store>();

/** Whether a store was made by {@link guardedStore}. */
export function isGuarded(store: Store): boolean {
  return guards.has(store);
}

/**
 * Puts a principal, and an audit if there is one, before a store. What the store behind can do beyond the contract is
 * not passed on. It throws `not-allowed` where a call names another user or tenant, or a user asks for what concerns
 * every session; sessions of others are `session-not-found`.
 */
export function guardedStore(behind: Store, access: Access): Store {
  const guard = new Guard(access);
  const store = decided<Store>({
    name: behind.name,
    capabilities: behind.capabilities,
    create: (scope, session) =>
      guard.change("create", scope, session.uuid, "metadata.json", () =>
        behind.create({ ...guard.owner(scope), ...guard.scope(scope) }, session),
      ),
    info: (scope, id) => guard.look("read", scope, id, "metadata.json", () => behind.info(guard.scope(scope), id)),
    list: (scope, query) =>
      guard.stream("list", scope, undefined, undefined, () => behind.list(guard.scope(scope), query)),
    lock: (scope, id) => guard.change("write", scope, id, ".lock", () => behind.lock(guard.scope(scope), id)),
    append: (lock, records) => {
      const files = [...new Set(records.map(({ kind }) => `${kindLogs[kind]}.jsonl`))];
      return guard.change("write", lock.scope, lock.id, files, () => behind.append(lock, records));
    },
    read: (scope, id, query) =>
      guard.stream("read", scope, id, `${kindLogs[query.kind]}.jsonl`, () =>
        behind.read(guard.scope(scope), id, query),
      ),
    setState: (lock, state) =>
      guard.change("write", lock.scope, lock.id, "state.json", () => behind.setState(lock, state)),
    finish: (lock, state) =>
      guard.change("finish", lock.scope, lock.id, "state.json", () => behind.finish(lock, state)),
    recovery: (scope, id) => guard.look("read", scope, id, undefined, () => behind.recovery(guard.scope(scope), id)),
    async close() {
      await behind.close();
      access.audit?.close();
    },
    holder:
      behind.holder &&
      ((scope, id) => guard.look("read", scope, id, ".lock", () => behind.holder!(guard.scope(scope), id))),
    unlock:
      behind.unlock &&
      ((scope, id, options) =>
        guard.change("unlock", scope, id, ".lock", () => behind.unlock!(guard.scope(scope), id, options))),
    examine:
      behind.examine &&
      ((options, signal) =>
        guard.stream("examine", {}, undefined, undefined, () => {
          guard.mustSeeAll("Examining a store");
          return behind.examine!(options, signal);
        })),
    rebuildIndex:
      behind.rebuildIndex &&
      (() =>
        guard.change("write", {}, undefined, "index.jsonl", async () => {
          guard.mustSeeAll("Building the index anew");
          return behind.rebuildIndex!();
        })),
    upkeep: behind.upkeep && guardedUpkeep(behind.upkeep, guard),
    dump:
      behind.dump &&
      ((scope, id) => guard.look("export", scope, id, undefined, () => behind.dump!(guard.scope(scope), id))),
    restore:
      behind.restore &&
      ((scope, given, signal) =>
        guard.change("import", scope, given.id, undefined, () => behind.restore!(guard.scope(scope), given, signal))),
  });
  guards.add(store);
  return store;
}

/**
 * Makes every call name its tenant. For stores that more than one tenant writes to.
 *
 * @throws WindrowError its methods: `bad-option` for a scope without a tenant, `not-allowed` for what concerns every
 *   session (`examine`, `rebuildIndex`)
 */
export function tenantStore(behind: Store): TenantStore {
  const checks: Readonly<Record<MethodShape["of"], (name: string, given: unknown) => void>> = {
    scope: (_name, scope) => checkTenant(scope),
    lock: (_name, lock) => checkTenant((lock as Lock | undefined)?.scope),
    all: (name) => {
      const message = `"${name}" concerns the sessions of every tenant: call it on the store behind the tenants' one.`;
      throw notAllowed(message, { method: name });
    },
    none: () => undefined,
  };
  const store = inFrontOf(behind, storeShape, (name, method, call) =>
    after((given) => checks[method.of](name, given), method, call),
  );
  const upkeep = behind.upkeep && checkedUpkeep(behind.upkeep, checkTenant);
  return { ...store, ...(upkeep && { upkeep }), tenants: true };
}

function checkTenant(scope: unknown): void {
  const tenant = (scope as Scope | undefined)?.tenant;
  if (typeof tenant === "string" && tenant !== "") return;
  const message = 'This store is shared by tenants: name the tenant, as in { tenant: "acme", user: "alice" }.';
  throw new WindrowError("bad-option", message, { option: "tenant" });
}

/** What a principal may do, and the telling of it. */
class Guard {
  readonly #principal: Principal | undefined;
  readonly #who: string;
  readonly #audit: Audit | undefined;

  constructor({ principal, who = principal?.name ?? "", audit }: Access) {
    this.#principal = principal;
    this.#who = who;
    this.#audit = audit;
  }

  /** The sessions that a call may reach. */
  scope(asked: Scope): Scope {
    const principal = this.#principal;
    if (!principal) return asked;
    const user = principal.role === "admin" ? asked.user : this.#within("user", asked.user, principal.name);
    const tenant =
      principal.tenant === undefined ? asked.tenant : this.#within("tenant", asked.tenant, principal.tenant);
    return { ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
  }

  /** Whose a new session is where the call does not say. */
  owner(asked: Scope): Scope {
    const name = asked.user ?? this.#principal?.name;
    return name === undefined ? {} : { user: name };
  }

  /** Refuses what concerns every session of the store to who may not see them all. */
  mustSeeAll(what: string): void {
    const principal = this.#principal;
    if (!principal || (principal.role === "admin" && principal.tenant === undefined)) return;
    throw notAllowed(`${what} reads the sessions of every user and tenant: that is for an admin (--admin).`, {
      principal: principal.name,
    });
  }

  /** Something that is read: told once it is there, before it is given out. */
  async look<T>(
    action: AuditAction,
    scope: Scope,
    id: string | undefined,
    file: string | undefined,
    run: () => Promise<T>,
  ) {
    try {
      const found = await run();
      this.#tell(action, scope, id, file);
      return found;
    } catch (error) {
      this.#tell(action, scope, id, file, error);
      throw error;
    }
  }

  /** Something that is changed: told before it is done, and again where it fails. */
  async change<T>(
    action: AuditAction,
    scope: Scope,
    id: string | undefined,
    files: string | undefined | readonly string[],
    run: () => Promise<T>,
  ): Promise<T> {
    const named = typeof files === "string" || files === undefined ? [files] : files;
    for (const file of named) this.#tell(action, scope, id, file);
    try {
      return await run();
    } catch (error) {
      for (const file of named) this.#tell(action, scope, id, file, error);
      throw error;
    }
  }

  /** As `look`, for what is read bit by bit: told before the first of it is given out. */
  async *stream<T>(
    action: AuditAction,
    scope: Scope,
    id: string | undefined,
    file: string | undefined,
    run: () => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined> {
    let told = false;
    try {
      for await (const item of run()) {
        if (!told) this.#tell(action, scope, id, file);
        told = true;
        yield item;
      }
    } catch (error) {
      this.#tell(action, scope, id, file, error);
      throw error;
    }
    if (!told) this.#tell(action, scope, id, file);
  }

  #within(what: "user" | "tenant", asked: string | undefined, own: string): string {
    if (asked === undefined || asked === own) return own;
    throw notAllowed(`"${this.#principal?.name}" may not act for ${what} "${asked}"; an admin may.`, {
      principal: this.#principal?.name,
      [what]: asked,
    });
  }

  #tell(action: AuditAction, scope: Scope, id: string | undefined, file: string | undefined, error?: unknown): void {
    if (!this.#audit) return;
    const tenant = scope.tenant ?? this.#principal?.tenant;
    const entry: Accessed = {
      who: this.#who,
      action,
      ...(id !== undefined && { sessionId: id }),
      ...(file !== undefined && { file }),
      ...(tenant !== undefined && { tenant }),
      ...(error !== undefined && { error: isWindrowError(error) ? error.code : "unforeseen" }),
    };
    this.#audit.record(entry);
  }
}

/** The principal may not do this. */
export function notAllowed(message: string, data: Readonly<Record<string, unknown>>): WindrowError {
  return new WindrowError("not-allowed", message, data);
}
