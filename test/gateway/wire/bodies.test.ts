/** Bodies with other messages, and what is remembered of bytes. */
import { describe, expect, it } from "vitest";
import type { WireApi, WireRequest } from "../../../src/gateway/gateway.ts";
import { anthropicMessages } from "../../../src/gateway/wire/anthropic/anthropic.ts";
import { Remembered } from "../../../src/gateway/wire/remembered.ts";

function read(api: WireApi, body: object | string, headers: Record<string, string> = {}): WireRequest {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const request = api.read({ method: "POST", path: "/", headers, body: Buffer.from(text) });
  if (!request) throw new Error("the request was not read");
  return request;
}

const hi = { role: "user", content: "hi" };

describe("a written body", () => {
  const first = '{ "role" : "user", "content":"\\u0061 1.0", "odd": 1.0e2 }';
  const second = '{"role":"assistant","content":[{"type":"text","text":"OK"}]}';
  const third = '{"content":"hi","role":"user", "big": 12345678901234567890}';
  const text = `{"model":"m", "messages" : [ ${first} ,\n\t${second},${third} ] , "temperature":1.0,"tools":[ ]}\n`;
  const request = read(anthropicMessages, text);
  const [one, two, three] = request.messages;
  if (!one || !two || !three) throw new Error("the request has three messages");
  const written = (messages: Parameters<WireApi["write"]>[1]): string =>
    anthropicMessages.write(request, messages).toString();
  const around = (inside: string): string =>
    `{"model":"m", "messages" : [${inside}] , "temperature":1.0,"tools":[ ]}\n`;

  it("is the very buffer where nothing changed", () => {
    expect(anthropicMessages.write(request, request.messages)).toBe(request.call.body);
  });

  it("keeps neighbours and what stands between them", () => {
    expect(written([one, two])).toBe(around(`${first} ,\n\t${second}`));
    expect(written([two, three])).toBe(around(`${second},${third}`));
    expect(written([one, three])).toBe(around(`${first},${third}`));
    expect(written([three, one])).toBe(around(`${third},${first}`));
    expect(written([one, one])).toBe(around(`${first},${first}`));
    expect(written([])).toBe(around(""));
  });

  it("has new messages as JSON among the old ones", () => {
    const made = { role: "user", content: "Zusammenfassung 🌾 \ud800" };
    expect(written([one, { made }, three])).toBe(around(`${first},${JSON.stringify(made)},${third}`));
    expect(written([{ made }, two, three, { made }])).toBe(
      around(`${JSON.stringify(made)},${second},${third},${JSON.stringify(made)}`),
    );
  });

  it("takes messages of another request by their bytes", () => {
    const [other] = read(anthropicMessages, { messages: [hi] }).messages;
    expect(written(other ? [other, two] : [])).toBe(around(`${JSON.stringify(hi)},${second}`));
  });

  it("has what an empty list is given", () => {
    const empty = read(anthropicMessages, '{"messages":[ ],"a":1}');
    expect(anthropicMessages.write(empty, [])).toBe(empty.call.body);
    expect(anthropicMessages.write(empty, [{ made: hi }]).toString()).toBe(
      `{"messages":[${JSON.stringify(hi)}],"a":1}`,
    );
  });
});

describe("Remembered", () => {
  it("reads bytes once, and forgets what was not asked for longest", () => {
    const memory = new Remembered(20_000);
    const calls: string[] = [];
    const ask = (name: string, kind = "a"): void => {
      memory.of(kind, Buffer.from(name.padEnd(4_000, ".")), () => calls.push(name));
    };
    for (const name of ["1", "2", "3", "1", "4", "5", "1", "2"]) ask(name);
    expect(calls).toEqual(["1", "2", "3", "4", "5", "2"]);
    expect(memory.bytes).toBeLessThanOrEqual(20_000);
    ask("1", "b");
    expect(calls).toHaveLength(7);
  });

  it("keeps nothing that is larger than a quarter of it", () => {
    const memory = new Remembered(1_000);
    memory.of("a", Buffer.alloc(600), () => 1);
    expect(memory.bytes).toBe(0);
  });
});
