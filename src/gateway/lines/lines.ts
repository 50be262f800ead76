/** Lines: the conversations of clients, kept in a store, and which bytes each request is sent with. */
import { WindrowError } from "../../errors.ts";
import type { Lines, Sending, WireRequest } from "../gateway.ts";
import { Exchange } from "./exchange.ts";
import { House } from "./house.ts";
import type { LinesOptions } from "./house.ts";

export type { LinesEvent, LinesOptions } from "./house.ts";

/**
 * Opens lines over a store. The store's lines are read in the background; a request that comes before waits for them as
 * long as it may.
 *
 * @throws WindrowError `bad-option` for `edits: "provider"` without a budget
 */
export async function openLines(options: LinesOptions): Promise<Lines> {
  if (options.edits === "provider" && options.budget === undefined) {
    const message = "Edits of the provider need a budget: without one nothing is edited.";
    throw new WindrowError("bad-option", message, { option: "edits" });
  }
  const house = new House(options);
  house.groups.index().catch((error: unknown) => {
    house.failed({ type: "request-not-kept", reason: "store-unavailable", error });
  });
  house.warm();
  return {
    send: (request: WireRequest, tenant: string): Promise<Sending> => new Exchange(house, request, tenant).begin(),
    close: () => house.groups.close(),
  };
}
