/** Rounds of the recall loop that break off: the client is told so, in the way in which it can ask again. */
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import type { Json } from "../fake/json.ts";
import { answerOf, headerOf, rawUpstream } from "../proxy/stage.ts";
import { loopStage, post } from "./stage.ts";
import type { Stage } from "./stage.ts";

const recall = { type: "tool_use", id: "toolu_r", name: "windrow_recall", input: { id: "m1" } };
const usage = { input_tokens: 10, output_tokens: 2 };
const message = { id: "msg_1", type: "message", role: "assistant", model: "m", usage };

const types = { whole: "application/json", stream: "text/event-stream" } as const;

type Form = keyof typeof types;

const forms = ["whole", "stream"] as const;

/** An answer that calls the tool and nothing else. */
const recalling = {
  whole: JSON.stringify({ ...message, content: [recall], stop_reason: "tool_use" }),
  stream: [
    { type: "message_start", message: { ...message, content: [] } },
    { type: "content_block_start", index: 0, content_block: { ...recall, input: {} } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(recall.input) },
    },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(""),
} as const;

const half = {
  whole: '{"id":"msg_2","type":"message","content":[',
  stream: `event: message_start\ndata: ${JSON.stringify({ type: "message_start", message: { ...message, content: [] } })}\n\n`,
} as const;

const long = JSON.stringify({
  type: "error",
  error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
});

/** What an upstream does with one request. */
type Act = (socket: Socket, form: Form) => void;

const say = (socket: Socket, status: string, type: string, body: string, length = body.length): void =>
  void socket.write(answerOf(status, [`Content-Type: ${type}`, `Content-Length: ${length}`], body));

const refuses: Act = (socket) => say(socket, "400 Bad Request", types.whole, long);
const recalls: Act = (socket, form) => say(socket, "200 OK", types[form], recalling[form]);
const isCut: Act = (socket, form) => {
  say(socket, "200 OK", types[form], half[form], 10_000);
  socket.end();
};
const isCutInEvent: Act = (socket, form) => {
  say(socket, "200 OK", types[form], `${half[form]}event: content_block_start\ndata: {"type":"content_bl`, 10_000);
  socket.end();
};
const isHalf: Act = (socket, form) => say(socket, "200 OK", types[form], half[form]);

async function course(form: Form, acts: readonly Act[]): Promise<Stage> {
  const upstream = await rawUpstream((socket, _request, count) => acts[count - 1]?.(socket, form));
  const stage = await loopStage({ upstream: upstream.url });
  stage.toy.again = () => Buffer.from("{}");
  return stage;
}

const ask = ({ url }: Stage, form: Form, more: Readonly<Record<string, string>> = {}): Promise<Response> =>
  post(url, "anthropic", form === "stream", { headers: more });

test.each(forms)("a smaller body that is taken and breaks off breaks the answer off, and is kept: %s", async (form) => {
  const stage = await course(form, [refuses, isCut]);
  const answer = ask(stage, form).then((response) => response.text());
  await expect(answer).rejects.toThrow(/fetch failed|terminated/);
  expect(await stage.event(1)).toMatchObject({ outcome: "failed" });
  expect(stage.toy.kept.map(({ status, answer: { isComplete } }) => [status, isComplete])).toEqual([[200, false]]);
});

test("a smaller body with a later round that breaks off ends a stream with an error", async () => {
  const stage = await course("stream", [refuses, recalls, isCut]);
  expect(await (await ask(stage, "stream")).text()).toContain("broke off behind a recall");
  expect(await stage.event(1)).toMatchObject({ outcome: "failed" });
});

test.each([
  ["breaks off", isCut],
  ["ends in the middle", isHalf],
] as const)("a later round in one body that %s is an error by its status too", async (_what, act) => {
  const stage = await course("whole", [recalls, act]);
  const response = await ask(stage, "whole");
  expect(response.status).toBe(502);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect((await response.json()) as Json).toMatchObject({ type: "error", error: { type: "api_error" } });
  expect(await stage.event(1)).toMatchObject({ status: 502 });
});

test.each(forms)("a later round whose smaller body is refused too tells the first error: %s", async (form) => {
  const stage = await course(form, [recalls, refuses, (socket) => say(socket, "422 Oh", types.whole, "{}"), refuses]);
  const response = await ask(stage, form);
  const [status, told] = form === "stream" ? [200, "refused to go on behind a recall (400)"] : [400, long];
  expect(response.status).toBe(status);
  expect(await response.text()).toContain(told);
  expect(stage.toy.kept).toMatchObject([{ status: 200 }, { status: 422, isRefusedAgain: true }]);
});

test("an event in which a later round breaks off is no event of the answer", async () => {
  const stage = await course("stream", [recalls, isCutInEvent]);
  const events = (await (await ask(stage, "stream")).text()).split("\n\n").filter((event) => event !== "");
  for (const event of events) expect(() => JSON.parse(/^data: (.*)$/m.exec(event)![1]!) as Json).not.toThrow();
  expect(events.at(-1)).toContain("broke off behind a recall");
});

test("an answer that the loop has to read is asked for in a coding that it can read", async () => {
  const asked: string[] = [];
  const upstream = await rawUpstream((socket, request, count) => {
    asked.push(headerOf(request, "accept-encoding") ?? "");
    (count === 1 ? recalls : isHalf)(socket, "whole");
  });
  const stage = await loopStage({ upstream: upstream.url });
  await ask(stage, "whole", { "accept-encoding": "unheard-of, gzip;q=0.5, *;q=0.1" });
  await ask(stage, "whole", { "accept-encoding": "unheard-of" });
  expect(asked).toEqual(["gzip;q=0.5", "gzip;q=0.5", "identity"]);
});
