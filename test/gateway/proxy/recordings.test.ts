/** Requests of real clients pass the gateway as they were sent, read or not, where their recordings lie beside the repository. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { wireApis } from "windrow/gateway";
import { answerOf, ask, rawUpstream, requestOf, staged } from "./stage.ts";
import { talkLines } from "./talk.ts";

const places = ["../../../../..", "../../../.."].map((up) =>
  join(import.meta.dirname, up, "shared/gateway/recordings"),
);
const found = places.find((place) => existsSync(place));
if (found === undefined) console.log("The recordings of real clients are absent: their test is left out.");

interface Recorded {
  readonly request: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Headers that are the connection's, or are made anew for this one. */
const ofConnection = ["connection", "content-length", "host", "transfer-encoding", "upgrade", "te", "keep-alive"];

it.skipIf(found === undefined)("every recorded request", { tags: ["slow"], timeout: 120_000 }, async () => {
  const upstream = await rawUpstream(
    (socket) => void socket.write(answerOf("200 OK", [["Content-Length", "2"]], "{}")),
  );
  const { lines, tenants } = talkLines();
  const { port } = await staged(upstream.url, { apis: wireApis, lines });
  const files = readdirSync(found ?? "").filter((name) => name.endsWith(".json"));
  const recorded = files.flatMap((name) => JSON.parse(readFileSync(join(found ?? "", name), "utf8")) as Recorded[]);
  const requests = recorded.filter(({ request, body }) => !request.includes("upgrade") && body !== undefined);
  for (const { request, headers, body } of requests) {
    const [method = "", path = ""] = request.split(" ");
    // Values were shortened by a sign that no header can hold.
    const given = Object.entries(headers).map(
      ([name, value]) => [name, value.replaceAll(/[^\u0020-\u00ff]/g, "?")] as const,
    );
    const sent = given.filter(([name]) => !ofConnection.includes(name.toLowerCase()));
    const bytes = Buffer.from(method === "POST" ? JSON.stringify(body) : "");
    await ask(port, requestOf(path, sent, bytes, method), method);
    const got = upstream.requests.at(-1);
    expect(got?.line).toBe(`${method} ${path} HTTP/1.1`);
    expect(got?.body.equals(bytes), request).toBe(true);
    expect(got?.headers.filter(([name]) => !ofConnection.includes(name.toLowerCase()))).toEqual(sent);
  }
  expect(upstream.requests).toHaveLength(requests.length);
  // Those with an API that is read were read, so that the bytes passed in spite of it.
  expect(tenants.length).toBeGreaterThan(100);
});
