import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { beforeEach, expect, test, vi } from "vitest";
import { passingBody, wholeBody } from "../../kit/inside/gateway.ts";

const pace = { silenceMs: 50, leastRate: 8 };
const hour = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });
  return () => void vi.useRealTimers();
});

test("a clock that is set forward gives no body up that comes in time", async () => {
  const request = new IncomingMessage(new Socket());
  const read = wholeBody(request, 10_000, pace);
  await vi.advanceTimersByTimeAsync(20);
  vi.setSystemTime(Date.now() + hour);
  request.push(Buffer.alloc(1_000, "a"));
  await vi.advanceTimersByTimeAsync(40);
  request.push(null);
  await vi.advanceTimersByTimeAsync(1);
  expect(await read).toHaveLength(1_000);
});

test("a clock that is set back lets no body hang", async () => {
  const request = new IncomingMessage(new Socket());
  const read = wholeBody(request, 10_000, pace);
  request.push("a");
  await vi.advanceTimersByTimeAsync(20);
  vi.setSystemTime(Date.now() - hour);
  await vi.advanceTimersByTimeAsync(200);
  expect(await read).toBe("slow");
});

test("a body that passes is given up where its client is slow, and not where the upstream is", async () => {
  const request = new IncomingMessage(new Socket());
  const { stream, isSlow } = passingBody(request, pace);
  request.push(Buffer.alloc(100_000));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(isSlow()).toBe(false);
  stream.resume();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(isSlow()).toBe(true);
});
