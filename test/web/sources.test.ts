/** Means of the page to get its data: chunks, the least used forgotten, a stream that is opened again. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { LiveEvent, ViewerMessage } from "windrow/viewer";
import { Recent } from "../../web/model/lru.ts";
import { SourceFault } from "../../web/source/fault.ts";
import { followEvents } from "../../web/source/follow.ts";
import { chunksOf } from "../../web/state/chunks.ts";
import { loader } from "../../web/state/loaded.ts";
import { wholeMessage } from "../../web/state/whole.ts";

describe("chunks", () => {
  it("are asked for once, and give their rows when they came", async () => {
    const asked: string[] = [];
    const rows = chunksOf(10, 5, (from, to) => {
      asked.push(`${from}-${to}`);
      return Promise.resolve(Array.from({ length: 10 }, (_, place) => ({ seq: from + place })));
    });
    expect([rows.at(3), rows.at(4)]).toEqual([undefined, undefined]);
    expect((await rows.all([3, 14])).get(14)).toEqual({ seq: 14 });
    expect(rows.at(3)).toEqual({ seq: 3 });
    expect(asked).toEqual(["1-10", "11-20"]);
  });

  it("are asked for again where the log grew, and not where asking failed", async () => {
    let there = 3;
    let isBroken = false;
    let asked = 0;
    const rows = chunksOf(10, 5, (from) => {
      asked++;
      if (isBroken) return Promise.reject(new Error("gone"));
      return Promise.resolve(Array.from({ length: there }, (_, place) => ({ seq: from + place })));
    });
    await rows.all([1]);
    there = 5;
    expect(rows.at(5)).toBeUndefined();
    rows.forgetFrom(4);
    expect((await rows.all([5])).get(5)).toEqual({ seq: 5 });
    isBroken = true;
    await expect(rows.all([11])).rejects.toThrow("gone");
    const before = asked;
    rows.at(11);
    expect(asked).toBe(before);
  });
});

describe("what is kept", () => {
  it("is what was used last", () => {
    const kept = new Recent<string, number>(2);
    kept.set("a", 1);
    kept.set("b", 2);
    kept.get("a");
    kept.set("c", 3);
    expect([kept.get("a"), kept.get("b"), kept.get("c"), kept.size]).toEqual([1, undefined, 3, 2]);
  });

  it("is the answer to the newest question, whatever comes last", async () => {
    const answers = loader<string>();
    let late: (value: string) => void = () => undefined;
    const first = answers.ask(() => new Promise((resolve) => (late = resolve)));
    await answers.ask(() => Promise.resolve("second"));
    late("first");
    await first;
    expect(answers.state.value).toEqual({ value: "second", isLoading: false });
  });
});

describe("a question that another took the place of", () => {
  it("is asked again while it is the newest of its view", async () => {
    const answers = loader<string>();
    let asked = 0;
    await answers.ask(() =>
      ++asked === 1 ? Promise.reject(new DOMException("left", "AbortError")) : Promise.resolve("there"),
    );
    expect([asked, answers.state.value]).toEqual([2, { value: "there", isLoading: false }]);
  });

  it("is not, where it failed", async () => {
    const answers = loader<string>();
    await answers.ask(() => Promise.reject(new Error("no session")));
    expect(answers.state.value).toMatchObject({ error: new Error("no session"), isLoading: false });
  });
});

describe("the events of a session", () => {
  const event = (messages: number): LiveEvent => ({ messages, calls: 1, epochs: 0, status: "processing" });

  function stream(...pieces: readonly string[]): Response {
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        start(controller) {
          for (const piece of pieces) controller.enqueue(encoder.encode(piece));
          controller.close();
        },
      }),
    );
  }

  it("come whole from a stream in pieces, and what is no event is passed over", async () => {
    const seen: number[] = [];
    const left = new AbortController();
    const line = `data: ${JSON.stringify(event(2))}\n\n`;
    const open = (): Promise<Response> =>
      Promise.resolve(
        stream(
          ": follows\n\ndata: no json\n\n",
          line.slice(0, 9),
          line.slice(9),
          `data: ${JSON.stringify(event(3))}\n\n`,
        ),
      );
    await followEvents(
      open,
      {
        onEvent({ messages }) {
          seen.push(messages);
          if (messages === 3) left.abort();
        },
        onTrouble: () => undefined,
      },
      left.signal,
    );
    expect(seen).toEqual([2, 3]);
  });

  it("tell of a lost connection and of a session that is gone, and when it is over", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const told: (string | undefined)[] = [];
    const left = new AbortController();
    const answers = [
      () => Promise.reject(new TypeError("fetch failed")),
      () => Promise.reject(new SourceFault("status-401", "The token is old.")),
      () => Promise.resolve(stream(`event: error\ndata: {"error":{"code":"session-not-found","message":"Gone."}}\n\n`)),
      () => Promise.resolve(stream(`data: ${JSON.stringify(event(2))}\n\n`)),
    ];
    const followed = followEvents(
      () => answers.shift()?.() ?? Promise.reject(new Error("no more")),
      { onEvent: () => left.abort(), onTrouble: (words) => told.push(words) },
      left.signal,
    );
    await vi.advanceTimersByTimeAsync(60_000);
    await followed;
    expect(told[0]).toMatch(/^No connection to the server since \d\d:\d\d:\d\d/);
    expect(told.slice(1)).toEqual(["The token is old.", "Gone.", undefined]);
  });
});

describe("a message that was cut", () => {
  it("is whole again, its parts as they were", async () => {
    const long = "0123456789".repeat(200_000);
    const message: ViewerMessage = {
      seq: 4,
      id: "m",
      role: "tool",
      tokens: 1,
      parts: [
        {
          type: "tool-result",
          callId: "a",
          content: [
            { type: "text", text: "short" },
            { type: "text", text: long.slice(0, 20) },
          ],
        },
        { type: "text", text: "as it is" },
      ],
      cut: { "0.1": long.length },
    };
    const source = {
      text: (_id: string, _seq: number, _place: string, from: number, to: number) =>
        Promise.resolve(long.slice(from, to)),
    };
    const { parts, cut } = await wholeMessage(source, "s", message);
    expect(cut).toBeUndefined();
    expect(parts[0]).toMatchObject({ content: [{ text: "short" }, { text: long }] });
    expect(parts[1]).toEqual({ type: "text", text: "as it is" });
  });
});
