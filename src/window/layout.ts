/** A window's blocks, as it would stand now. */
import type { Message } from "../message/message.ts";
import type { Fixed } from "./fixed.ts";
import type { Shape } from "./history.ts";
import type { DynamicBlock, Report } from "./window.ts";

/** A window's blocks, before anything is decided. */
export interface Layout extends Shape {
  readonly fixed: Fixed;
  readonly lead: readonly Message[];
  readonly history: readonly Message[];
  readonly sticky: readonly DynamicBlock[];
  readonly blocks: Report["blocks"];
  /** Of the whole request. */
  readonly tokens: number;
}
