/** Options are checked by value, with the name of the field, the wrong value and what is allowed. */
import { describe, expect, it } from "vitest";
import { composeWindow, isWindrowError, SessionManager } from "windrow";
import { ContextManagementPlugin, ContextManager as AdkContext } from "windrow/adk";
import { ContextManager, openContextManager } from "windrow/openstarry";
import { createTransformContext } from "windrow/pi";
import { loadStrategy, strategyOf } from "windrow/window";
import { openManager } from "../kit/sessions.ts";

/** The message of the `bad-option` that a call ends with. */
async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (isWindrowError(error, "bad-option")) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** By strategy or preset: an option, values it refuses, and the words for what it takes. */
const wrong: readonly (readonly [string, string, readonly unknown[], RegExp])[] = [
  [
    "openstarry-summary",
    "threshold",
    ["many", -1, 0, NaN, null, "20", 2.5, true, [], {}],
    /whole number of at least 1/,
  ],
  ["openstarry-summary", "oldest", [0, "5"], /whole number of at least 1/],
  ["openstarry-summary", "compressionModel", [7], /a text/],
  ["openstarry-summary", "locale", ["fr", "EN", 1], /`en` or `ja` or `zh`/],
  ["openstarry-entity", "schema", ["x", [], { destination: 7 }, null], /an object, each value of which is a text/],
  ["openstarry-entity", "role", ["tool", "assistant"], /`user` or `system`/],
  ["openstarry-entity", "extract", ["x"], /a function/],
  ["pi", "headLines", [-1, 1.5, "3"], /whole number of at least 0/],
  ["pi", "keepRecentToolResults", ["6", null, Infinity], /whole number of at least 0/],
  ["pi", "contextRatio", [75, 0, -0.5, NaN, "0.75"], /above 0 and at most 1/],
  ["pi", "locale", ["fr"], /`en` or `ja` or `zh`/],
  ["miki", "maxMessages", [-3, 0, "24"], /whole number of at least 1/],
  ["miki", "size", ["huge", 40], /`short` or `normal` or `complex`/],
  ["miki", "tools", ["osa", [7]], /a list, each item of which is a text/],
  ["coding-agent", "ratio", [0, 1.2, "0.7"], /above 0 and at most 1/],
  ["coding-agent", "mode", ["some"], /`any` or `all`/],
  ["coding-agent", "minMessages", [0, "10"], /whole number of at least 1/],
  ["coding-agent", "maxSummaryTokens", [0, "2000"], /whole number of at least 1/],
  ["coding-agent", "message", ["x", { role: "tool" }, { prefix: 1 }, { colour: "" }], /an object with `role`/],
  ["state-manager", "ratio", [0, 80], /above 0 and at most 1/],
  ["state-manager", "keepTurns", [-1], /whole number of at least 0/],
  ["state-manager", "prompt", [7], /a text/],
  ["adaptive", "lowWater", [0, 1.5, "0.5"], /above 0 and at most 1/],
  ["sliding-window", "keepFirstUser", ["no"], /true or false/],
  ["sliding-window", "note", ["no"], /true or false/],
  ["rolling-summary", "keepImportance", [2, "0.8"], /from 0 to 1/],
  ["importance", "weights", [{ error: "high" }, { mistakes: 1 }, 3], /an object with `base`: a number/],
  ["importance", "ties", ["first"], /`newest` or `oldest`/],
  ["layered", "tailLines", [-2], /whole number of at least 0/],
];

describe.each(wrong)("%s refuses as %s", (use, option, values, allowed) => {
  it.each(values)("%s", async (value) => {
    const message = await refusal(() => strategyOf({ use, [option]: value }));
    expect(message).toContain(`\`${option}\``);
    expect(message).toMatch(allowed);
    expect(message).toContain(value !== null && typeof value === "object" ? "not such" : String(value));
    const plugin = { contextStrategy: { type: "plugin", pluginId: use, config: { [option]: value } } };
    await expect(loadStrategy(plugin)).rejects.toMatchObject({ code: "bad-option", message });
    await expect(openContextManager(plugin, { store: "ram:", budget: 900 })).rejects.toMatchObject({ message });
    await expect(
      SessionManager.open({ store: "ram:", budget: 900, strategy: { use, [option]: value } }),
    ).rejects.toMatchObject({ message });
    expect(await refusal(() => createTransformContext({ strategy: { use, [option]: value } }))).toBe(message);
  });
});

it("a name that no option has is refused, with the nearest", async () => {
  const manager = await openManager({ budget: 900 });
  const session = await manager.create();
  const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] }] as const;
  const calls: readonly (readonly [() => unknown, string])[] = [
    [() => new AdkContext({ maxMesages: 3 } as object), "maxMessages"],
    [() => new AdkContext({ dropFields: [] } as object), 'no option "dropFields"'],
    [() => strategyOf({ use: "coding-agent", maxMemoryMessages: 20 }), 'no option "maxMemoryMessages"'],
    [() => new ContextManager(undefined, { bugdet: 7 } as object), "budget"],
    [() => createTransformContext({ bugdet: 7 } as object), "budget"],
    [() => new ContextManagementPlugin({ uiTree: "stored" } as object), "uiTrees"],
    [() => manager.create({ taskkey: {} } as object), "taskKey"],
    [() => manager.resume(session.id, { readonly: true } as object), "readOnly"],
    [() => manager.fork(session.id, { before: 3 } as object), 'no option "before"'],
    [() => session.compose({ sytem: "You are" } as object), "system"],
    [() => composeWindow({ messages, budget: 900, stratgy: "pi" } as never), "strategy"],
  ];
  for (const [call, said] of calls) expect(await refusal(call)).toContain(said);
});

it("a value that an option does not take is refused, and named", async () => {
  const manager = await openManager({ budget: 900 });
  const messages = [] as const;
  const calls: readonly (readonly [() => unknown, RegExp])[] = [
    [() => new AdkContext({ maxMessages: -3 }), /`maxMessages` is a whole number of at least 1, not -3/],
    [() => new AdkContext({ size: "huge" as "short" }), /`size` is .* not "huge"/],
    [() => manager.create({ taskKey: "x" as never }), /`taskKey` is an object, not "x"/],
    [() => manager.create(null as never), /takes an object of options, not null/],
    [() => manager.fork("x", { at: -1 }), /`at` is a whole number of at least 0, not -1/],
    [() => SessionManager.open({ store: "ram:", ingestCap: -5 }), /`ingestCap` is a number above 0, not -5/],
    [() => composeWindow({ messages, budget: 9, ingestCap: 0 }), /`ingestCap` is a number above 0, not 0/],
    [() => composeWindow({ messages, budget: 9, toolsBudget: NaN }), /`toolsBudget` is .* not NaN/],
    [() => new ContextManagementPlugin({ debugEvery: 0 }), /`debugEvery` is a whole number of at least 1, not 0/],
  ];
  for (const [call, said] of calls) expect(await refusal(call)).toMatch(said);
});
