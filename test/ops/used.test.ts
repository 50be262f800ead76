/** What a monitor serves of the sessions' tokens, money and epochs. */
import { expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import type { Store } from "windrow";
import { measureHealth, serveMetrics, UsedTokens } from "windrow/ops";
import { ramStore } from "../kit/inside/store.ts";
import { over } from "../kit/stores.ts";

/** A store in which a model of the table, one without a price, and no model were asked. */
async function storeWithCalls(): Promise<Store> {
  const store = ramStore();
  const manager = await SessionManager.open({ store, budget: 2_000 });
  const session = await manager.create();
  for (let turn = 0; turn < 12; turn++) {
    await session.append(`${turn} ${"word ".repeat(300)}`);
    await session.compose();
    await session.endStep({
      usage: { input: 1_000, output: 100, cacheRead: 400 },
      model: turn % 2 === 0 ? "claude-sonnet-4-5" : "claude-sonnet-4-5-20250929",
    });
  }
  await session.finish("completed");
  const other = await manager.create();
  await other.append("hello");
  await other.compose();
  await other.endStep({ usage: { input: 50, output: 5 }, model: "house-model" });
  await other.endStep({ usage: { input: 7, output: 1 } });
  return store;
}

it("adds up tokens by model, under the table's id, and money where the price is known", async () => {
  const used = await new UsedTokens().measure(await storeWithCalls());
  const plain = 12 * 600;
  const unpriced = { calls: 1, cacheRead: 0, cacheWrite: 0, dollars: null, unpriced: 1 };
  const dollars = (plain * 3 + 12 * 400 * 0.3 + 12 * 100 * 15) / 1e6;
  expect(used.models.toSorted((one, two) => two.input - one.input)).toEqual([
    {
      model: "claude-sonnet-4-5",
      ...{ calls: 12, input: 12_000, output: 1_200, cacheRead: 4_800, cacheWrite: 0 },
      dollars: expect.closeTo(dollars, 10) as number,
      ...{ unpriced: 0, unpricedModels: [] },
    },
    { model: "house-model", input: 50, output: 5, ...unpriced, unpricedModels: ["house-model"] },
    { model: "unknown", input: 7, output: 1, ...unpriced, unpricedModels: [""] },
  ]);
  expect(used.unpriced).toBe(2);
});

it("reads a session again only where it changed, and forgets one that went", async () => {
  const store = await storeWithCalls();
  const reads: string[] = [];
  const read: Store["read"] = (scope, id, query) => {
    reads.push(id);
    return store.read(scope, id, query);
  };
  const watched = over(store, { read });
  const figures = new UsedTokens();
  const before = await figures.measure(watched);
  expect(reads).toHaveLength(2);
  expect(await figures.measure(watched)).toEqual(before);
  expect(reads).toHaveLength(2);
  const manager = await SessionManager.open({ store, budget: 2_000 });
  const added = await manager.create();
  await added.endStep({ usage: { input: 1_000_000 }, model: "house-model" });
  const after = await figures.measure(watched);
  expect(reads).toEqual([...reads.slice(0, 2), added.id]);
  expect(after.models.find(({ model }) => model === "house-model")?.input).toBe(1_000_050);
  const nothing = over(watched, { list: async function* () {} });
  expect(await figures.measure(nothing)).toEqual({ models: [], unpriced: 0 });
});

it("serves them to Prometheus, with the epochs and windows by status", async () => {
  const store = await storeWithCalls();
  const server = await serveMetrics({ port: 0 });
  onTestFinished(() => server.close());
  const health = await measureHealth(store);
  server.update(health, []);
  server.updateUsed(await new UsedTokens().measure(store));
  const lines = (await (await fetch(server.url)).text()).split("\n");
  for (const [type, tokens] of [
    ["input", 12_000],
    ["cached", 4_800],
    ["output", 1_200],
  ] as const)
    expect(lines).toContain(`windrow_stored_tokens{model="claude-sonnet-4-5",type="${type}"} ${tokens}`);
  expect(lines.find((line) => line.startsWith("windrow_stored_cost_dollars{"))).toMatch(
    /^windrow_stored_cost_dollars\{model="claude-sonnet-4-5"\} 0\.041/,
  );
  expect(lines.filter((line) => line.startsWith("windrow_stored_cost_dollars{"))).toHaveLength(1);
  expect(lines).toContain("windrow_stored_unpriced_calls 2");
  expect(lines).toContain('windrow_stored_model_calls{status="completed"} 12');
  const { epochs = 0, windowTokens = 0 } = health.work.completed ?? {};
  expect(epochs).toBeGreaterThan(1);
  expect(lines).toContain(`windrow_stored_epochs{status="completed"} ${epochs}`);
  expect(lines).toContain(`windrow_stored_window_tokens{status="completed"} ${windowTokens}`);
  expect(lines).toContain(`windrow_session_duration_seconds ${(health.averageDurationMs ?? 0) / 1_000}`);
  const help = lines.filter((line) => line.startsWith("# HELP windrow_stored_tokens"));
  expect(help.join()).toContain("by model and type");
  server.updateUsed({ models: [], unpriced: 0 });
  expect(await (await fetch(server.url)).text(), "a model that is gone").not.toContain("windrow_stored_tokens{");
});
