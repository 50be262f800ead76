/** Addresses of the page: every route comes back from its address, and a broken address leads somewhere. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressOf, parseRoute } from "../../web/model/route.ts";
import type { Route } from "../../web/model/route.ts";

const number = fc.integer({ min: 1, max: 999_999_999 });
const place = fc.oneof(
  fc.record({ id: fc.string({ minLength: 1, unit: "grapheme" }) }),
  fc.record({ id: fc.constant(""), row: fc.nat(50) }),
);
const view = fc.oneof(
  fc.record({ view: fc.constant("window" as const), call: number, seq: number }),
  fc.record({
    view: fc.constantFrom("window" as const, "text" as const, "map" as const, "epochs" as const),
    call: number,
  }),
  fc.record({ view: fc.constantFrom("window" as const, "recalls" as const, "requests" as const, "map" as const) }),
  fc.record({ view: fc.constant("diff" as const), other: number, call: number }),
);
const routes: fc.Arbitrary<Route> = fc.oneof(
  fc.constantFrom<Route>({ page: "fleet" }, { page: "replay" }),
  fc.tuple(place, view).map(([where, what]): Route => ({ page: "session", ...where, ...what })),
);

describe("addresses", () => {
  it("lead back to the route they were made of", () => {
    fc.assert(
      fc.property(routes, (route) => {
        expect(parseRoute(addressOf(route))).toEqual(route);
      }),
    );
  });

  it("are those of the documents", () => {
    expect(parseRoute("#/s/abc/call/57/m/120")).toEqual({
      page: "session",
      id: "abc",
      view: "window",
      call: 57,
      seq: 120,
    });
    expect(parseRoute("#/s/abc/diff/56/57")).toEqual({ page: "session", id: "abc", view: "diff", other: 56, call: 57 });
    expect(parseRoute("#/replay/row/2/call/57")).toEqual({ page: "session", id: "", row: 2, view: "window", call: 57 });
  });

  it("that say nothing lead to the list, and never throw", () => {
    expect(parseRoute("#/nowhere")).toEqual({ page: "fleet" });
    expect(parseRoute("#/s/%E0%A4%A")).toEqual({ page: "session", id: "%E0%A4%A", view: "window" });
    expect(parseRoute("#/s/abc/call/-1")).toEqual({ page: "session", id: "abc", view: "window" });
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseRoute(text)));
  });
});
