import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { AnswerLoop } from "windrow/gateway";
import { Looped } from "../../kit/inside/gateway.ts";

/** A response whose client takes nothing. */
class FullResponse extends EventEmitter {
  readonly destroyed = false;
  readonly written: string[] = [];
  writeHead(): void {}
  flushHeaders(): void {}
  write(bytes: Buffer): boolean {
    this.written.push(String(bytes));
    return false;
  }
}

test("a slow client holds the upstream back once, and lets it go on once", () => {
  const response = new FullResponse();
  const told: string[] = [];
  const loop: AnswerLoop = {
    silenceMs: 1_000,
    ping: Buffer.alloc(0),
    after: () => () => undefined,
    begin: () => true,
    push: (chunk) => chunk,
    end: async () => ({ bytes: Buffer.alloc(0) }),
    again: async () => undefined,
    fault: () => Buffer.alloc(0),
  };
  const looped = new Looped({
    response: response as unknown as ServerResponse,
    loop,
    note: "",
    isStream: true,
    errorBytes: 1_000,
    now: () => 0,
    pause: () => told.push("pause"),
    resume: () => told.push("resume"),
    dispatch: () => undefined,
  });
  const head = { status: 200, statusText: "OK", raw: [], headers: {} };
  expect(Looped.takes(loop, head)).toBe(true);
  looped.begin(head, 0);
  for (let n = 0; n < 20; n++) looped.data(Buffer.from(String(n)));
  expect(response.listenerCount("drain")).toBe(1);
  expect(told).toEqual(["pause"]);
  response.emit("drain");
  expect(told).toEqual(["pause", "resume"]);
  looped.data(Buffer.from("more"));
  expect(told).toEqual(["pause", "resume", "pause"]);
  // The head goes out with an empty write.
  expect(response.written.filter((piece) => piece !== "")).toHaveLength(21);
});
