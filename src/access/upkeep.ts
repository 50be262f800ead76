/** Upkeep as one principal may use it: every call within the principal's scope, and in the audit. */
import type { AuditAction } from "./audit.ts";
import type { Scope } from "../store/scope.ts";
import { after, decided, inFrontOf, upkeepShape } from "../store/shared/shape.ts";
import type { Upkeep } from "../store/upkeep.ts";

/** What the guard of a store does for it. */
export interface UpkeepGuard {
  /** The sessions that a call may reach. */
  scope(asked: Scope): Scope;
  look<T>(action: AuditAction, scope: Scope, id: string, file: string, run: () => Promise<T>): Promise<T>;
  change<T>(
    action: AuditAction,
    scope: Scope,
    id: string | undefined,
    file: string | undefined,
    run: () => Promise<T>,
  ): Promise<T>;
  stream<T>(
    action: AuditAction,
    scope: Scope,
    id: undefined,
    file: string,
    run: () => AsyncIterable<T>,
  ): AsyncIterable<T>;
}

const mark = "keep.json";

/** Puts the guard before it. */
export function guardedUpkeep(behind: Upkeep, guard: UpkeepGuard): Upkeep {
  const each = <T>(
    action: AuditAction,
    scope: Scope,
    ids: readonly string[],
    file: string | undefined,
    run: () => Promise<T>,
  ): Promise<T> =>
    ids.reduceRight<() => Promise<T>>((inner, id) => () => guard.change(action, scope, id, file, inner), run)();
  return decided<Upkeep>({
    size: (scope, id) => guard.look("read", scope, id, "metadata.json", () => behind.size(guard.scope(scope), id)),
    verify:
      behind.verify &&
      ((scope, id) => guard.look("read", scope, id, "messages.jsonl", () => behind.verify!(guard.scope(scope), id))),
    keep: (scope, id, given) =>
      guard.change("write", scope, id, mark, () => behind.keep(guard.scope(scope), id, given)),
    unkeep: (scope, id) => guard.change("write", scope, id, mark, () => behind.unkeep(guard.scope(scope), id)),
    kept: (scope, id) => guard.look("read", scope, id, mark, () => behind.kept(guard.scope(scope), id)),
    compress:
      behind.compress &&
      ((scope, id) => guard.change("write", scope, id, undefined, () => behind.compress!(guard.scope(scope), id))),
    decompress:
      behind.decompress &&
      ((scope, id) => guard.change("write", scope, id, undefined, () => behind.decompress!(guard.scope(scope), id))),
    trash: (scope, ids, time) => each("write", scope, ids, "trash", () => behind.trash(guard.scope(scope), ids, time)),
    trashed: (scope) => guard.stream("list", scope, undefined, "trash", () => behind.trashed(guard.scope(scope))),
    untrash: (scope, id) => guard.change("write", scope, id, "trash", () => behind.untrash(guard.scope(scope), id)),
    putAside:
      behind.putAside &&
      ((scope, id) => guard.change("write", scope, id, "aside", () => behind.putAside!(guard.scope(scope), id))),
    erase: (scope, ids, elsewhere) =>
      each("erase", scope, ids, undefined, () => behind.erase(guard.scope(scope), ids, elsewhere)),
    unerased: (scope) => behind.unerased(guard.scope(scope)),
  });
}

/** Upkeep that is refused where a call does not say whose sessions. */
export function checkedUpkeep(behind: Upkeep, check: (scope: unknown) => void): Upkeep {
  return inFrontOf(behind, upkeepShape, (_name, method, call) => after(check, method, call));
}
