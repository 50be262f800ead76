/**
 * The `llm` section of a host's config.yaml: `llm.<provider>.model` and `context_length` become `model` and `budget`.
 */
import { WindrowError } from "../errors.ts";
import { isObject } from "../message/json.ts";
import { nearest } from "../nearest.ts";
import { findModel } from "../tokens/models.ts";
import type { ModelDescription } from "../tokens/models.ts";
import { layerNames } from "./layers.ts";
import type { Layered, Origin } from "./layers.ts";
import type { Settings } from "./schema.ts";

/** Tokens reserved for the answer of an unknown model. */
const unknownMaxOutput = 4_096;

/**
 * Replaces the `llm` section by `model`, when it comes from a stronger layer than the one that set `model`, and by
 * `budget` likewise.
 *
 * @throws WindrowError `bad-option` for a provider that `llm` does not have
 */
export function foldHostKeys(given: Layered): Layered {
  const { llm: _llm, llm_provider: _provider, context_length: _length, ...rest } = given.settings;
  const { compression_threshold, ...settings } = rest;
  const origins = new Map([...given.origins].filter(([key]) => !isHostKey(key)));
  const strongest = (test: (key: string) => boolean): Origin | undefined =>
    [...given.origins]
      .filter(([key]) => test(key))
      .map(([, origin]) => origin)
      .reduce(stronger, undefined);
  let { model, budget } = settings;
  const hostModel = strongest((key) => key.startsWith("llm") || key === "context_length");
  if (hostModel && isOver(hostModel, origins.get("model"))) {
    model = modelOf(given.settings, typeof model === "string" ? { id: model } : model);
    origins.set("model", hostModel);
  }
  const hostBudget = strongest((key) => key === "compression_threshold");
  const facts = typeof model === "string" ? findModel(model) : model;
  const table = facts?.id === undefined ? undefined : findModel(facts.id);
  const contextWindow = facts?.contextWindow ?? table?.contextWindow;
  if (compression_threshold !== undefined && contextWindow !== undefined && isOver(hostBudget, origins.get("budget"))) {
    budget = Math.floor(contextWindow * compression_threshold);
    if (hostBudget) origins.set("budget", hostBudget);
  }
  return {
    settings: { ...settings, ...(model !== undefined && { model }), ...(budget !== undefined && { budget }) },
    origins,
  };
}

function isHostKey(key: string): boolean {
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
    // A small `contextWindow` with a model that gives long answers leaves half of it for the window.
    ...(room !== undefined && { maxOutput: Math.min(most, Math.floor(room / 2)) }),
  };
}
