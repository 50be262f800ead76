/** The host's history over a log: what is seen twice, what a crash in the middle of a change leaves, what masks do. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Store } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { AgentsSession } from "windrow/openai-agents";
import type { AgentItem } from "windrow/openai-agents";
import { createMask, openStore } from "windrow/store";

function said(content: string): AgentItem {
  return { type: "message", role: "user", content } as AgentItem;
}

function call(callId: string): AgentItem {
  return { type: "function_call", id: `fc_${callId}`, callId, name: "look", arguments: "{}" } as AgentItem;
}

function result(callId: string): AgentItem {
  return { type: "function_call_result", callId, name: "look", status: "completed", output: "seen" } as AgentItem;
}

/** The RAM store, but appends of a kind fail while `failing` says so. */
function failingStore(real: Store, failing: () => string | undefined, why = "EIO"): Store {
  return new Proxy(real, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      if (property !== "append") return value.bind(target) as unknown;
      return (lock: never, records: readonly { readonly kind: string; readonly type?: string }[]) => {
        const name = failing();
        const fails = name !== undefined && records.some(({ kind, type }) => kind === name || type === name);
        return fails ? Promise.reject(new Error(why)) : target.append(lock, records as never);
      };
    },
  });
}

async function open(store: Store): Promise<SessionManager> {
  return SessionManager.open({ store, budget: 8_000, profile: "openai-responses" });
}

describe("AgentsSession", () => {
  it("journals what the filter sees, and not again what the host adds at the end", async () => {
    const session = await (await open(await openStore("ram:"))).create();
    const history = new AgentsSession(session);
    const input = [said("Hi"), call("c1"), result("c1")];
    const { input: window } = await history.filter({ modelData: { input }, agent: {} });
    expect(window[0]).toBe(input[0]);
    expect(session.stats().messages).toBe(3);
    await history.filter({ modelData: { input }, agent: {} });
    await history.addItems([said("Hi"), call("c1"), result("c1"), said("Hi")]);
    expect(session.stats().messages).toBe(4);
    expect(await history.getItems()).toEqual([said("Hi"), { ...call("c1"), id: undefined }, result("c1"), said("Hi")]);
  });

  it("takes the host's leaving out of an unanswered call for no replacement", async () => {
    const session = await (await open(await openStore("ram:"))).create();
    const events: AdapterEvent[] = [];
    const history = new AgentsSession(session, { on: (event) => events.push(event) });
    const reasoning = { type: "reasoning", id: "rs_1", content: [] } as AgentItem;
    await history.addItems([said("Hi"), reasoning, call("c1")]);
    const { input } = await history.filter({ modelData: { input: [said("Hi"), said("Go on")] }, agent: {} });
    expect(events.map(({ type }) => type)).toEqual(["window-sent"]);
    expect(session.stats().messages).toBe(3);
    expect(input.at(-1)).toEqual(said("Go on"));
    expect(JSON.stringify(input)).toContain("interrupted");
  });

  it("knows a history with secrets again after a resume, whose log holds placeholders", async () => {
    const token = `ghp_${"aB3dE5gH7jK9".repeat(3)}`;
    const own = "Zebra-Crossing-77";
    const store = await openStore("ram:", { mask: createMask({ values: { OWN: own } }) });
    const manager = await open(store);
    const session = await manager.create();
    const spoken = {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: `I use ${token}` }],
    } as AgentItem;
    const login = { ...call("c1"), arguments: JSON.stringify({ password: "hunter2-Very!secret", token }) } as AgentItem;
    const input = [said(`The token is ${token}, ${own}`), spoken, login, { ...result("c1"), output: own } as AgentItem];
    await new AgentsSession(session).filter({ modelData: { input }, agent: {} });
    await session.close();

    const resumed = await manager.resume(session.id);
    const events: AdapterEvent[] = [];
    const history = new AgentsSession(resumed, { on: (event) => events.push(event) });
    await history.filter({ modelData: { input: [...input, said("Go on")] }, agent: {} });
    expect(events.map(({ type }) => type)).toEqual(["window-sent"]);
    expect(resumed.stats().messages).toBe(4);
    const replacement = { type: "replace_suffix", expectedSuffix: [said("Go on")], replacement: [said(own)] } as const;
    await history.applyHistoryTransaction({ operationId: "one", transaction: replacement });
    const back = { type: "replace_suffix", expectedSuffix: [said("[OWN]")], replacement: [said("Done")] } as const;
    await history.applyHistoryTransaction({ operationId: "two", transaction: back });
    expect((await history.getItems()).at(-1)).toEqual(said("Done"));
  });

  it("leaves nothing of a change whose record was never written, and applies it when it is asked again", async () => {
    const real = await openStore("ram:");
    let failing: string | undefined;
    const manager = await open(failingStore(real, () => failing));
    const session = await manager.create();
    const history = new AgentsSession(session);
    await history.addItems([said("a"), said("b")]);
    failing = "history";
    const replace = {
      operationId: "one",
      transaction: { type: "replace_suffix", expectedSuffix: [said("b")], replacement: [said("c")] },
    } as const;
    await history.applyHistoryTransaction(replace);
    expect(await history.getItems()).toEqual([said("a"), said("c")]);
    expect(session.stats().messages).toBe(3);
    await session.close();

    failing = undefined;
    const resumed = new AgentsSession(await manager.resume(session.id));
    expect(await resumed.getItems()).toEqual([said("a"), said("b")]);
    await resumed.applyHistoryTransaction(replace);
    await resumed.applyHistoryTransaction(replace);
    expect(await resumed.getItems()).toEqual([said("a"), said("c")]);
    await resumed.session.close();
    const again = new AgentsSession(await manager.resume(session.id));
    expect(await again.getItems()).toEqual([said("a"), said("c")]);
  });

  it("begins no run without a history it cannot read", async () => {
    const session = await (await open(await openStore("ram:"))).create();
    await session.append({ role: "user", parts: [{ type: "text", text: "Hi" }] });
    await session.close();
    await expect(new AgentsSession(session).getItems()).rejects.toMatchObject({ code: "closed" });
  });
});
