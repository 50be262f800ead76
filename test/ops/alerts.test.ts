/** Alerts of seed 001 §8.1 and §8.3: limits, telling once, webhooks over real HTTP. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { alertsOf, AlertWatch, measureHealth, Webhook } from "windrow/ops";
import type { AlertEvent, Health } from "windrow/ops";
import { everybody, newSession, ramStore, stateOf } from "../kit/inside/store.ts";

const calm: Health = {
  time: "2024-01-15T10:30:00.000Z",
  sessions: 10,
  byStatus: { completed: 10 },
  work: {},
  running: 0,
  longRunning: 0,
  longest: [],
  failedShare: 0,
  averageDurationMs: 1_000,
  disk: { running: 0, completed: 0 },
};

describe("limits", () => {
  it.each([
    ["10 GB of disk", { disk: { running: 1e9, completed: 9e9 } }, []],
    ["more than 10 GB", { disk: { running: 1e9, completed: 9e9 + 1 } }, ["disk warning"]],
    ["50 GB", { disk: { running: 0, completed: 50e9 } }, ["disk warning"]],
    ["more than 50 GB", { disk: { running: 0, completed: 50e9 + 1 } }, ["disk critical"]],
    ["an unknown size", { disk: null }, []],
    ["10 % failed", { failedShare: 0.1 }, []],
    ["more than 10 % failed", { failedShare: 0.11 }, ["failures warning"]],
    ["nothing ended", { failedShare: null }, []],
    ["100 running", { running: 100 }, []],
    ["more than 100 running", { running: 101 }, ["stuck warning"]],
    ["one that runs long", { longRunning: 1, longest: ["550e8400-e29b"] }, ["long-running warning"]],
  ] as const)("%s", (_name, change, expected) => {
    expect(alertsOf({ ...calm, ...change }).map(({ name, level }) => `${name} ${level}`)).toEqual(expected);
  });

  it("can be set", () => {
    const health = { ...calm, running: 5, failedShare: 0.3 };
    expect(alertsOf(health, { stuck: 4, failedShare: 0.5 }).map(({ name }) => name)).toEqual(["stuck"]);
  });
});

it("tells an alert when it begins, when its level changes, and when it is over", () => {
  const watch = new AlertWatch();
  const look = (bytes: number): readonly string[] =>
    watch
      .update(alertsOf({ ...calm, disk: { running: bytes, completed: 0 } }))
      .map((event) => `${event.type} ${event.level}`);
  expect(look(11e9)).toEqual(["alert-raised warning"]);
  expect(look(12e9)).toEqual([]);
  expect(look(51e9)).toEqual(["alert-raised critical"]);
  expect(look(12e9)).toEqual(["alert-raised warning"]);
  expect(look(1e9)).toEqual(["alert-cleared warning"]);
  expect(look(1e9)).toEqual([]);
});

it("measures a store: shares, and who has run six hours", async () => {
  const store = ramStore();
  const begin = async (startedAt: string): Promise<string> => {
    const lock = await store.create(everybody, newSession({ createdAt: startedAt }));
    await store.setState(lock, { ...stateOf("processing"), startedAt });
    return lock.id;
  };
  const early = await begin("2024-01-15T04:00:00.000Z");
  await begin("2024-01-15T04:00:01.000Z");
  for (const status of ["completed", "failed", "timeout", "completed"] as const) {
    await store.finish(await store.create(everybody, newSession()), stateOf(status));
  }
  const health = await measureHealth(store, { now: () => new Date("2024-01-15T10:00:00.000Z") });
  expect(health).toMatchObject({ sessions: 6, running: 2, longRunning: 1, longest: [early], failedShare: 0.25 });
});

/** A server with this answer; its host. */
async function open(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that answers with these statuses, one after the other, then 200; and what it was sent. */
async function receiver(...statuses: readonly number[]): Promise<{ url: string; bodies: unknown[] }> {
  const bodies: unknown[] = [];
  const host = await open(async (request, response) => {
    bodies.push(await json(request));
    response.writeHead(statuses[bodies.length - 1] ?? 200).end();
  });
  return { url: `http://${host}/hook?token=s3cret`, bodies };
}

const raised: AlertEvent = {
  type: "alert-raised",
  name: "disk",
  level: "warning",
  value: 11e9,
  limit: 10e9,
  message: "Sessions take 11.0 GB.",
};
const time = new Date("2024-01-15T10:30:00.000Z");

describe("a webhook", () => {
  it("is told, and told again while its server is in trouble", async () => {
    const { url, bodies } = await receiver(503, 429);
    const waits: number[] = [];
    const sleep = async (milliseconds: number): Promise<void> => void waits.push(milliseconds);
    expect(await new Webhook({ url, sleep }).send([raised], time)).toBeUndefined();
    expect(waits).toEqual([1_000, 2_000]);
    expect(bodies).toHaveLength(3);
    const text = "Alert (warning): Sessions take 11.0 GB.";
    expect(bodies[2]).toEqual({ source: "windrow", time: "2024-01-15T10:30:00.000Z", ...raised, text });
  });

  it("that would not take it is told with the next look; its address stays secret", async () => {
    const { url, bodies } = await receiver(400);
    const webhook = new Webhook({ url });
    const failure = await webhook.send([raised], time);
    expect(failure).toMatch(/^127\.0\.0\.1:\d+: status 400; 1 to tell it$/);
    expect(failure).not.toContain("s3cret");
    expect(await webhook.send([], time)).toBeUndefined();
    expect(bodies).toHaveLength(2);
  });

  it("is an address", () => {
    for (const url of ["nowhere", "file:///etc/passwd"]) {
      expect(() => new Webhook({ url }), url).toThrow(expect.objectContaining({ code: "bad-option" }) as Error);
    }
  });
});

describe("a webhook with secrets in its address", () => {
  it("is told with its user and password as a header, and follows no redirect", async () => {
    const asked: (string | undefined)[] = [];
    const elsewhere: string[] = [];
    const other = await open((request, response) => {
      elsewhere.push(request.method ?? "");
      response.end();
    });
    const host = await open((request, response) => {
      asked.push(request.headers.authorization);
      const away = request.url?.startsWith("/away") === true;
      response.writeHead(away ? 307 : 200, away ? { location: `http://${other}/` } : {}).end();
    });
    const basic = `Basic ${Buffer.from("hook:S3cret").toString("base64")}`;
    const webhook = new Webhook({ url: `http://hook:S3cret@${host}/x?token=abc` });
    expect(await webhook.send([raised], time)).toBeUndefined();
    expect(asked).toEqual([basic]);
    const away = await new Webhook({ url: `http://hook:S3cret@${host}/away?token=abc` }).send([raised], time);
    expect(away?.startsWith(`${host}: status 307`)).toBe(true);
    expect(elsewhere).toEqual([]);
  });

  it("that cannot be reached stops nothing, and is named by its host alone", async () => {
    const url = "http://hook:S3cret@127.0.0.1:9/S3cret?token=S3cret";
    const failure = await new Webhook({ url, sleep: async () => undefined }).send([raised], time);
    expect(failure).toMatch(/^127\.0\.0\.1:9: .*1 to tell it$/);
    expect(failure).not.toContain("S3cret");
  });
});
