/**
 * The table of models: capacity, prices and the profile of their API. Small, checked by scripts/check-models.ts; every
 * value can be overridden, and an unlisted model can be described.
 */
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";

/** US dollars per million tokens, at the base tier (some providers charge more beyond 200,000 tokens of input). */
export interface ModelPrices {
  /** Input that is neither read from a cache nor written to one. */
  readonly input: number;
  /** The price of output, reasoning included. */
  readonly output: number;
  /** Input read from the provider's prompt cache. */
  readonly cacheRead: number;
  /** Input written to the provider's prompt cache; the plain input price where writing costs nothing extra. */
  readonly cacheWrite: number;
}

/** The facts of a model: capacity, prices, and the profile of the API it is reached by. */
export interface ModelFacts {
  /** The id as it was asked for. */
  readonly id: string;
  /** The provider: `anthropic`, `openai`, `google` …; `custom` for a described model that names none. */
  readonly provider: string;
  /** Capacity in tokens: input and output together. */
  readonly contextWindow: number;
  /** Most tokens of one answer. */
  readonly maxOutput: number;
  /** Absent for a described model that names none: nothing is then said about cost. */
  readonly prices?: ModelPrices;
  /** The name of a profile (src/window/provider/profile.ts): `anthropic`, `gemini`, `deepseek`, `mistral`, `kimi` or `openai-chat`. */
  readonly profile: string;
  /** Tokens of one image whatever its size, where a model fixes it. Absent: by dimensions. */
  readonly imageTokens?: number;
}

/**
 * A model described or overridden. With an `id` of the table every other field is optional and replaces the table's;
 * without one, `contextWindow` and `maxOutput` are required.
 */
export type ModelDescription = Partial<ModelFacts>;

type RowPrices = readonly [] | readonly [input: number, output: number, cacheRead: number, cacheWrite: number];

type Row = readonly [id: string, contextWindow: number, maxOutput: number, ...prices: RowPrices];

// Capacities and prices as @pydantic/genai-prices 0.1.8 and llm-zoo 1.37.0 give them on 2026-11-21.
const anthropic: readonly Row[] = [
  ["claude-3-haiku", 200_000, 4_096, 0.25, 1.25, 0.03, 0.3],
  ["claude-3-opus", 200_000, 4_096, 15, 75, 1.5, 18.75],
  ["claude-3-5-haiku", 200_000, 8_192, 0.8, 4, 0.08, 1],
  ["claude-3-5-sonnet", 200_000, 8_192, 3, 15, 0.3, 3.75],
  ["claude-3-7-sonnet", 200_000, 64_000, 3, 15, 0.3, 3.75],
  ["claude-sonnet-4", 200_000, 64_000, 3, 15, 0.3, 3.75],
  ["claude-opus-4", 200_000, 32_000, 15, 75, 1.5, 18.75],
  ["claude-opus-4-1", 200_000, 32_000, 15, 75, 1.5, 18.75],
  ["claude-haiku-4-5", 200_000, 64_000, 1, 5, 0.1, 1.25],
  ["claude-sonnet-4-5", 200_000, 64_000, 3, 15, 0.3, 3.75],
  ["claude-opus-4-5", 200_000, 64_000, 5, 25, 0.5, 6.25],
  ["claude-sonnet-4-6", 1_000_000, 64_000, 3, 15, 0.3, 3.75],
  ["claude-opus-4-6", 1_000_000, 128_000, 5, 25, 0.5, 6.25],
  ["claude-opus-4-7", 1_000_000, 128_000, 5, 25, 0.5, 6.25],
  ["claude-opus-4-8", 1_000_000, 128_000, 5, 25, 0.5, 6.25],
  ["claude-sonnet-5", 1_000_000, 128_000, 2, 10, 0.2, 2.5],
  ["claude-opus-5", 1_000_000, 128_000, 5, 25, 0.5, 6.25],
  ["claude-opus-5-5", 1_000_000, 128_000, 4, 20, 0.2, 5],
  ["claude-fable-5", 1_000_000, 128_000, 10, 50, 1, 12.5],
  ["claude-fable-5-1", 1_000_000, 128_000, 10, 50, 0.25, 12.5],
];

const openai: readonly Row[] = [
  ["gpt-4-turbo", 128_000, 4_096, 10, 30, 10, 10],
  ["gpt-4o", 128_000, 16_384, 2.5, 10, 1.25, 2.5],
  ["gpt-4o-mini", 128_000, 16_384, 0.15, 0.6, 0.075, 0.15],
  ["gpt-4.1", 1_047_576, 32_768, 2, 8, 0.5, 2],
  ["gpt-4.1-mini", 1_047_576, 32_768, 0.4, 1.6, 0.1, 0.4],
  ["gpt-4.1-nano", 1_047_576, 32_768, 0.1, 0.4, 0.025, 0.1],
  ["o1", 200_000, 100_000, 15, 60, 7.5, 15],
  ["o3", 200_000, 100_000, 2, 8, 0.5, 2],
  ["o3-mini", 200_000, 100_000, 1.1, 4.4, 0.55, 1.1],
  ["o4-mini", 200_000, 100_000, 1.1, 4.4, 0.275, 1.1],
  ["gpt-5", 400_000, 128_000, 1.25, 10, 0.125, 1.25],
  ["gpt-5-codex", 400_000, 128_000, 1.25, 10, 0.125, 1.25],
  ["gpt-5-mini", 400_000, 128_000, 0.25, 2, 0.025, 0.25],
  ["gpt-5-nano", 400_000, 128_000, 0.05, 0.4, 0.005, 0.05],
  ["gpt-5.1", 400_000, 128_000, 1.25, 10, 0.125, 1.25],
  ["gpt-5.1-codex", 400_000, 128_000, 1.25, 10, 0.125, 1.25],
  ["gpt-5.2", 400_000, 128_000, 1.75, 14, 0.175, 1.75],
  ["gpt-5.2-codex", 400_000, 128_000, 1.75, 14, 0.175, 1.75],
  ["gpt-5.3-codex", 400_000, 128_000, 1.75, 14, 0.175, 1.75],
  ["gpt-5.4", 1_050_000, 128_000, 2.5, 15, 0.25, 2.5],
  ["gpt-5.4-mini", 400_000, 128_000, 0.75, 4.5, 0.075, 0.75],
  ["gpt-5.4-nano", 400_000, 128_000, 0.2, 1.25, 0.02, 0.2],
  ["gpt-5.5", 1_050_000, 128_000, 5, 30, 0.5, 5],
  ["gpt-5.6", 1_050_000, 128_000, 4, 20, 0.4, 5],
  ["gpt-5.6-sol", 1_050_000, 128_000, 4, 20, 0.4, 5],
  ["gpt-5.6-terra", 1_050_000, 128_000, 2, 12, 0.2, 2.5],
  ["gpt-5.6-luna", 1_050_000, 128_000, 0.2, 1.2, 0.02, 0.25],
  ["gpt-6-astra", 1_050_000, 128_000, 10, 50, 1, 12.5],
  ["gpt-6-sol", 1_050_000, 128_000, 2, 10, 0.2, 2.5],
  ["gpt-6-luna", 1_050_000, 128_000, 0.1, 0.5, 0.01, 0.125],
];

const google: readonly Row[] = [
  ["gemini-1.5-flash", 1_048_576, 8_192, 0.075, 0.3, 0.01875, 0.075],
  ["gemini-1.5-pro", 2_097_152, 8_192, 1.25, 5, 0.3125, 1.25],
  ["gemini-2.0-flash", 1_048_576, 8_192, 0.1, 0.4, 0.025, 0.1],
  ["gemini-2.5-flash-lite", 1_048_576, 65_536, 0.1, 0.4, 0.01, 0.1],
  ["gemini-2.5-flash", 1_048_576, 65_536, 0.3, 2.5, 0.03, 0.3],
  ["gemini-2.5-pro", 1_048_576, 65_536, 1.25, 10, 0.125, 1.25],
  ["gemini-3-flash", 1_048_576, 65_536, 0.5, 3, 0.05, 0.5],
  ["gemini-3-pro", 1_048_576, 65_536, 2, 12, 0.2, 2],
  ["gemini-3.1-flash-lite", 1_048_576, 65_536, 0.25, 1.5, 0.025, 0.25],
  ["gemini-3.1-pro", 1_048_576, 65_536, 2, 12, 0.2, 2],
  ["gemini-3.5-flash", 1_048_576, 65_536, 1.5, 9, 0.15, 1.5],
  ["gemini-3.5-flash-lite", 1_048_576, 65_536, 0.3, 2.5, 0.03, 0.3],
  ["gemini-3.6-flash", 1_048_576, 65_536, 0.75, 3.75, 0.075, 0.75],
  ["gemini-3.7-flash", 1_048_576, 65_536, 0.75, 3.75, 0.075, 0.75],
  ["gemini-3.8-flash", 1_048_576, 65_536, 0.75, 3.75, 0.075, 0.75],
];

const deepseek: readonly Row[] = [
  ["deepseek-chat", 128_000, 8_192, 0.28, 0.42, 0.028, 0.28],
  ["deepseek-reasoner", 128_000, 65_536, 0.28, 0.42, 0.028, 0.28],
  ["deepseek-v4-flash", 1_048_576, 393_216, 0.22, 0.66, 0.007, 0.22],
  ["deepseek-v4-pro", 1_048_576, 393_216, 0.66, 1.98, 0.022, 0.66],
];

const mistral: readonly Row[] = [
  ["codestral-2508", 256_000, 256_000, 0.3, 0.9, 0.03, 0.3],
  ["devstral-2512", 262_144, 262_144, 0.4, 2, 0.04, 0.4],
  ["mistral-small-2603", 262_144, 262_144, 0.15, 0.6, 0.015, 0.15],
  ["mistral-medium-3-5", 262_144, 262_144, 1.5, 7.5, 0.15, 1.5],
  ["mistral-large-2512", 262_144, 262_144, 0.5, 1.5, 0.05, 0.5],
];

// Models that people run themselves have no price.
const qwen: readonly Row[] = [
  ["qwen3-30b", 32_768, 8_192],
  ["qwen3-30b-a3b", 32_768, 8_192],
  ["qwen-plus", 1_000_000, 32_768, 0.4, 1.2, 0.16, 0.4],
  ["qwen3-max", 262_144, 65_536, 1.2, 6, 1.2, 1.2],
  ["qwen3-coder-plus", 1_000_000, 65_536, 0.65, 3.25, 0.13, 0.8125],
];

const xai: readonly Row[] = [
  ["grok-3", 131_072, 131_072, 3, 15, 0.75, 3],
  ["grok-4", 256_000, 128_000, 3, 15, 0.75, 3],
  ["grok-4-fast", 2_000_000, 128_000, 0.2, 0.5, 0.05, 0.2],
  ["grok-4-1-fast", 2_000_000, 128_000, 0.2, 0.5, 0.05, 0.2],
  ["grok-4.3", 1_000_000, 128_000, 1.25, 2.5, 0.2, 1.25],
  ["grok-4.5", 500_000, 128_000, 2, 6, 0.3, 2],
  ["grok-4.6", 500_000, 128_000, 2, 6, 0.5, 2],
  ["grok-code-fast-1", 256_000, 128_000, 0.2, 1.5, 0.02, 0.2],
];

const moonshot: readonly Row[] = [
  ["kimi-k2-thinking", 262_144, 65_536, 0.6, 2.5, 0.15, 0.6],
  ["kimi-k2.5", 262_144, 65_536, 0.6, 3, 0.1, 0.6],
  ["kimi-k3", 1_048_576, 1_048_576, 3, 15, 0.3, 3],
];

/** The providers whose own API differs from OpenAI's chat completions. */
const profiles: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  google: "gemini",
  deepseek: "deepseek",
  mistral: "mistral",
  moonshot: "kimi",
};

/** The known models by their id, without date and without the name of a gateway. */
export const models: ReadonlyMap<string, ModelFacts> = new Map(
  Object.entries({ anthropic, openai, google, deepseek, mistral, qwen, xai, moonshot }).flatMap(([provider, rows]) =>
    rows.map(([id, contextWindow, maxOutput, ...prices]): [string, ModelFacts] => [
      id,
      {
        id,
        provider,
        contextWindow,
        maxOutput,
        ...pricesOf(prices),
        profile: profiles[provider] ?? "openai-chat",
      },
    ]),
  ),
);

function pricesOf(prices: RowPrices): Pick<ModelFacts, "prices"> {
  if (prices.length === 0) return {};
  const [input, output, cacheRead, cacheWrite] = prices;
  return { prices: { input, output, cacheRead, cacheWrite } };
}

/**
 * A model by id, by a description, or by an id with some fields replaced (`{ id: "gpt-4o", contextWindow: 64_000 }`).
 * Ids are found as providers, gateways and clouds write them: `claude-sonnet-4-5-20250929`, `anthropic/claude-sonnet-4.5`,
 * `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `models/gemini-2.5-pro`, `gpt-4o-2024-08-06`, `gpt-4o:latest`.
 *
 * @throws WindrowError `unknown-model` for an id that is not in the table, with the nearest one and how to describe a
 * model; `bad-option` for a capacity that is no positive whole number
 */
export function modelOf(model: string | ModelDescription): ModelFacts {
  if (typeof model === "string") return knownModel(model) ?? unknown(model);
  for (const field of ["contextWindow", "maxOutput", "imageTokens"] as const) {
    const value = model[field];
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new WindrowError("bad-option", `A model's ${field} is a positive whole number of tokens, not ${value}.`, {
        field,
        value,
      });
    }
  }
  const known = model.id === undefined ? undefined : knownModel(model.id);
  if (known) return { ...known, ...model };
  const { contextWindow, maxOutput } = model;
  if (contextWindow === undefined || maxOutput === undefined) return unknown(model.id);
  return { id: "custom", provider: "custom", profile: "openai-chat", ...model, contextWindow, maxOutput };
}

/** A known model by whatever spelling of its id, without throwing; `id` is the table's. Undefined: it is not in it. */
export function findModel(id: string): ModelFacts | undefined {
  return spellings(id)
    .map((name) => models.get(name))
    .find((found) => found !== undefined);
}

function knownModel(id: string): ModelFacts | undefined {
  const found = findModel(id);
  return found && { ...found, id };
}

/** The id, then what is left of it without a gateway's name, a variant, a cloud's version, a date or a stage. */
function spellings(id: string): readonly string[] {
  const names = [id.trim().toLowerCase()];
  const steps: readonly ((name: string) => string)[] = [
    (name) => name.slice(name.lastIndexOf("/") + 1),
    (name) => name.replace(/^(?:[a-z]{2,6}\.)?anthropic\./, ""),
    (name) => name.replace(/(?:-v\d+)?:[\w.-]*$|\[\w+\]$/, ""),
    (name) => name.replace(/[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|default)$/, ""),
    (name) => name.replace(/-(?:preview|exp)(?:-\d\d-\d\d(?:\d\d)?)?$/, ""),
    (name) => (name.startsWith("claude-") ? name.replaceAll(".", "-") : name),
    (name) =>
      name.startsWith("claude-") ? name.replace(/-0$/, "") : name.replace(/-0\d{3}$|-(?:non-)?reasoning$/, ""),
    (name) => name.replace(/^claude-(\d(?:-\d)?)-(opus|sonnet|haiku)$/, "claude-$2-$1"),
  ];
  for (const step of steps) {
    const name = step(names.at(-1) ?? "");
    if (name !== names.at(-1)) names.push(name);
  }
  return names;
}

function unknown(id: string | undefined): never {
  const known = [...models.keys()];
  const described =
    'describe it: { contextWindow: 128_000, maxOutput: 16_384, prices?, profile?: "openai-chat" }, in tokens';
  const message =
    id === undefined
      ? `A model without an id needs contextWindow and maxOutput; ${described}.`
      : `The model "${id}" is not in the table; ${described}.${nearest(id, known)}`;
  throw new WindrowError("unknown-model", message, { model: id, known });
}
