/** Values of another type in the place of options: what untyped hosts hand over. */
import { expect, it } from "vitest";
import { composeWindow, isWindrowError, SessionManager } from "windrow";
import type { ComposeInput, ManagerOptions } from "windrow";

/** Values of every type; `right` names those that an option takes. */
const values: Readonly<Record<string, unknown>> = {
  "null": null,
  "a number": 5,
  "a flag": true,
  "a text": "no such thing",
  "a function": () => undefined,
  "a symbol": Symbol("x"),
  "an object": {},
  "a list": [],
  "a list of nulls": [null],
  "a list of numbers": [7],
};

const right = {
  compose: {
    messages: ["a list"],
    system: ["a text"],
    tools: ["a list"],
    dynamic: ["a text", "a list"],
    pinned: ["a list"],
    budget: ["a number"],
    ingestCap: ["a number"],
    recallTools: ["a list"],
    toolsBudget: ["a number"],
    mask: ["a function"],
    state: ["an object"],
    strategy: [],
    model: [],
    profile: [],
    counter: ["a text"],
    usage: ["an object"],
  } satisfies Required<Record<keyof ComposeInput, readonly string[]>>,
  open: {
    archive: ["a text"],
    store: ["a text"],
    strategy: [],
    model: [],
    budget: ["a number"],
    profile: [],
    counter: [],
    ingestCap: ["a number"],
    recallTools: ["a list"],
    namesSession: ["a flag"],
    summarizer: ["a function"],
    maxSummaryTokens: ["a number"],
    memory: [],
    offload: ["an object"],
    maxBootstrapTokens: ["a number"],
    bootstrapTimeout: ["a number"],
    bootstrapPlace: [],
    compaction: [],
    calibrate: ["a flag"],
    config: ["a flag", "a text"],
    user: ["a text"],
    tenant: ["a text"],
    admin: ["a flag"],
    audit: ["a flag", "a text"],
    on: ["a function"],
    now: ["a function"],
    idleTimeout: ["a number"],
    every: ["a function"],
  } satisfies Required<Record<keyof ManagerOptions, readonly string[]>>,
};

function wrong(table: Readonly<Record<string, readonly string[]>>): readonly (readonly [string, string, unknown])[] {
  return Object.entries(table).flatMap(([option, taken]) =>
    Object.entries(values).flatMap(([kind, value]) => (taken.includes(kind) ? [] : [[option, kind, value] as const])),
  );
}

/** The code of a refusal that names the option; anything else is thrown on. */
function refusal(error: unknown, option: string): string {
  if (!isWindrowError(error)) throw error;
  expect(error.message).toContain(option);
  return error.code;
}

const codes = ["bad-option", "bad-message", "unknown-strategy", "unknown-profile", "unknown-counter", "unknown-model"];
const user = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] } as const;

it.each(wrong(right.compose))("composeWindow refuses as %s %s", (option, _kind, value) => {
  const input = { messages: [user], budget: 1_000, [option]: value };
  const compose = (): unknown => composeWindow(input as ComposeInput);
  let code = "";
  try {
    compose();
  } catch (error) {
    code = refusal(error, option === "messages" ? "essage" : option);
  }
  expect(codes).toContain(code);
});

it("composeWindow asks for messages", () => {
  const compose = (): unknown => composeWindow({ budget: 1_000 } as ComposeInput);
  expect(compose).toThrow(expect.objectContaining({ code: "bad-option" }));
});

it.each(wrong(right.open))("SessionManager.open refuses as %s %s", async (option, _kind, value) => {
  const opening = SessionManager.open({ store: "ram:", budget: 1_000, [option]: value } as ManagerOptions);
  const code = await opening.then(
    () => "opened",
    (error: unknown) => refusal(error, option),
  );
  expect(codes).toContain(code);
});
