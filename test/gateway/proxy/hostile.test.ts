/** Broken bytes from both sides, at random: the gateway answers or hangs up, and goes on. */
import { connect } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { answerOf, ask, chunkOf, rawUpstream, requestOf, staged } from "./stage.ts";
import { talkApi, talkLines } from "./talk.ts";

const chunked = [
  ["Transfer-Encoding", "chunked"],
  ["Content-Type", "text/event-stream"],
] as const;
const answers: readonly Buffer[] = [
  Buffer.concat([answerOf("200 OK", chunked), chunkOf("begin "), chunkOf("END"), Buffer.from("0\r\nX: 1\r\n\r\n")]),
  answerOf(
    "200 OK",
    [
      ["Content-Length", "9"],
      ["Content-Encoding", "gzip"],
    ],
    "begin END",
  ),
  answerOf(
    "400 Bad Request",
    [
      ["Content-Length", "4"],
      ["Trailer", "x"],
    ],
    "oops",
  ),
  answerOf("304 Not Modified", [
    ["ETag", "x"],
    ["Trailer", "x"],
  ]),
  answerOf(
    "101 Switching Protocols",
    [
      ["Upgrade", "websocket"],
      ["Connection", "upgrade"],
    ],
    "data",
  ),
  Buffer.concat([answerOf("100 Continue", []), answerOf("200 OK", [["Content-Length", "3"]], "END")]),
  answerOf("200 OK", [["Content-Length", "3"]], "END and more than was told"),
  answerOf("200 OK", [["Connection", "close"]], "until the END"),
  answerOf("999 \u0001odd", [["x-a", "caf\u00e9"]], "x"),
];
const requests: readonly Buffer[] = [
  requestOf("/v1/messages", [["Content-Type", "application/json"]], "{}"),
  requestOf(
    "/v1/messages",
    [
      ["Content-Type", "application/json"],
      ["Content-Encoding", "gzip"],
    ],
    "{}",
  ),
  Buffer.concat([requestOf("/v1/files", [["Transfer-Encoding", "chunked"]]), chunkOf("abc"), Buffer.from("0\r\n\r\n")]),
  requestOf("/v1/models", [["Expect", "100-continue"]], "", "GET"),
  requestOf("/v1/models", [], "", "HEAD"),
  requestOf("/-/metrics", [], "", "GET"),
];

/** Bytes that were changed, cut or doubled in places. */
const damaged = (whole: readonly Buffer[]): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      fc.constantFrom(...whole),
      fc.array(fc.tuple(fc.nat(400), fc.constantFrom(...Array.from("\u0000\r\n: ,;0aZ\u00ff"))), { maxLength: 3 }),
      fc.option(fc.nat(400)),
    )
    .map(([bytes, changes, cut]) => {
      const copy = Buffer.from(bytes);
      for (const [place, byte] of changes) copy.write(byte, place % copy.length, "latin1");
      return cut === null ? copy : copy.subarray(0, cut % (copy.length + 1));
    });

it("survives every kind of nonsense", { timeout: 120_000 }, async () => {
  let answer = answers[0]!;
  let isRight = false;
  const upstream = await rawUpstream((socket) => {
    if (isRight) return void socket.write(answers[0]!);
    socket.write(answer, () => socket.end());
  });
  const lines = talkLines(() => ({ again: async () => Buffer.from("{}") })).lines;
  const { port } = await staged(upstream.url, { apis: [talkApi().api], lines, limits: { silenceMs: 50, keepMs: 5 } });
  const property = fc.asyncProperty(
    damaged(requests),
    damaged(answers),
    fc.boolean(),
    async (request, given, leaves) => {
      answer = given;
      const client = connect(port, "127.0.0.1");
      client.on("error", () => undefined);
      await new Promise<void>((resolve) => {
        client.once("close", resolve);
        client.write(request, () => (leaves ? client.destroy() : client.end()));
        client.resume();
      });
    },
  );
  await fc.assert(property, { numRuns: 150 });
  isRight = true;
  expect((await ask(port, requests[0]!)).body.toString()).toBe("begin END");
});
