/** The looks of a report: its layout, and the terminal that it is shown in. */
import { Option } from "commander";
import { wantsColour } from "../command.ts";
import type { CommandIo } from "../command.ts";

/** The terminal of a report. */
export interface Look {
  /** Columns of the terminal; 0 where they are not known. */
  readonly columns: number;
  readonly colour: boolean;
}

/** The layouts of a report; `coding-agent` is that of the preset, literally. */
export type LayoutName = "windrow" | "coding-agent";

const layouts: readonly LayoutName[] = ["windrow", "coding-agent"];

/** The terminal that a command writes to. */
export function lookOf({ stdout, env }: CommandIo): Look {
  return { columns: stdout.columns ?? 0, colour: wantsColour(stdout, env) };
}

/** The flag that names the layout. */
export function layoutOption(otherwise: string): Option {
  return new Option("--layout <name>", `the layout (default: ${otherwise})`).choices(layouts);
}
