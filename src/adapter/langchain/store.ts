/** LangGraph's long-term memory (`BaseStore`) in a log of a store: durable, masked, of one owner, searched by words. */
import { WindrowError } from "../../errors.ts";
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { itemsName } from "../../memory/forget.ts";
import { LexicalIndex } from "../../memory/lexical.ts";
import { FoldedLog } from "../../memory/log/memory-log.ts";
import type { Fold, MemoryLogOptions } from "../../memory/log/memory-log.ts";
import { shown } from "../../shown.ts";
import type { Scope, Store } from "../../store/store.ts";
import { matches } from "./store-filter.ts";

/** An operation of LangGraph's `BaseStore`, as far as it is read. */
interface Operation {
  readonly namespace?: readonly string[];
  readonly key?: string;
  readonly value?: Readonly<Record<string, unknown>> | null;
  readonly index?: false | readonly string[];
  readonly namespacePrefix?: readonly string[];
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly query?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly matchConditions?: readonly { readonly matchType: string; readonly path: readonly string[] }[];
  readonly maxDepth?: number;
}

/** An item, as LangGraph reads it. */
interface Item {
  readonly namespace: string[];
  readonly key: string;
  readonly value: JsonObject;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An item, with the paths of its fields that are searched; false for none. */
interface KeptItem extends Item {
  readonly index: false | readonly string[] | undefined;
}

type Items = Map<string, KeptItem>;

/** The options of {@link createLangGraphStore}. */
interface LangGraphStoreOptions extends MemoryLogOptions {
  /** The session that puts, so that `windrow erase` of it takes its items out. Default: none. */
  readonly sessionId?: string;
}

/** The type of the log's entries. */
const itemType = "item";

/**
 * A store for LangGraph's graphs and agents, over any store of Windrow: what is put is on disk when `put` resolves, masked
 * as the store masks, and of this owner alone. `search` with a `query` ranks by words, and finds the items that hold one. A
 * batch is one change: its reads see what was there before, and its writes are there all or none.
 *
 * @param base - LangGraph's BaseStore, which the store extends
 * @param owner - the tenant and the user whose items they are. Default: those of sessions without a user
 * @example
 * const memory = createLangGraphStore(BaseStore, await openStore("./contexts"), { user: "ann" });
 * const graph = builder.compile({ store: memory });
 */
export function createLangGraphStore<Made>(
  base: abstract new () => Made,
  store: Store,
  owner: Scope = {},
  options: LangGraphStoreOptions = {},
): Made {
  const log = new FoldedLog(store, owner, itemsName, fold, options);
  const { sessionId } = options;
  const source = sessionId === undefined ? {} : { session: sessionId };
  const Base = base as unknown as abstract new () => object;

  class WindrowStore extends Base {
    async batch(operations: readonly Operation[]): Promise<unknown[]> {
      const puts = operations.filter(isPut);
      if (puts.length === 0) return answers(operations, await log.state());
      const added = puts.map((put) => ({ type: itemType, data: { ...dataOf(put), ...source } }));
      let results: unknown[] = [];
      await log.change(async (items) => {
        results = answers(operations, items);
        return added;
      });
      return results;
    }
  }
  return new WindrowStore() as unknown as Made;
}

function isPut(operation: Operation): boolean {
  return "value" in operation;
}

function answers(operations: readonly Operation[], items: Items): unknown[] {
  return operations.map((operation) => {
    if (isPut(operation)) return undefined;
    if (operation.namespacePrefix) return found(operation, items);
    if (operation.key === undefined) return namespacesOf(operation, items);
    return given(items.get(placeOf(namespaceOf(operation), operation.key)));
  });
}

const fold: Fold<Items> = {
  empty: () => new Map(),
  apply(items, { type, data, timestamp }) {
    const { namespace, key, value, index } = data;
    if (type !== itemType || !isTexts(namespace) || typeof key !== "string") return;
    const place = placeOf(namespace, key);
    if (!isObject(value)) {
      items.delete(place);
      return;
    }
    const updatedAt = new Date(timestamp);
    const createdAt = items.get(place)?.createdAt ?? updatedAt;
    const paths = index === false || isTexts(index) ? index : undefined;
    items.set(place, { namespace: [...namespace], key, value, createdAt, updatedAt, index: paths });
  },
};

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

/** @throws WindrowError `bad-option` */
function namespaceOf({ namespace }: Operation): readonly string[] {
  if (isTexts(namespace) && namespace.length > 0 && !namespace.includes("")) return namespace;
  throw new WindrowError(
    "bad-option",
    `A namespace is a list of texts, one or more, none empty: not ${shown(namespace)}.`,
  );
}

function placeOf(namespace: readonly string[], key: string): string {
  return JSON.stringify([...namespace, key]);
}

/** @throws WindrowError `bad-option` for what is no operation that writes */
function dataOf(operation: Operation): JsonObject {
  const { key, value, index } = operation;
  const namespace = namespaceOf(operation);
  if (typeof key !== "string") throw new WindrowError("bad-option", `A key is a text, not ${shown(key)}.`);
  if (value !== null && !isObject(value)) {
    throw new WindrowError("bad-option", `A value is an object, or null for none: not ${shown(value)}.`);
  }
  const plain = JSON.parse(JSON.stringify(value)) as JsonObject | null;
  return { namespace: [...namespace], key, value: plain, ...(index !== undefined && { index: index && [...index] }) };
}

/** An item as a caller gets it: theirs to change. */
function given(item: KeptItem | undefined, score?: number): (Item & { readonly score?: number }) | null {
  if (!item) return null;
  const { index: _, ...own } = item;
  return { ...structuredClone(own), ...(score !== undefined && { score }) };
}

function found(
  { namespacePrefix = [], filter = {}, query, limit = 10, offset = 0 }: Operation,
  items: Items,
): unknown[] {
  const within = [...items].filter(
    ([, { namespace, value }]) =>
      namespacePrefix.every((label, at) => namespace[at] === label) &&
      Object.entries(filter).every(([field, wanted]) => matches(value[field], wanted)),
  );
  if (query === undefined || query === "") return within.slice(offset, offset + limit).map(([, item]) => given(item));
  const index = new LexicalIndex();
  // A session for each item: items beside each other have nothing to do with each other.
  for (const [place, item] of within) {
    if (item.index === false) continue;
    const text = (item.index ?? ["$"]).flatMap((path) => textsAt(item.value, path)).join("\n");
    index.add(place, 1, { id: "m1", role: "user", parts: [{ type: "text", text }] });
  }
  const hits = index.search(query, offset + limit).slice(offset);
  return hits.map(({ sessionId, score }) => given(items.get(sessionId), score));
}

/** The texts of a value at a path such as `title`, `chapters[*].content`, `authors[0].name`, or `$` for all. */
function textsAt(value: JsonValue | undefined, path: string): readonly string[] {
  if (path === "$" || path === "") return textsOf(value);
  const [step = ""] = /^(?:\[[^\]]*\]|[^.[]+)/.exec(path) ?? [];
  if (step === "") return [];
  const rest = path.slice(step.length).replace(/^\./, "");
  if (!step.startsWith("[")) return isObject(value) ? textsAt((value as JsonObject)[step], rest) : [];
  if (!Array.isArray(value)) return [];
  const at = step.slice(1, -1);
  const chosen: readonly (JsonValue | undefined)[] = at === "*" ? value : [value.at(Number(at))];
  return chosen.flatMap((one) => textsAt(one, rest));
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function namespacesOf(
  { matchConditions = [], maxDepth, limit = 100, offset = 0 }: Operation,
  items: Items,
): string[][] {
  const names = new Map<string, string[]>();
  for (const { namespace } of items.values()) {
    const isWanted = matchConditions.every(({ matchType, path }) => {
      const from = matchType === "suffix" ? namespace.length - path.length : 0;
      return from >= 0 && path.every((label, at) => label === "*" || namespace[from + at] === label);
    });
    if (!isWanted) continue;
    const name = namespace.slice(0, maxDepth);
    names.set(JSON.stringify(name), name);
  }
  const sorted = [...names.values()].toSorted((left, right) => (left.join("\0") < right.join("\0") ? -1 : 1));
  return sorted.slice(offset, offset + limit);
}
