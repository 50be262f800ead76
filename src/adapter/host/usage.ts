/** Usage of a model call, read by the names that a host gives its counts. */
import { asCount, asObject } from "../../message/json.ts";
import type { JsonValue, Usage } from "../../message/message.ts";
import { usage } from "../../message/parts.ts";

/** The names of counts in a host's usage, dots between the levels; the first that is there counts. */
type UsageNames = { readonly [Count in keyof Usage]: string | readonly string[] };

/** The usage that a host reports, by its own names; undefined for none. */
export function usageBy(given: unknown, names: UsageNames): Usage | undefined {
  const at = (path: string): JsonValue | undefined =>
    path.split(".").reduce<JsonValue | undefined>((value, name) => asObject(value)?.[name], given as JsonValue);
  const counts = Object.entries(names).map(([count, paths]) => {
    const values = [paths].flat().map((path) => asCount(at(path)));
    return [count, values.find((value) => value !== undefined)] as const;
  });
  return usage(Object.fromEntries(counts) as { readonly [Count in keyof Usage]: number | undefined });
}
