/**
 * The table of models: capacity, prices and the profile of their API. models.json has its rows, which scripts/check-models.ts checks; every
 * value can be overridden, and an unlisted model can be described.
 */
import { WindrowError } from "../errors.ts";
import type { Usage } from "../message/message.ts";
import { nearest } from "../nearest.ts";
import rows from "./models.json" with { type: "json" };

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

/**
 * A row of models.json. Capacities and prices are those of @pydantic/genai-prices 0.1.8 and llm-zoo 1.37.0 on 2026-11-21;
 * models that people run themselves have no price.
 */
type Row = readonly [id: string, contextWindow: number, maxOutput: number, ...prices: readonly number[]];

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
  Object.entries(rows as unknown as Readonly<Record<string, readonly Row[]>>).flatMap(([provider, own]) =>
    own.map(([id, contextWindow, maxOutput, ...prices]) => {
      const [input, output = 0, cacheRead = 0, cacheWrite = 0] = prices;
      const priced = input === undefined ? {} : { prices: { input, output, cacheRead, cacheWrite } };
      const profile = profiles[provider] ?? "openai-chat";
      return [id, { id, provider, contextWindow, maxOutput, ...priced, profile }] as const;
    }),
  ),
);

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

/** An hour in Anthropic's cache costs twice the price of input (its page on prompt caching); the table has five minutes'. */
const hourFactor = 2;

/** A call's price at prices a million tokens: in US dollars at those of the table. A count that is absent is 0. */
export function priceOf(usage: Usage, prices: ModelPrices): number {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0 } = usage;
  const hour = Math.min(cacheWrite, cacheWriteHour);
  const plain = Math.max(0, input - cacheRead - cacheWrite) + hourFactor * hour;
  const cached = cacheRead * prices.cacheRead + (cacheWrite - hour) * prices.cacheWrite;
  return (plain * prices.input + cached + output * prices.output) / 1e6;
}
