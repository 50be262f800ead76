import { describe, expect, it } from "vitest";
import { profileNames } from "windrow/window";
import { modelOf, models } from "../kit/inside/tokens.ts";

/** An error of this code. */
const refusal = (code: string, words = /./): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(words) as string });

it.each([...models.values()])("the table of models says of $id what is possible", (model) => {
  expect(model.contextWindow).toBeGreaterThanOrEqual(model.maxOutput);
  expect(model.maxOutput).toBeGreaterThanOrEqual(4_096);
  expect(profileNames).toContain(model.profile);
  const { input, output, cacheRead, cacheWrite } = model.prices ?? {
    input: 0,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
  };
  expect(cacheRead).toBeLessThanOrEqual(input);
  expect(cacheWrite).toBeGreaterThanOrEqual(input);
  expect(output).toBeGreaterThan(input);
  expect(modelOf(model.id)).toEqual(model);
});

describe("modelOf", () => {
  it.each([
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
    ["claude-sonnet-4-0", "claude-sonnet-4"],
    ["claude-sonnet-4-20250514", "claude-sonnet-4"],
    ["claude-3-5-haiku-latest", "claude-3-5-haiku"],
    ["openrouter/anthropic/claude-opus-4.1", "claude-opus-4-1"],
    ["claude-opus-5-5", "claude-opus-5-5"],
    ["models/gemini-2.5-pro", "gemini-2.5-pro"],
    ["gemini-2.5-flash-preview-05-20", "gemini-2.5-flash"],
    ["gemini-3-pro-preview", "gemini-3-pro"],
    ["gpt-4o-2024-08-06", "gpt-4o"],
    ["OpenAI/GPT-4o", "gpt-4o"],
    ["gpt-4o:latest", "gpt-4o"],
    ["gpt-5-mini-2025-08-07", "gpt-5-mini"],
    ["grok-4-0709", "grok-4"],
    ["grok-4-fast-non-reasoning", "grok-4-fast"],
    ["deepseek/deepseek-chat", "deepseek-chat"],
    ["qwen/qwen3-30b-a3b", "qwen3-30b-a3b"],
  ])("finds %s as %s, and keeps the id it was asked for", (id, known) => {
    expect(modelOf(id)).toEqual({ ...models.get(known), id });
  });

  it.each([
    ["claude-sonnet-4-5", "anthropic"],
    ["gemini-2.5-pro", "gemini"],
    ["gpt-4o", "openai-chat"],
    ["deepseek-chat", "deepseek"],
    ["grok-4", "openai-chat"],
  ])("has %s in the profile %s", (id, profile) => {
    expect(modelOf(id).profile).toBe(profile);
  });

  it("has a model that people run themselves, without prices", () => {
    expect(modelOf("qwen3-30b")).toMatchObject({ contextWindow: 32_768 });
    expect(modelOf("qwen3-30b")).not.toHaveProperty("prices");
  });

  it("replaces some fields of a known model", () => {
    const model = modelOf({ id: "gpt-4o", contextWindow: 64_000 });
    expect(model).toEqual({ ...models.get("gpt-4o"), contextWindow: 64_000 });
  });

  it("takes a description of an unknown model", () => {
    expect(modelOf({ contextWindow: 32_000, maxOutput: 4_000 })).toEqual({
      id: "custom",
      provider: "custom",
      profile: "openai-chat",
      contextWindow: 32_000,
      maxOutput: 4_000,
    });
    expect(modelOf({ id: "house-model", contextWindow: 32_000, maxOutput: 4_000, profile: "anthropic" })).toMatchObject(
      {
        id: "house-model",
        profile: "anthropic",
      },
    );
  });

  it.each(["gpt-4oo", "house-model", "", "gpt-4o-2024", "constructor"])("refuses %j, and says how to mend it", (id) => {
    expect(() => modelOf(id)).toThrow(refusal("unknown-model", /contextWindow.*maxOutput/s));
  });

  it("refuses a description that lacks a capacity", () => {
    for (const lacking of [{ contextWindow: 32_000 }, { id: "house-model", maxOutput: 5 }])
      expect(() => modelOf(lacking)).toThrow(refusal("unknown-model"));
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses a capacity of %d tokens", (contextWindow) => {
    expect(() => modelOf({ contextWindow, maxOutput: 1 })).toThrow(refusal("bad-option"));
  });
});
