/** `--max-bytes` and `--max-entries`: how much of a file a command reads. */
import { Option } from "commander";
import type { Command } from "commander";
import type { ReadLimits } from "../transcript/limits.ts";
import { countOf } from "./values.ts";

/** The limits as they stand on the command line. */
export interface LimitFlags {
  readonly maxBytes?: string;
  readonly maxEntries?: string;
}

/** Adds the options to a command. */
export function withReadLimits(command: Command): Command {
  return command
    .addOption(new Option("--max-bytes <n>", "most bytes of a file, unpacked (default: 500000000)"))
    .addOption(new Option("--max-entries <n>", "most lines of a file (default: 500000)"));
}

/**
 * The limits that were given.
 *
 * @throws WindrowError `bad-option`
 */
export function readLimits({ maxBytes, maxEntries }: LimitFlags): { readonly limits?: ReadLimits } {
  if (maxBytes === undefined && maxEntries === undefined) return {};
  const limits = {
    ...(maxBytes !== undefined && { bytes: countOf("--max-bytes", maxBytes) }),
    ...(maxEntries !== undefined && { entries: countOf("--max-entries", maxEntries) }),
  };
  return { limits };
}
