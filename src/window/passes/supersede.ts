/** supersede: an older result of the same call, or an older dump of the same screen, gives way to the newer. */
import type { JsonValue } from "../../message/message.ts";
import { inlineName } from "../../message/quote.ts";
import { recallId } from "../stub/stub.ts";
import { screenOf } from "../ui/tree.ts";
import type { Pass } from "../window.ts";
import { shortening } from "./results.ts";
import type { ViewResult } from "./results.ts";

/** Options of {@link supersede}. */
export interface SupersedeOptions {
  /** When older results give way: `over-target` (default), or `always`. */
  readonly when?: "over-target" | "always";
}

/**
 * Shows an older result as one line that says where the newer stands, where the same tool was called with the same
 * arguments again, or dumped the same screen again. An error never takes the place of a result. A line that stands keeps
 * naming the result that was newest when it was written.
 */
export function supersede({ when = "over-target" }: SupersedeOptions = {}): Pass {
  return shortening({
    name: "supersede",
    when,
    *texts(results) {
      const newer = new Map<string, { readonly seq: number; readonly isError: boolean }>();
      for (const entry of results.toReversed()) {
        const isError = entry.result.isError === true;
        const keys = [callKey(entry), screenKey(entry)].filter((key) => key !== undefined);
        const later = keys.map((key) => newer.get(key)).find((one) => one && (isError || !one.isError));
        if (later && entry.text !== undefined) {
          const text = `[Windrow: an older result of ${inlineName(entry.name)}; the newer is m${later.seq}; recall ${recallId(entry.seq)} shows the whole of this one]`;
          yield { entry, text, reason: `message ${later.seq} has it newer` };
        }
        for (const key of keys) {
          const known = newer.get(key);
          if (!known || (known.isError && !isError)) newer.set(key, { seq: entry.seq, isError });
        }
      }
    },
  });
}

function callKey({ name, call }: ViewResult): string | undefined {
  return call && `call ${name} ${canonical(call.args)}`;
}

/** A value's JSON with its keys in order: arguments in another order are the same call. */
function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_, item: unknown) =>
    item !== null && typeof item === "object" && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([left], [right]) => (left < right ? -1 : 1)))
      : item,
  );
}

/** Which screen a dump is of, by what it says of itself. */
function screenKey({ name, result }: ViewResult): string | undefined {
  const screen = screenOf(result)?.join("\n") ?? "";
  return screen === "" ? undefined : `screen ${name}\n${screen}`;
}
