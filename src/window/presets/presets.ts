/** Presets by name: strategies with the literal numbers of the designs in docs/presets.md. */
import { WindrowError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import { checkOptions, named, summarisingNames } from "../options.ts";
import type { Named } from "../options.ts";
import { codingAgent } from "./coding-agent.ts";
import type { CodingAgentOptions } from "./coding-agent.ts";
import { miki } from "./miki.ts";
import type { MikiOptions } from "./miki.ts";
import { openstarryEntity, openstarrySliding, openstarrySummary } from "./openstarry.ts";
import type { OpenstarryEntityOptions, OpenstarrySummaryOptions } from "./openstarry.ts";
import { piPreset } from "./pi.ts";
import type { PiOptions } from "./pi.ts";
import type { Preset } from "./preset.ts";
import { stateManager } from "./state-manager.ts";
import type { StateManagerOptions } from "./state-manager.ts";

const layers = {
  keepRecentToolResults: true,
  keepRecentThinking: true,
  keepRecentMessages: true,
  headLines: true,
  tailLines: true,
} as const;

const mikiOptions = {
  size: true,
  tools: true,
  maxMessages: true,
  maxTextChars: true,
  maxDataChars: true,
  maxUiNodes: true,
  maxUiDepth: true,
  maxUiChildren: true,
  maxWebElements: true,
  maxActions: true,
} as const;

const codingAgentOptions = {
  ...summarisingNames,
  ratio: true,
  minMessages: true,
  keepRecent: true,
  mode: true,
} as const;

const presets: Readonly<Record<string, Named<Preset>>> = {
  "miki": named<MikiOptions, Preset>(miki, mikiOptions),
  "coding-agent": named<CodingAgentOptions, Preset>(codingAgent, codingAgentOptions),
  "openstarry-sliding": named<object, Preset>(openstarrySliding, {}),
  "openstarry-summary": named<OpenstarrySummaryOptions, Preset>(openstarrySummary, {
    threshold: true,
    oldest: true,
    compressionModel: true,
    ...summarisingNames,
  }),
  "openstarry-entity": named<OpenstarryEntityOptions, Preset>(openstarryEntity, {
    schema: true,
    extract: true,
    role: true,
  }),
  "pi": named<PiOptions, Preset>(piPreset, { ...layers, contextRatio: true, locale: true }),
  "state-manager": named<StateManagerOptions, Preset>(stateManager, {
    ...summarisingNames,
    ratio: true,
    keepTurns: true,
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
  return isPreset(name) ? presets[name]?.make({}).folder : undefined;
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
  const found = isPreset(name) ? presets[name] : undefined;
  if (!found) {
    throw new WindrowError("unknown-strategy", `There is no preset "${name}".${nearest(name, presetNames)}`, {
      preset: name,
      known: presetNames,
    });
  }
  checkOptions(`Preset ${name}`, options, found.options);
  return found.make(options);
}
