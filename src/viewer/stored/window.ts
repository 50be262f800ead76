/** The window of one call for a page: rebuilt, and compared with what its record names. */
import type { Composed } from "../../window/window.ts";
import type { CallBlocks, Verified, ViewerWindow, WindowEntry } from "../viewer.ts";
import type { UsageLine } from "./calls.ts";
import type { Rebuilt } from "./rebuild.ts";

/** The tokens of a rebuilt window by block; `tokens` are those that its record names. */
export function rebuiltBlocks({ composed }: Rebuilt, entries: readonly WindowEntry[], tokens: number): CallBlocks {
  const { system, tools } = composed.report.blocks;
  const sum = (...kinds: readonly WindowEntry["kind"][]): number =>
    entries.reduce((total, entry) => total + (kinds.includes(entry.kind) ? entry.tokens : 0), 0);
  const pinned = sum("pinned", "insert", "dynamic");
  const digest = sum("digest", "summary", "note");
  const stubs = composed.state.edits.reduce((total, edit) => total + (edit.kind === "stub" ? edit.tokensAfter : 0), 0);
  const history = composed.tokens - system - tools - pinned - digest - stubs;
  return { system, tools, pinned, digest, stubs, history, rest: tokens - composed.tokens };
}

/** Whether a rebuilt window is the one that a call's record names, and what may be the reason where it is not. */
export function verifiedOf(
  { composed }: Rebuilt,
  recorded: UsageLine["window"],
  { isMasked, missing }: { readonly isMasked: boolean; readonly missing: ViewerWindow["missing"] },
): Verified {
  const rebuilt = composed.report.windowHash;
  if (!recorded) return { isVerified: false, recorded: null, rebuilt, problem: "The call's record names no window." };
  const { hash } = recorded;
  if (hash === rebuilt) return { isVerified: true, recorded: hash, rebuilt };
  return { isVerified: false, recorded: hash, rebuilt, problem: problemOf(composed, recorded, isMasked, missing) };
}

function problemOf(
  composed: Composed,
  recorded: NonNullable<UsageLine["window"]>,
  isMasked: boolean,
  missing: ViewerWindow["missing"],
): string {
  const difference = recorded.tokens - composed.tokens;
  const size = `${Math.abs(difference).toLocaleString("en-US")} tokens ${difference > 0 ? "more" : "less"}`;
  if (missing.includes("system")) return `Its system prompt is not on disk. The request had ${size}.`;
  if (isMasked) return "Secrets were masked on their way to the disk: the model saw the originals.";
  if (missing.includes("dynamic")) return `Text of that call alone is not on disk. The request had ${size}.`;
  return difference === 0
    ? "It has as many tokens as the record names, and other bytes."
    : `The request had ${size} than what is on disk explains.`;
}
