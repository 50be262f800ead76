/** Presets by name: strategies with the literal numbers of the designs in docs/presets.md. */
import { WindrowError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import { entityKinds, kinds, layerKinds, listOf, locale, named, oneOf, rollingKinds } from "../options.ts";
import { share, summarisingKinds, thresholdKinds, whole } from "../options.ts";
import type { Named } from "../options.ts";
import { codingAgent } from "./coding-agent.ts";
import type { CodingAgentOptions } from "./coding-agent.ts";
import { miki, mikiSizes } from "./miki.ts";
import type { MikiOptions } from "./miki.ts";
import { openstarryEntity, openstarrySliding, openstarrySummary } from "./openstarry.ts";
import type { OpenstarryEntityOptions, OpenstarrySummaryOptions } from "./openstarry.ts";
import { piPreset } from "./pi.ts";
import type { PiOptions } from "./pi.ts";
import type { Preset } from "./preset.ts";
import { stateManager } from "./state-manager.ts";
import type { StateManagerOptions } from "./state-manager.ts";

const mikiKinds = {
  size: oneOf(...Object.keys(mikiSizes)),
  tools: listOf(kinds.text),
  maxMessages: whole(1),
  maxTextChars: whole(1),
  maxDataChars: whole(1),
  maxUiNodes: whole(0),
  maxUiDepth: whole(0),
  maxUiChildren: whole(0),
  maxWebElements: whole(0),
  maxActions: whole(0),
} as const;

const presets: Readonly<Record<string, Named<Preset>>> = {
  "miki": named<MikiOptions, Preset>(miki, mikiKinds),
  "coding-agent": named<CodingAgentOptions, Preset>(codingAgent, thresholdKinds),
  "openstarry-sliding": named<object, Preset>(openstarrySliding, {}),
  "openstarry-summary": named<OpenstarrySummaryOptions, Preset>(openstarrySummary, rollingKinds),
  "openstarry-entity": named<OpenstarryEntityOptions, Preset>(openstarryEntity, entityKinds),
  "pi": named<PiOptions, Preset>(piPreset, { ...layerKinds, contextRatio: share, locale }),
  "state-manager": named<StateManagerOptions, Preset>(stateManager, {
    ...summarisingKinds,
    ratio: share,
    keepTurns: whole(0),
  }),
};

/** The names {@link presetOf} accepts. */
export const presetNames: readonly string[] = Object.keys(presets);

/** Whether a name is a preset's. */
export function isPreset(name: string): boolean {
  return Object.hasOwn(presets, name);
}

/** The base folder of a preset's store, by its name; undefined for other names, and where it has none. */
export function presetFolder(name: string): string | undefined {
  return isPreset(name) ? presets[name]?.make(name, {}).folder : undefined;
}

/**
 * A preset by name.
 *
 * @example
 * const { strategy } = presetOf("miki", { size: "complex" });
 *
 * @param options - what differs from the preset's numbers; docs/presets.md lists them by preset
 * @throws WindrowError `unknown-strategy` with the nearest name, `bad-option` for an option the preset does not have
 */
export function presetOf(name: string, options: object = {}): Preset {
  if (typeof name !== "string")
    throw new WindrowError("bad-option", `A preset is named by a text: ${presetNames.join(", ")}.`);
  const found = isPreset(name) ? presets[name] : undefined;
  if (!found) {
    throw new WindrowError("unknown-strategy", `There is no preset "${name}".${nearest(name, presetNames)}`, {
      preset: name,
      known: presetNames,
    });
  }
  return found.make(`Preset ${name}`, options);
}
