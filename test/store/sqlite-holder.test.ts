import { describe, expect, it } from "vitest";
import { heldBy, livenessOf, ownIdentity } from "../kit/inside/store.ts";
import type { Holder } from "../kit/inside/store.ts";

const heartbeatAt = "2024-01-15T10:30:00.000Z";
const isHeld = (holder: Holder, silentMs: number): boolean =>
  heldBy({ holder: { ...holder, taking: "" }, silentMs }) !== undefined;
const me: Holder = { ...ownIdentity(), acquiredAt: heartbeatAt, heartbeatAt, generation: 1 };

describe.runIf(process.platform === "linux")("the holder of a session", () => {
  it("that is this process lives, however old its heartbeat is", () => {
    expect(livenessOf(me)).toBe("alive");
    expect(isHeld(me, 1e9)).toBe(true);
  });

  it("is not the process that has its number now", () => {
    expect(livenessOf({ ...me, processStart: "1" })).toBe("gone");
  });

  it.each([
    ["in another container", { namespace: "pid:[1]" }],
    ["on another machine", { hostname: "elsewhere" }],
    ["before the system was started anew", { bootId: "another" }],
  ])("%s cannot be seen: its heartbeat decides, for a minute", (_where, difference) => {
    const holder = { ...me, ...difference, processId: 1 };
    expect(livenessOf(holder)).toBe("unknown");
    expect([60_000, 60_001].map((silentMs) => isHeld(holder, silentMs))).toEqual([true, false]);
  });

  it("of a system that tells no start times is gone when no process has its number, else its heartbeat decides", () => {
    expect(livenessOf({ ...me, processStart: null })).toBe("unknown");
    expect(livenessOf({ ...me, processStart: null, processId: 0x3f_ff_ff_ff })).toBe("gone");
  });
});
