/** Bodies with other messages, and what is remembered of bytes. */
import { describe, expect, it } from "vitest";
import type { WireApi, WireRequest } from "windrow/gateway";
import { anthropicMessages, bodyRanges, RecentBodies } from "../../kit/inside/gateway.ts";
import type { RecentBody } from "../../kit/inside/gateway.ts";

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

describe("a request that goes on from another", () => {
  const said = (n: number): object => ({ role: n % 2 === 0 ? "user" : "assistant", content: `message ${n}` });
  const list = (length: number): readonly object[] => Array.from({ length }, (_, n) => said(n));

  it("is read as one that comes alone", () => {
    for (const messages of [
      list(2),
      list(5),
      [...list(3), { role: "user", content: "another way" }],
      list(1),
      list(6),
    ]) {
      const { messages: known } = read(anthropicMessages, { model: "m", messages });
      // A member before the list makes the bytes other ones.
      const { messages: alone } = read(anthropicMessages, { alone: messages.length, model: "m", messages });
      expect(known.map(({ value, hash }) => ({ value, hash }))).toEqual(
        alone.map(({ value, hash }) => ({ value, hash })),
      );
      expect(known.map(({ raw }) => JSON.parse(raw.toString()) as unknown)).toEqual(messages);
    }
  });

  it("has the bytes of its own body", () => {
    read(anthropicMessages, { messages: list(3) });
    const second = read(anthropicMessages, { messages: list(4) });
    const written = anthropicMessages.write(second, second.messages.slice(1));
    expect(JSON.parse(written.toString())).toEqual({ messages: list(4).slice(1) });
  });

  const bodyWith = (...messages: readonly object[]): RecentBody => {
    const text = Buffer.from(JSON.stringify({ messages }));
    return {
      body: text,
      shape: "a",
      fields: {},
      ranges: bodyRanges(text, "messages")!,
      messages: messages.map((value) => ({ raw: text, value: { value: JSON.stringify(value) }, hash: "" })),
    };
  };

  it("begins with as many messages as are the same in the same places", () => {
    const bodies = new RecentBodies();
    bodies.add(bodyWith(...list(6)));
    const begun = (...messages: readonly object[]): number =>
      bodies.begun(bodyWith(...messages).body, "a")?.messages.length ?? 0;
    expect(begun(...list(9))).toBe(6);
    expect(begun(...list(6))).toBe(6);
    expect(begun(...list(4))).toBe(4);
    expect(begun(...list(3), said(9), said(4))).toBe(3);
    expect(begun(said(1), ...list(6))).toBe(0);
    expect(bodies.begun(bodyWith(...list(6)).body, "b")).toBeUndefined();
  });

  it("takes the place of the other one, and none is kept for long or beyond its number", () => {
    let now = 0;
    const bodies = new RecentBodies({ most: 2, idleMs: 1_000, now: () => now });
    const has = (...messages: readonly object[]): boolean =>
      bodies.begun(bodyWith(...messages).body, "a") !== undefined;
    const [one, two, three] = [5, 6, 7].map((n) => said(n * 10)) as [object, object, object];
    bodies.add(bodyWith(one));
    bodies.add(bodyWith(two));
    bodies.add(bodyWith(two, one));
    expect([has(one), has(two)]).toEqual([true, true]);
    bodies.add(bodyWith(three));
    expect([has(one), has(two), has(three)]).toEqual([false, true, true]);
    now = 2_000;
    bodies.add(bodyWith(one));
    expect([has(one), has(two), has(three)]).toEqual([true, false, false]);
  });
});
