/** The model of a session. */
import type { Scope, SessionMetadata, Store } from "../../store/store.ts";

/** Model calls among which the newest that names a model is looked for. */
const looked = 16;

/**
 * The model of a session's settings; else that of its newest call that names one, as of a gateway, whose clients choose.
 *
 * @returns null where neither names any, or the calls cannot be read
 */
export async function modelOf(
  store: Store,
  scope: Scope,
  { uuid, config: { model } }: SessionMetadata,
): Promise<string | null> {
  if (typeof model === "string") return model;
  let newest: string | null = null;
  try {
    for await (const call of store.read(scope, uuid, { kind: "usage", last: looked }))
      if (call.purpose === "turn") newest = call.model ?? newest;
  } catch {
    // A session that cannot be read is shown all the same.
  }
  return newest;
}
