/**
 * Compares the table of src/tokens/models.json with `@pydantic/genai-prices`, which providers' price pages are collected in.
 *
 *     npx tsc -p tsconfig.bench.json && node dist-bench/scripts/check-models.js [PATH]
 *
 * PATH is the package's `dist/index.js`; without one it is resolved as an installed package. Prints every difference;
 * exit status 1 where one is not explained below, 2 where the package is not there.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { models } from "../src/tokens/models.ts";
import type { ModelFacts } from "../src/tokens/models.ts";

/** What is used of the package. */
interface Prices {
  readonly calcPrice: (
    usage: Readonly<Record<string, number>>,
    model: string,
    options: { readonly providerId: string; readonly timestamp: Date },
  ) => {
    readonly total_price: number;
    readonly model: { readonly id: string; readonly context_window?: number };
  } | null;
}

const providerIds: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
  deepseek: "deepseek",
  mistral: "mistral",
  qwen: "openrouter",
  xai: "x-ai",
  moonshot: "moonshotai",
};

/** Ids under which the package knows a model that we call otherwise. */
const otherIds: Readonly<Record<string, string>> = {
  "qwen-plus": "qwen/qwen-plus",
  "qwen3-max": "qwen/qwen3-max",
  "qwen3-coder-plus": "qwen/qwen3-coder-plus",
  "gemini-3-flash": "gemini-3-flash-preview",
  "gemini-3-pro": "gemini-3-pro-preview",
  "gemini-3.1-pro": "gemini-3.1-pro-preview",
  "grok-4-fast": "grok-4-fast-reasoning",
  "grok-4-1-fast": "grok-4-1-fast-reasoning",
};

/** Differences that are known to be the package's, and why. */
const explained: Readonly<Record<string, string>> = {
  "deepseek-chat": "the package keeps the prices by time of day that ended in 2025",
  "deepseek-reasoner": "the package keeps the prices by time of day that ended in 2025",
  "gemini-1.5-pro": "the package has window and cache price under the id gemini-pro-1.5 only",
};

/** An hour in which no provider's price by time of day is in force. */
const at = new Date(`${new Date().toISOString().slice(0, 10)}T20:00:00Z`);

const prices = await load(process.argv[2]);
let faults = 0;
if (prices) {
  for (const model of models.values()) {
    for (const difference of compare(model, prices)) {
      const reason = explained[model.id];
      if (reason === undefined) faults++;
      console.log(`${model.id}: ${difference}${reason === undefined ? "" : ` (explained: ${reason})`}`);
    }
  }
  console.log(`${models.size} models, ${faults} unexplained differences.`);
  process.exitCode = faults > 0 ? 1 : 0;
}

async function load(path: string | undefined): Promise<Prices | undefined> {
  try {
    const name: string = path === undefined ? "@pydantic/genai-prices" : pathToFileURL(resolve(path)).href;
    return (await import(name)) as Prices;
  } catch (error) {
    console.error(
      `@pydantic/genai-prices could not be loaded: ${String(error)}. Install it or give its dist/index.js.`,
    );
    process.exitCode = 2;
    return undefined;
  }
}

function compare(model: ModelFacts, { calcPrice }: Prices): readonly string[] {
  const options = { providerId: providerIds[model.provider] ?? model.provider, timestamp: at };
  const id = otherIds[model.id] ?? model.id;
  // A thousand tokens stay below every tier; a dollar per thousand of them is a thousand per million.
  const priceOf = (usage: Readonly<Record<string, number>>): number | undefined => {
    const price = calcPrice(usage, id, options)?.total_price;
    return price === undefined ? undefined : price * 1_000;
  };
  const found = calcPrice({ input_tokens: 1_000 }, id, options);
  if (!found) return ["not in the package"];
  const differences: string[] = [];
  const window = found.model.context_window;
  // Some windows are rounded to a million.
  if (window !== undefined && Math.abs(window / model.contextWindow - 1) > 0.06) {
    differences.push(`contextWindow ${model.contextWindow}, package ${window}`);
  }
  const theirs = {
    input: priceOf({ input_tokens: 1_000 }),
    output: priceOf({ output_tokens: 1_000 }),
    cacheRead: priceOf({ input_tokens: 1_000, cache_read_tokens: 1_000 }),
    cacheWrite: priceOf({ input_tokens: 1_000, cache_write_tokens: 1_000 }),
  };
  for (const field of ["input", "output", "cacheRead", "cacheWrite"] as const) {
    const ours = model.prices?.[field];
    const other = theirs[field];
    if (ours !== undefined && other !== undefined && Math.abs(ours - other) > 1e-6) {
      differences.push(`${field} ${ours}, package ${Number(other.toFixed(6))}`);
    }
  }
  return differences;
}
