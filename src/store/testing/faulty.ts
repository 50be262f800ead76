/** A store that fails when it is told to, for tests of the code that uses a store. */
import { WindrowError } from "../../errors.ts";
import type { ErrorCode } from "../../errors.ts";
import { inFrontOf, storeShape } from "../shared/shape.ts";
import type { Call, MethodShape } from "../shared/shape.ts";
import type { Store, StoreArchiving, StoreCheckup, StoreDetaching, StoreHolding, StoreTransfer } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";

type MethodsOf<T> = {
  [K in keyof T]-?: NonNullable<T[K]> extends (...given: never) => unknown ? K : never;
}[keyof T];

/** A method of a store, or of one of its facets. */
export type StoreMethod = MethodsOf<
  Store & StoreHolding & StoreCheckup & StoreTransfer & StoreDetaching & StoreArchiving & Upkeep
>;

/** How a method fails. */
export interface Fault {
  /** Default `not-durable`. */
  readonly code?: ErrorCode;
  /** How many calls fail; those after them succeed again. Default: all. */
  readonly times?: number;
  /**
   * `before` (default): nothing was done. `after`: it was done, and only the answer is lost, as when a server dies
   * between its commit and its reply.
   */
  readonly when?: "before" | "after";
}

/** A store in front of another one, and what makes it fail. */
export interface FaultyStore {
  /** Behaves as the store behind it, until told otherwise. */
  readonly store: Store;
  /** Calls so far of each method, failed ones too. */
  readonly calls: ReadonlyMap<StoreMethod, number>;
  /** From now on calls of the method fail. */
  fail(method: StoreMethod, fault?: Fault): void;
  /** From now on calls of the method wait, until the function that is given back lets them through. */
  hold(method: StoreMethod): () => void;
  /** Nothing fails or waits any more. */
  mend(): void;
}

/** Puts a store that can be made to fail in front of another one. */
export function faultyStore(behind: Store): FaultyStore {
  const calls = new Map<StoreMethod, number>();
  const faults = new Map<StoreMethod, Required<Fault>>();
  const gates = new Map<StoreMethod, { readonly opened: Promise<void>; readonly open: () => void }>();

  const failing = (method: StoreMethod, when: Fault["when"]): void => {
    const fault = faults.get(method);
    if (fault === undefined || fault.when !== when || fault.times <= 0) return;
    faults.set(method, { ...fault, times: fault.times - 1 });
    throw new WindrowError(fault.code, `The store was told to fail at "${method}".`, { method, when });
  };
  const enter = async (method: StoreMethod): Promise<void> => {
    calls.set(method, (calls.get(method) ?? 0) + 1);
    await gates.get(method)?.opened;
    failing(method, "before");
  };
  const guarded = (method: StoreMethod, { is }: MethodShape, call: Call): Call =>
    is === "stream"
      ? async function* (...given): AsyncGenerator<unknown> {
          await enter(method);
          yield* call(...given) as AsyncIterable<unknown>;
          failing(method, "after");
        }
      : async (...given): Promise<unknown> => {
          // Records are kept as they were at the time of the call, so a call that neither fails nor waits is passed on at once.
          if (faults.has(method) || gates.has(method)) await enter(method);
          else calls.set(method, (calls.get(method) ?? 0) + 1);
          const result = await call(...given);
          failing(method, "after");
          return result;
        };
  const store = inFrontOf(behind, storeShape, (name, method, call) => guarded(name as StoreMethod, method, call));
  return {
    store,
    calls,
    fail: (method, { code = "not-durable", times = Number.POSITIVE_INFINITY, when = "before" } = {}) =>
      void faults.set(method, { code, times, when }),
    hold(method) {
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      gates.set(method, { opened, open });
      return () => {
        if (gates.get(method)?.opened === opened) gates.delete(method);
        open();
      };
    },
    mend() {
      faults.clear();
      for (const { open } of gates.values()) open();
      gates.clear();
    },
  };
}
