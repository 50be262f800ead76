/** The cache before a model. */
import { describe, expect, it } from "vitest";
import { cached } from "windrow/model";
import { scripted } from "windrow/testing";

describe("cached", () => {
  it("answers the same request from memory, at no cost, for an hour", async () => {
    let time = 0;
    const model = scripted([{ text: "one", usage: { input: 5 } }, "two", "three"], { id: "m", contextWindow: 9_000 });
    const ask = cached(model, { now: () => time });
    expect(await ask({ prompt: "a" })).toEqual({ text: "one", usage: { input: 5 }, finish: "stop" });
    time = 3_599_999;
    expect(await ask({ prompt: "a" })).toEqual({ text: "one", usage: { input: 0, output: 0 }, finish: "stop" });
    time = 3_600_000;
    expect((await ask({ prompt: "a" })).text).toBe("two");
    expect((await ask({ prompt: "a" })).text).toBe("two");
    expect((await ask({ prompt: "b" })).text).toBe("three");
    expect({ ...ask }).toEqual({ id: "m", contextWindow: 9_000 });
    model.done();
  });

  it("tells requests apart by every byte", async () => {
    const requests = [
      { prompt: "a" },
      { prompt: "a " },
      { prompt: "A" },
      { prompt: "\u00e9" },
      { prompt: "e\u0301" },
      { prompt: "\ud800" },
      { prompt: "\ud801" },
      { system: "", prompt: "a" },
      { system: "a", prompt: "" },
      { prompt: "a", maxOutput: 1 },
    ];
    const model = scripted(requests.map((_, index) => `answer ${index}`));
    const ask = cached(model);
    for (const round of [1, 2]) {
      for (const [index, request] of requests.entries()) {
        expect((await ask(request)).text, `round ${round}`).toBe(`answer ${index}`);
      }
    }
    model.done();
  });

  it("remembers success alone", async () => {
    const model = scripted([new Error("overloaded"), { text: "half", finish: "length" }, " ", "whole"]);
    const ask = cached(model);
    await expect(ask({ prompt: "a" })).rejects.toThrow("overloaded");
    expect((await ask({ prompt: "a" })).text).toBe("half");
    expect((await ask({ prompt: "a" })).text).toBe(" ");
    expect((await ask({ prompt: "a" })).text).toBe("whole");
    expect((await ask({ prompt: "a" })).text).toBe("whole");
    model.done();
  });

  it("keeps to its size: what was used longest ago goes first", async () => {
    const model = scripted(["1111", "2222", "333", "2222 again", "x".repeat(20), "1111 again"]);
    const ask = cached(model, { maxBytes: 10 });
    const texts: string[] = [];
    for (const prompt of ["1", "2", "1", "3", "2", "big", "1"]) texts.push((await ask({ prompt })).text);
    expect(texts).toEqual(["1111", "2222", "1111", "333", "2222 again", "x".repeat(20), "1111 again"]);
    model.done();
  });
});

describe("scripted", () => {
  it("answers in order and keeps what it was asked", async () => {
    const model = scripted(["one", async ({ prompt }) => ({ text: prompt.toUpperCase(), finish: "length" })]);
    expect(await model({ prompt: "a" })).toEqual({ text: "one", usage: {}, finish: "stop" });
    expect(await model({ prompt: "b" })).toEqual({ text: "B", usage: {}, finish: "length" });
    expect(model.requests).toEqual([{ prompt: "a" }, { prompt: "b" }]);
    model.done();
  });

  it("fails on a call that it did not expect, also when its error was swallowed", async () => {
    const model = scripted([]);
    await expect(model({ prompt: "surprise" })).rejects.toThrow(/call 1 of 0 scripted: "surprise"/);
    expect(() => model.done()).toThrow(/surprise/);
  });

  it("fails on a step that was not used", async () => {
    const model = scripted(["one", "two"]);
    await model({ prompt: "a" });
    expect(() => model.done()).toThrow("1 of 2 steps were not used");
  });

  it("stops when the caller gave up", async () => {
    const call = scripted(["one"])({ prompt: "a" }, AbortSignal.abort());
    await expect(call).rejects.toHaveProperty("code", "aborted");
  });
});
