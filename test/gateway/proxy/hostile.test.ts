/** Broken bytes from both sides, at random: the gateway answers or hangs up, and goes on. */
import { connect } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { answerOf, chunked, chunkOf, requestOf, sized } from "./stage.ts";
import { talked, talkLines } from "./talk.ts";

const type = "Content-Type: application/json";
const whole = Buffer.concat([answerOf("200 OK", [chunked]), chunkOf("begin "), chunkOf("END"), chunkOf("")]);
const answers: readonly Buffer[] = [
  Buffer.concat([answerOf("200 OK", [chunked]), chunkOf("begin "), chunkOf("END"), Buffer.from("0\r\nX: 1\r\n\r\n")]),
  sized("200 OK", "begin END", ["Content-Encoding: gzip"]),
  sized("400 Bad Request", "oops", ["Trailer: x"]),
  answerOf("304 Not Modified", ["ETag: x", "Trailer: x"]),
  answerOf("101 Switching Protocols", ["Upgrade: websocket", "Connection: upgrade"], "data"),
  Buffer.concat([answerOf("100 Continue"), sized("200 OK", "END")]),
  answerOf("200 OK", ["Content-Length: 3"], "END and more than was told"),
  answerOf("200 OK", ["Connection: close"], "until the END"),
  answerOf("999 \u0001odd", ["x-a: caf\u00e9"], "x"),
];
const requests: readonly Buffer[] = [
  requestOf("/v1/messages", [type], "{}"),
  requestOf("/v1/messages", [type, "Content-Encoding: gzip"], "{}"),
  Buffer.concat([requestOf("/v1/files", [chunked]), chunkOf("abc"), chunkOf("")]),
  requestOf("/v1/models", ["Expect: 100-continue"], "", "GET"),
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
  let answer: Buffer | undefined;
  const talk = talkLines(() => ({ again: async () => Buffer.from("{}") }));
  const { port, say } = await talked(
    (socket) => void (answer ? socket.write(answer, () => socket.end()) : socket.write(whole)),
    { talk, limits: { silenceMs: 50, keepMs: 5 } },
  );
  const property = fc.asyncProperty(damaged(requests), damaged(answers), fc.boolean(), async (sent, given, leaves) => {
    answer = given;
    const client = connect(port, "127.0.0.1");
    client.on("error", () => undefined);
    await new Promise<void>((resolve) => {
      client.once("close", resolve);
      client.write(sent, () => (leaves ? client.destroy() : client.end()));
      client.resume();
    });
  });
  await fc.assert(property, { numRuns: 150 });
  answer = undefined;
  expect((await say()).body.toString()).toBe("begin END");
});
