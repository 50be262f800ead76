/** Lines: the conversations of clients, kept in a store, and which bytes each request is sent with. */
import { WindrowError } from "../../errors.ts";
import type { Lines, Sending, WireRequest } from "../gateway.ts";
import { TurnStore } from "../recall/known-turns.ts";
import { recallingLines } from "../recall/recalling-lines.ts";
import { Exchange } from "./exchange.ts";
import { House } from "./house.ts";
import type { LinesOptions } from "./house.ts";

export type { LinesEvent, LinesOptions } from "./house.ts";

/**
 * Opens lines over a store. The store's lines are read in the background; a request that comes before waits for them as
 * long as it may.
 *
 * @throws WindrowError `bad-option` for `edits: "provider"`, which is not made yet
 */
export async function openLines(options: LinesOptions): Promise<Lines> {
  if (options.edits === "provider") {
    const message = "Edits by the provider are not made yet: leave `edits` out, or take `gateway`.";
    throw new WindrowError("bad-option", message, { option: "edits" });
  }
  const house = new House(options);
  house.groups.index().catch((error: unknown) => {
    house.failed({ type: "request-not-kept", reason: "store-unavailable", error });
  });
  const lines: Lines = {
    send: (request: WireRequest, tenant: string): Promise<Sending> => new Exchange(house, request, tenant).begin(),
    close: () => house.groups.close(),
  };
  const { recall, store, now } = options;
  return recall === "loop" ? recallingLines(lines, { turns: new TurnStore(store, now), begins: true }) : lines;
}
