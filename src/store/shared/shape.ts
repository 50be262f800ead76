/**
 * The shape of a store: for each method, how it is called and whose sessions it concerns. Whatever stands before a store
 * is made over these tables, so that a method of which nothing is decided does not compile and is never passed on.
 */
import type { Store } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";

/** How a method of a store is to be treated by what stands before it. */
export interface MethodShape {
  /** `call` gives a promise, `stream` gives items one by one. */
  readonly is: "call" | "stream";
  /**
   * `scope`: the first argument names whose sessions. `lock`: the first argument is a lock, which has a scope. `all`:
   * every session of the store, whoever owns it. `none`: no session.
   */
  readonly of: "scope" | "lock" | "all" | "none";
}

/** A field that is no method: a plain value, or a facet with methods of its own. */
export interface FieldShape {
  readonly is: "value" | "facet";
}

/** For every name of an interface, what it is. */
export type Shape<T> = Readonly<Record<keyof T, MethodShape | FieldShape>>;

const scoped = { is: "call", of: "scope" } as const;
const scopedStream = { is: "stream", of: "scope" } as const;
const locked = { is: "call", of: "lock" } as const;

/** Every name of {@link Store}. */
export const storeShape = {
  name: { is: "value" },
  capabilities: { is: "value" },
  create: scoped,
  info: scoped,
  list: scopedStream,
  lock: scoped,
  append: locked,
  read: scopedStream,
  setState: locked,
  finish: locked,
  holder: scoped,
  unlock: scoped,
  examine: { is: "stream", of: "all" },
  rebuildIndex: { is: "call", of: "all" },
  recovery: scoped,
  dump: scoped,
  restore: scoped,
  upkeep: { is: "facet" },
  close: { is: "call", of: "none" },
} as const satisfies Shape<Store>;

/** Every name of {@link Upkeep}. */
export const upkeepShape = {
  size: scoped,
  verify: scoped,
  keep: scoped,
  unkeep: scoped,
  kept: scoped,
  compress: scoped,
  decompress: scoped,
  trash: scoped,
  trashed: scopedStream,
  untrash: scoped,
  putAside: scoped,
  erase: scoped,
  unerased: scoped,
} as const satisfies Shape<Upkeep>;

/** A method as it is called with whatever arguments. */
export type Call = (...given: readonly unknown[]) => unknown;

/**
 * An object with the methods of the shape in front of one that has them. What the shape does not name is not there, and
 * facets are left to the caller.
 *
 * @param wrap - the method that stands in front, given the call of the one behind
 */
export function inFrontOf<T extends object>(
  behind: T,
  shape: Shape<T>,
  wrap: (name: keyof T & string, method: MethodShape, call: Call) => Call,
): T {
  const front: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries<MethodShape | FieldShape>(shape)) {
    const value: unknown = Reflect.get(behind, name);
    if (kind.is === "value") front[name] = value;
    else if ("of" in kind && typeof value === "function") {
      const call: Call = (...given) => Reflect.apply(value, behind, given) as unknown;
      front[name] = wrap(name as keyof T & string, kind, call);
    }
  }
  return front as T;
}

/** A method in front of another one that does something first: what that throws ends the call, or the stream. */
export function after(check: (first: unknown) => void, { is }: MethodShape, call: Call): Call {
  return is === "stream"
    ? async function* (...given) {
        check(given[0]);
        yield* call(...given) as AsyncIterable<unknown>;
      }
    : async (...given) => {
        check(given[0]);
        return call(...given);
      };
}

/** All names of an interface, each with what stands there, or undefined where nothing does. */
export type Decided<T> = { readonly [K in keyof T]-?: T[K] | undefined };

/** The names that something stands under. */
export function decided<T extends object>(all: Decided<T>): T {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as T;
}
