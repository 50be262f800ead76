/** Seed 001's config.yaml (§4.2): `llm.<provider>.model` and `context_length`, read as `model` and `budget`. */
import { WindrowError } from "../errors.ts";
import { isObject } from "../message/json.ts";
import { nearest } from "../nearest.ts";
import { findModel } from "../tokens/models.ts";
import type { ModelDescription } from "../tokens/models.ts";
import { layerNames } from "./layers.ts";
import type { Layered, Origin } from "./layers.ts";
import type { Settings } from "./schema.ts";

/** Tokens of an answer, of a model of which nothing is known. */
const unknownMaxOutput = 4_096;

/**
 * Settings without the seed's keys: they have become `model`, where they come from a layer above the one that set it, and
 * `budget` likewise.
 *
 * @throws WindrowError `bad-option` for a provider that `llm` does not have
 */
export function foldSeed(given: Layered): Layered {
  const { llm: _llm, llm_provider: _provider, context_length: _length, ...rest } = given.settings;
  const { compression_threshold, ...settings } = rest;
  const origins = new Map([...given.origins].filter(([key]) => !isSeedKey(key)));
  const strongest = (test: (key: string) => boolean): Origin | undefined =>
    [...given.origins]
      .filter(([key]) => test(key))
      .map(([, origin]) => origin)
      .reduce(stronger, undefined);
  let { model, budget } = settings;
  const seedModel = strongest((key) => key.startsWith("llm") || key === "context_length");
  if (seedModel && isOver(seedModel, origins.get("model"))) {
    model = modelOf(given.settings, typeof model === "string" ? { id: model } : model);
    origins.set("model", seedModel);
  }
  const seedBudget = strongest((key) => key === "compression_threshold");
  const facts = typeof model === "string" ? findModel(model) : model;
  const table = facts?.id === undefined ? undefined : findModel(facts.id);
  const contextWindow = facts?.contextWindow ?? table?.contextWindow;
  if (compression_threshold !== undefined && contextWindow !== undefined && isOver(seedBudget, origins.get("budget"))) {
    budget = Math.floor(contextWindow * compression_threshold);
    if (seedBudget) origins.set("budget", seedBudget);
  }
  return {
    settings: { ...settings, ...(model !== undefined && { model }), ...(budget !== undefined && { budget }) },
    origins,
  };
}

function isSeedKey(key: string): boolean {
  return /^(?:llm(?:\.|$)|llm_provider$|context_length$|compression_threshold$)/.test(key);
}

function stronger(one: Origin | undefined, other: Origin): Origin {
  return one && isOver(one, other) ? one : other;
}

function isOver(one: Origin | undefined, other: Origin | undefined): boolean {
  if (!one || !other) return one !== undefined;
  return layerNames.indexOf(one.layer) > layerNames.indexOf(other.layer);
}

function modelOf({ llm = {}, llm_provider, context_length }: Settings, below: Settings["model"]): Settings["model"] {
  const named = llm_provider ?? (typeof llm["provider"] === "string" ? llm["provider"] : undefined);
  const providers = Object.keys(llm).filter((key) => isObject(llm[key]));
  const provider = named ?? providers[0];
  const entry = provider === undefined ? undefined : llm[provider];
  if (named !== undefined && providers.length > 0 && !isObject(entry)) {
    const message = `"llm" has no provider "${named}".${nearest(named, providers)}`;
    throw new WindrowError("bad-option", message, { provider: named, known: providers });
  }
  const { model: id, context_length: own, max_output } = isObject(entry) ? entry : {};
  const base: ModelDescription = id === undefined && typeof below === "object" ? below : {};
  const name = typeof id === "string" ? id : base.id;
  const table = name === undefined ? undefined : findModel(name);
  const contextWindow = context_length ?? (typeof own === "number" ? own : undefined) ?? base.contextWindow;
  const room = contextWindow ?? table?.contextWindow;
  const most = typeof max_output === "number" ? max_output : (base.maxOutput ?? table?.maxOutput ?? unknownMaxOutput);
  return {
    ...base,
    ...(name !== undefined && { id: name }),
    ...(provider !== undefined && { provider }),
    ...(contextWindow !== undefined && { contextWindow }),
    // A small contextWindow over a model known to answer at length leaves half of it for the window.
    ...(room !== undefined && { maxOutput: Math.min(most, Math.floor(room / 2)) }),
  };
}
