/** A replay as a file: its rows, their windows as they were composed, and nothing of a secret. */
import { describe, expect, it } from "vitest";
import { loadCounter } from "windrow";
import type { Message } from "windrow";
import { replay } from "windrow/transcript";
import type { ReplayOptions } from "windrow/transcript";
import { encodeReplay } from "windrow/viewer";
import type { ViewerMessage, ViewerSource } from "windrow/viewer";
import { codingSession } from "../kit/inside/message.ts";
import type { ReplayedWindow } from "../kit/inside/replay.ts";
import type { Transcript } from "../kit/inside/transcript.ts";
import { cutParts, fileSource, windowText } from "../kit/inside/viewer.ts";
import { wholeWindow } from "./windows.ts";

const transcript: Transcript = {
  id: "made-by-hand",
  format: "windrow",
  model: "a-model",
  messages: codingSession(40, 20),
  problems: [],
};

async function options(): Promise<ReplayOptions> {
  const counter = await loadCounter("estimate");
  return { strategies: ["none", "sliding-window", "adaptive"], budgets: [4_000], profile: "anthropic", counter };
}

async function encoded(of: Transcript = transcript): Promise<{ source: ViewerSource; id: string; json: string }> {
  const { file } = await encodeReplay(of, await options());
  const json = JSON.stringify({ version: 1, sessions: [file] });
  return { source: fileSource(JSON.parse(json)), id: file.session.id, json };
}

describe("a replay's file", () => {
  it("has the recorded row, and one for each strategy and budget", async () => {
    const { source, id } = await encoded();
    const rows = await source.replay(id);
    expect(rows.map(({ name, budget, hasWindows }) => [name, budget, hasWindows])).toEqual([
      ["as recorded", null, false],
      ["none", null, true],
      ["sliding-window", 4_000, true],
      ["adaptive", 4_000, true],
    ]);
    const { results } = await replay(transcript, await options());
    expect(rows[3]?.figures).toMatchObject({ tokensAverage: results[2]?.tokens.average, epochs: results[2]?.epochs });
    expect(rows[2]?.misses.length).toBeGreaterThan(0);
    expect(await source.session(id)).toMatchObject({ windows: "replayed", calls: 40 });
  });

  it("shows each window as the replay composed it", async () => {
    const windows: ReplayedWindow[] = [];
    await replay(transcript, { ...(await options()), onWindow: (window) => windows.push(window) });
    const { source, id } = await encoded();
    const logged = new Map<number, ViewerMessage>();
    for (const [row, strategy] of ["none", "sliding-window", "adaptive"].entries()) {
      const own = windows.filter((window) => window.strategy === strategy);
      expect((await source.calls(id, 1, 1, row + 1)).total).toBe(own.length);
      for (const [place, { composed }] of own.entries()) {
        const window = await source.window(id, place + 1, { row: row + 1 });
        const shown = await wholeWindow(source, id, window, logged);
        const expected = composed.messages.map((message) => ({ ...message, ...cutParts(0, message.parts, Infinity) }));
        expect(windowText(shown)).toBe(windowText(expected));
        expect([window.tokens, window.epoch]).toEqual([composed.tokens, composed.report.epoch]);
      }
    }
  });

  it("says of every message up to a call what became of it", async () => {
    const { source, id } = await encoded();
    const { calls } = await source.calls(id, 1, 40, 3);
    for (const { call, lastSeq } of calls) {
      const { fates } = await source.window(id, call, { row: 3 });
      let next = 1;
      for (const { from, to } of fates) {
        expect(from).toBe(next);
        next = to + 1;
      }
      expect(next).toBe(lastSeq + 1);
    }
    const epochs = await source.epochs(id, 3);
    expect(epochs.length).toBeGreaterThan(1);
    expect(epochs.at(-1)?.fates.some(({ fate }) => fate === "gone" || fate === "named" || fate === "quoted")).toBe(
      true,
    );
  });

  it("says no time, no usage and no money that its windows never had", async () => {
    const { source, id, json } = await encoded();
    expect(json.match(/.{60}1970-.{20}/g)).toBeNull();
    expect(await source.session(id)).toMatchObject({ startedAt: "", updatedAt: "" });
    expect((await source.session(id)).dollars).toBeUndefined();
    const timestamp = "2026-02-03T04:05:06.000Z";
    const timed = await encoded({ ...transcript, messages: transcript.messages.map((one) => ({ ...one, timestamp })) });
    expect((await timed.source.messages(timed.id, 1, 1))[0]?.timestamp).toBe(timestamp);
    expect(await timed.source.session(timed.id)).toMatchObject({ startedAt: timestamp });
  });

  it("counts the prefix that two calls share as it was predicted, where the window only grew", async () => {
    const sent = [{ at: 0, system: "You mend code. ".repeat(40) }];
    const { source, id } = await encoded({ ...transcript, sent });
    let grown = 0;
    for (let call = 2; call <= 40; call++) {
      const { cache, entries } = await source.window(id, call, { row: 3 });
      if (cache?.cause !== "the window only grew") continue;
      grown += 1;
      expect(cache.commonEntries).toBeLessThan(entries.length);
      expect(cache.commonTokens).toBe(cache.predicted);
    }
    expect(grown).toBeGreaterThan(5);
  });

  it("holds no secret, whole or in part of a digest", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const leak: Message = { id: "leak", role: "user", parts: [{ type: "text", text: `Use ${secret} for it.` }] };
    const { json } = await encoded({ ...transcript, messages: [leak, ...transcript.messages] });
    expect(json).not.toContain(secret.slice(0, 12));
    expect(json).toContain("[GITHUB_TOKEN");
  });
});
