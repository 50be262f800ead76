/** Requests of real clients pass the gateway as they were sent, read or not. */
import { expect, it } from "vitest";
import { wireApis } from "windrow/gateway";
import { recordedIn, recordings } from "../recorded.ts";
import { ask, nameOf, requestOf, sized } from "./stage.ts";
import { talked } from "./talk.ts";

/** Headers that are the connection's, or are made anew for this one. */
const ofConnection = ["connection", "content-length", "host", "transfer-encoding", "upgrade", "te", "keep-alive"];

it.skipIf(recordings.length === 0)("every recorded request", { tags: ["slow"], timeout: 120_000 }, async () => {
  const { port, upstream, tenants } = await talked(sized("200 OK", "{}"), { apis: wireApis });
  const recorded = recordings.flatMap((name) => recordedIn(name));
  const requests = recorded.filter(({ path, body }) => path !== "(upgrade)" && body !== undefined);
  for (const { method, path, headers, body } of requests) {
    // Values were shortened by a sign that no header can hold.
    const given = Object.entries(headers).map((line) => line.join(": ").replaceAll(/[^\u0020-\u00ff]/g, "?"));
    const lasting = (line: string): boolean => !ofConnection.includes(nameOf(line));
    const sent = given.filter(lasting);
    const bytes = Buffer.from(method === "POST" ? JSON.stringify(body) : "");
    await ask(port, requestOf(path, sent, bytes, method), method);
    const got = upstream.requests.at(-1);
    expect(got?.line).toBe(`${method} ${path} HTTP/1.1`);
    expect(got?.body.equals(bytes), path).toBe(true);
    expect(got?.headers.filter(lasting)).toEqual(sent);
  }
  expect(upstream.requests).toHaveLength(requests.length);
  // Those with an API that is read were read, so that the bytes passed in spite of it.
  expect(tenants.length).toBeGreaterThan(100);
});
