/**
 * The shape of a store: for each method, how it is called, whose sessions it concerns, and whether it changes them.
 * Everything that stands before a store (access, tenants, a reader, a fault in a test) is made over this table. A method
 * that the table leaves out does not compile, and nothing in front of a store passes it on.
 */
import { kindFiles } from "../format/logs.ts";
import type { Lock, NewSession, Scope, SessionDump, Store } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";

/**
 * The actions of a store's methods. `read` and `write` concern a file of a session; `export` and `import` are whole
 * sessions on their way to and from another store; `list` and `examine` concern no one session.
 */
export const storeActions = [
  "create",
  "read",
  "write",
  "finish",
  "unlock",
  "export",
  "import",
  "list",
  "examine",
  "erase",
] as const;

/** One of {@link storeActions}. */
export type StoreAction = (typeof storeActions)[number];

type Method = (...given: never) => unknown;

/** A method as it is called with whatever arguments. */
export type Call = (...given: readonly unknown[]) => unknown;

/** How one method of a store is called, and what it does. */
export interface MethodShape<F extends Method = Call> {
  /** `call` gives a promise, `stream` gives items one by one. */
  readonly is: "call" | "stream";
  /**
   * The sessions that a call concerns. `scope`: those of the scope in the first argument. `lock`: the session of the lock
   * in the first argument. `all`: every session of the store, whoever owns it. `none`: no session.
   */
  readonly of: "scope" | "lock" | "all" | "none";
  /** Whether it writes. Default false. */
  readonly changes?: boolean;
  /** Absent for a method that shows and changes nothing of a session. */
  readonly action?: StoreAction;
  /** The ids of the sessions that a call names. */
  readonly sessions?: (...given: Parameters<F>) => readonly string[];
  /** The files of a session (docs/format.md) that a call reads or writes, where it is not all of them. */
  readonly files?: readonly string[] | ((...given: Parameters<F>) => readonly string[]);
}

/** A plain value. */
interface ValueShape {
  readonly is: "value";
}

/** An object with methods of its own. */
interface FacetShape<T> {
  readonly is: "facet";
  readonly methods: Shape<T>;
}

/** For every name of an interface, its shape. */
export type Shape<T> = {
  readonly [K in keyof T]-?: NonNullable<T[K]> extends Method
    ? MethodShape<NonNullable<T[K]>>
    : ValueShape | FacetShape<NonNullable<T[K]>>;
};

const ofOne = { is: "call", of: "scope", sessions: (_scope: Scope, id: string) => [id] } as const;
const ofMany = { is: "call", of: "scope", sessions: (_scope: Scope, ids: readonly string[]) => ids } as const;
const ofLock = { is: "call", of: "lock", sessions: (lock: Lock) => [lock.id], changes: true } as const;
const keepMark = { files: ["mark.json"] } as const;
const inTrash = { files: ["trash"] } as const;

/** Every name of {@link Upkeep}. */
const upkeepShape = {
  size: { ...ofOne, action: "read", files: ["metadata.json"] },
  verify: { ...ofOne, action: "read", files: ["messages.jsonl"] },
  keep: { ...ofOne, ...keepMark, action: "write", changes: true },
  unkeep: { ...ofOne, ...keepMark, action: "write", changes: true },
  kept: { ...ofOne, ...keepMark, action: "read" },
  compress: { ...ofOne, action: "write", changes: true },
  decompress: { ...ofOne, action: "write", changes: true },
  trash: { ...ofMany, ...inTrash, action: "write", changes: true },
  trashed: { ...inTrash, is: "stream", of: "scope", action: "list" },
  untrash: { ...ofOne, ...inTrash, action: "write", changes: true },
  putAside: { ...ofOne, action: "write", files: ["aside"], changes: true },
  erase: { ...ofMany, action: "erase", changes: true },
  unerased: { is: "call", of: "scope" },
} as const satisfies Shape<Upkeep>;

/** Every name of {@link Store}. */
export const storeShape = {
  name: { is: "value" },
  capabilities: { is: "value" },
  create: {
    is: "call",
    of: "scope",
    action: "create",
    sessions: (_scope: Scope, session: NewSession) => [session.uuid],
    files: ["metadata.json"],
    changes: true,
  },
  info: { ...ofOne, action: "read", files: ["metadata.json"] },
  list: { is: "stream", of: "scope", action: "list" },
  lock: { ...ofOne, action: "write", files: [".lock"], changes: true },
  append: {
    ...ofLock,
    action: "write",
    files: (_lock, records) => [...new Set(records.map(({ kind }) => kindFiles[kind]))],
  },
  read: { ...ofOne, is: "stream", action: "read", files: (_scope, _id, query) => [kindFiles[query.kind]] },
  setState: { ...ofLock, action: "write", files: ["state.json"] },
  finish: { ...ofLock, action: "finish", files: ["state.json"] },
  recovery: { ...ofOne, action: "read" },
  close: { is: "call", of: "none" },
  prepareClose: { is: "call", of: "none" },
  holding: {
    is: "facet",
    methods: {
      holder: { ...ofOne, action: "read", files: [".lock"] },
      unlock: { ...ofOne, action: "unlock", files: [".lock"], changes: true },
    },
  },
  checkup: {
    is: "facet",
    methods: {
      examine: { is: "stream", of: "all", action: "examine" },
      rebuildIndex: { is: "call", of: "all", action: "write", files: ["index.jsonl"], changes: true },
    },
  },
  transfer: {
    is: "facet",
    methods: {
      dump: { ...ofOne, action: "export" },
      restore: {
        is: "call",
        of: "scope",
        action: "import",
        sessions: (_scope: Scope, dump: SessionDump) => [dump.id],
        changes: true,
      },
    },
  },
  upkeep: { is: "facet", methods: upkeepShape },
  detaching: {
    is: "facet",
    methods: {
      detach: { ...ofOne, action: "write", changes: true },
      names: { is: "call", of: "none" },
      attach: {
        is: "call",
        of: "scope",
        action: "write",
        sessions: (_scope: Scope, dump: SessionDump) => [dump.id],
        changes: true,
      },
    },
  },
  archiving: {
    is: "facet",
    methods: {
      archive: { ...ofOne, action: "write", changes: true },
      unarchive: { ...ofOne, action: "write", changes: true },
    },
  },
} as const satisfies Shape<Store>;

type AnyShape = Readonly<Record<string, MethodShape | ValueShape | { readonly is: "facet"; readonly methods: object }>>;

/**
 * An object with the methods of the shape in front of one that has them, facet by facet. A name that the shape does not
 * have is not passed on.
 *
 * @param wrap - the method that stands in front, given the call of the one behind
 */
export function inFrontOf<T extends object>(
  behind: T,
  shape: Shape<T>,
  wrap: (name: string, method: MethodShape, call: Call) => Call,
): T {
  const front: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(shape as AnyShape)) {
    const value: unknown = Reflect.get(behind, name);
    if (value === undefined) continue;
    if (kind.is === "value") front[name] = value;
    else if (kind.is === "facet") front[name] = inFrontOf(value as object, kind.methods, wrap);
    else front[name] = wrap(name, kind, (...given) => Reflect.apply(value as Call, behind, given));
  }
  return front as T;
}

/** A method whose arguments are checked, or replaced, first. An error of the check ends the call, or the stream. */
export function admitting(
  { is }: MethodShape,
  call: Call,
  admit: (given: readonly unknown[]) => readonly unknown[],
): Call {
  return is === "stream"
    ? async function* (...given) {
        yield* call(...admit(given)) as AsyncIterable<unknown>;
      }
    : async (...given) => call(...admit(given));
}

/** A copy of a scope. Each field is read once, so that no getter can name one tenant to a check and another to the store. */
export function copyOfScope(scope: Scope): Scope {
  const { tenant, user } = scope;
  return { ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
}
