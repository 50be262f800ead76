import { describe, expect, it } from "vitest";
import { Progress } from "../kit/inside/cli.ts";

/** A progress whose clock stands where the test puts it, and what it wrote. */
function stage(isTTY: boolean): { at: (ms: number, done: number) => void; end: () => void; written: () => string } {
  let written = "";
  let now = 0;
  const stderr = {
    isTTY,
    columns: 80,
    write: (text: string) => (written += text),
    cursorTo: () => undefined,
    clearLine: () => undefined,
    on: () => undefined,
    removeListener: () => undefined,
  };
  const progress = new Progress({ stdout: { write: () => undefined }, stderr, env: {} }, () => now);
  return {
    at: (ms, done) => {
      now = ms;
      progress.update("a session", done, 1_000);
    },
    end: () => progress.end(),
    written: () => written,
  };
}

describe("progress", () => {
  it("says nothing of what ends within a second", () => {
    const { at, end, written } = stage(false);
    at(500, 1);
    at(999, 999);
    end();
    expect(written()).toBe("");
  });

  it("writes a line every few seconds where there is no terminal", () => {
    const { at, written } = stage(false);
    for (let ms = 0; ms <= 12_000; ms += 100) at(ms, ms / 12);
    expect(written().match(/^a session: .* of 1,000$/gm)).toHaveLength(3);
  });

  it("draws a bar in a terminal", () => {
    const { at, end, written } = stage(true);
    at(1_500, 250);
    at(2_500, 500);
    end();
    expect(written()).toMatch(/50 %\s+a session/);
  });
});
