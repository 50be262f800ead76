/** The route as a signal, in step with the address. */
import { signal } from "@preact/signals";
import { addressOf, parseRoute } from "../model/route.ts";
import type { Route } from "../model/route.ts";

/** The place that the page shows. */
export const route = signal<Route>({ page: "fleet" });

/** Browsers refuse addresses that change on every step of a slider. */
const settledAfterMs = 160;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Takes the address as it stands, and follows it. */
export function startNavigation(): void {
  route.value = parseRoute(location.hash);
  addEventListener("hashchange", () => {
    // An address that was to follow belongs to the place that was left.
    clearTimeout(timer);
    route.value = parseRoute(location.hash);
  });
}

/** Goes to a place as a step of its own: the browser's way back leads here. */
export function go(to: Route): void {
  clearTimeout(timer);
  const address = addressOf(to);
  if (address !== location.hash) history.pushState(null, "", address);
  route.value = to;
}

/** Goes to a place without a step of its own; the address follows when the moving ends. */
export function slide(to: Route): void {
  route.value = to;
  clearTimeout(timer);
  timer = setTimeout(() => history.replaceState(null, "", addressOf(to)), settledAfterMs);
}
