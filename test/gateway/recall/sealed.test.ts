/** Hidden rounds are found again by hashes that say nothing to whoever reads the store. */
import { expect, test } from "vitest";
import { placeTrace, saidTurn, TurnStore } from "../../kit/inside/gateway.ts";
import type { KnownTurns } from "../../kit/inside/gateway.ts";
import { ramStore } from "../../kit/inside/store.ts";
import { listed } from "../../kit/sessions.ts";

const secrets = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)] as const;
const turn = saidTurn({ text: "The password is hunter2.", calls: [] }, ["call_1"], ["signature"]);
const traces = [placeTrace("before", turn.said), ...turn.traces];

async function kept(): Promise<(secret: Buffer) => Promise<KnownTurns>> {
  const store = ramStore();
  const first = new TurnStore(store, secrets[0]);
  const turns = await first.of("tenant", "s");
  await turns.begin("opening");
  await turns.keep({ said: turn.said, traces, messages: [{ role: "assistant", content: "Read." }], pending: [] });
  await turns.keepBehindLost(["c:call_2"]);
  await first.close();
  const [only] = await listed(store.list({}));
  const texts = (await listed(store.read({}, only!.metadata.uuid, { kind: "edit" }))).map((edit) =>
    JSON.stringify(edit),
  );
  expect(texts).toHaveLength(3);
  for (const plain of [turn.said, 'opening"', ...traces.map((trace) => trace.slice(2)), "call_2"])
    expect(texts.filter((text) => text.includes(plain) && !text.includes(`"${plain}:`))).toEqual([]);
  return (secret) => new TurnStore(store, secret).of("tenant", "s");
}

test("a restart with the secret finds them by each trace, and tells a turn that was written anew", async () => {
  const turns = await (await kept())(secrets[0]);
  for (const trace of traces)
    expect(turns.find([trace], turn.said)).toMatchObject({ messages: [{ content: "Read." }] });
  expect(turns.find(traces, saidTurn({ text: "Written anew.", calls: [] }, [], []).said)).toBe("lost");
  expect([turns.hasBegun("opening"), turns.hasBegun("other")]).toEqual([true, false]);
  expect([turns.isBehindLost(["c:call_2"]), turns.isBehindLost(["c:call_1"])]).toEqual([true, false]);
});

test("without the secret nobody can tell what was said", async () => {
  const turns = await (await kept())(secrets[1]);
  expect(turns.find(traces, turn.said)).toBeUndefined();
  expect([turns.hasBegun("opening"), turns.isBehindLost(["c:call_2"])]).toEqual([false, false]);
});
