import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Farewell } from "../kit/inside/store.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const later = <T>(milliseconds: number, answer: () => T): Promise<T> =>
  new Promise((resolve, reject) =>
    setTimeout(() => {
      try {
        resolve(answer());
      } catch (error) {
        reject(error as Error);
      }
    }, milliseconds),
  );

/** The message of what a call fails with. */
const messageOf = async (call: Promise<unknown>): Promise<string> =>
  call.then(String, (error: unknown) => (error instanceof Error ? error.message : String(error)));

const refused = new Error("the server refuses");
const refusing = (): never => {
  throw refused;
};
const isAnswer = (error: unknown): boolean => error === refused;

describe("a farewell that has begun", () => {
  it("gives up a server that is asked and silent for five seconds, and what is asked then", async () => {
    const farewell = new Farewell(isAnswer, (error) => error);
    farewell.begin();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(farewell.givenUp.aborted).toBe(false);
    const asked = messageOf(farewell.heard(() => new Promise(() => undefined)));
    await vi.advanceTimersByTimeAsync(4_900);
    expect(farewell.givenUp.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(farewell.givenUp.aborted).toBe(true);
    expect(await asked).toContain("silent for 5 s");
    await expect(farewell.heard(async () => 1)).rejects.toMatchObject({ code: "closed" });
  });

  it("counts five seconds anew from each answer, also from one that refuses", async () => {
    const farewell = new Farewell(isAnswer, (error) => error);
    farewell.begin();
    for (let round = 0; round < 4; round++) {
      const refusal = messageOf(farewell.heard(() => later(50, refusing)));
      await vi.advanceTimersByTimeAsync(4_900);
      expect(await refusal).toBe(refused.message);
      const answer = farewell.heard(() => later(4_800, () => "yes"));
      await vi.advanceTimersByTimeAsync(4_900);
      expect(await answer).toBe("yes");
      await vi.advanceTimersByTimeAsync(20_000);
    }
    expect(farewell.givenUp.aborted).toBe(false);
  });

  it("gives up a server that is gone for five seconds, with the next that fails", async () => {
    const farewell = new Farewell(isAnswer, (error) => error);
    farewell.begin();
    const gone = (): Promise<never> =>
      later(10, () => {
        throw new Error("ECONNREFUSED");
      });
    for (const isLast of [false, true]) {
      const failed = messageOf(farewell.heard(gone));
      await vi.advanceTimersByTimeAsync(isLast ? 100 : 10_000);
      expect(await failed).toBe("ECONNREFUSED");
      expect(farewell.givenUp.aborted).toBe(isLast);
    }
  });
});
