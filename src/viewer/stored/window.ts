/** The window of one call for a page: its blocks, and whether it is the one that was sent. */
import { hashName } from "../../message/hash.ts";
import type { UsedWindow } from "../../message/record.ts";
import { hashMessages } from "../../window/hash.ts";
import type { CallBlocks, Verified, ViewerWindow, WindowEntry } from "../viewer.ts";
import type { EpochLine } from "./epoch-index.ts";
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

/** The blocks that were sent with a call and are not on disk. */
export function missingIn(
  { composed: { state }, sent }: Rebuilt,
  epoch: EpochLine | undefined,
  recorded: UsedWindow | undefined,
): ViewerWindow["missing"] {
  const system = epoch !== undefined && sent.system === undefined && epoch.systemHash !== state.systemHash;
  const tools = epoch !== undefined && sent.tools === undefined && epoch.toolsHash !== state.toolsHash;
  return [
    ...(system ? (["system"] as const) : []),
    ...(tools ? (["tools"] as const) : []),
    ...(recorded?.tail ? (["dynamic"] as const) : []),
  ];
}

/** The facts about a rebuilt window that tell why it may not be the one that was sent. */
export interface Doubts {
  readonly missing: ViewerWindow["missing"];
  /** Whether a message or a text in it is masked. */
  readonly isMasked: boolean;
  /** The hash of the window as it is with what the store's mask sealed; undefined where nothing was sealed. */
  readonly opened: string | undefined;
  /** Whether its epoch is on disk. */
  readonly hasEpoch: boolean;
  /** The counter by which the record's tokens were counted; undefined where that is not known. */
  readonly counter: string | undefined;
  /** Whether the tool definitions on disk are not those of the request. The hash of a window does not cover them. */
  readonly hasOtherTools: boolean;
}

/** Whether the tool definitions on disk have another hash than the epoch's record names. */
export function hasOtherTools({ composed, sent }: Rebuilt, epoch: EpochLine | undefined): boolean {
  return epoch !== undefined && sent.tools !== undefined && epoch.toolsHash !== composed.state.toolsHash;
}

/** The remark on a window that is proved by what the mask sealed. */
const opened =
  "Secrets in it stand masked here. With the originals, which the store keeps sealed, it has the hash of the call's record.";

/** Whether a rebuilt window is the one that a call's record names, and the reason in words where it is not. */
export function verifiedOf(
  { composed, settings }: Rebuilt,
  recorded: UsedWindow | undefined,
  doubts: Doubts,
): Verified {
  const rebuilt = composed.report.windowHash;
  if (!recorded) return { isVerified: false, recorded: null, rebuilt, problem: "The call's record names no window." };
  const { hash, tail, tokens } = recorded;
  if (hash === rebuilt || hash === doubts.opened) {
    const isCountedSame = hash === rebuilt && !tail && settings.counter.name === doubts.counter;
    const isOdd = isCountedSame && tokens !== composed.tokens;
    const isOpened = hash !== rebuilt;
    const odd = `The call's record names ${counted(tokens)} for this window, which has ${counted(composed.tokens)}.`;
    if (!doubts.hasOtherTools)
      return {
        isVerified: true,
        recorded: hash,
        rebuilt,
        ...(isOpened ? { remark: opened } : isOdd && { remark: odd }),
      };
    const problem =
      "Its messages are as they were sent, but its tool definitions on disk are not those of the request: " +
      "secrets in them were masked, or their line was changed.";
    return { isVerified: false, recorded: hash, rebuilt, problem };
  }
  if (tail && tail.before === beforeTail(composed.messages)) {
    const problem =
      `All of it is as it was sent, but for ${counted(tail.tokens)} of text at its end for this call alone: ` +
      "no record holds that text.";
    return { isVerified: false, recorded: hash, rebuilt, problem };
  }
  const problem = problemOf(tokens - composed.tokens - (tail?.tokens ?? 0), doubts);
  return { isVerified: false, recorded: hash, rebuilt, problem };
}

/** The hash of a window's messages without the one that closes it. */
function beforeTail(messages: Rebuilt["composed"]["messages"]): string {
  const hasTail = messages.at(-1)?.id === "windrow:dynamic";
  return hashName(hashMessages(messages, 0, 0, messages.length - (hasTail ? 1 : 0)));
}

function problemOf(difference: number, { missing, isMasked, hasEpoch }: Doubts): string {
  const size =
    difference === 0
      ? "It counts as many tokens as the record names."
      : `The request had ${counted(Math.abs(difference))} ${difference > 0 ? "more" : "less"}.`;
  if (!hasEpoch) return `The line of its epoch is not on disk. ${size}`;
  if (missing.includes("system")) return `Its system prompt is not on disk. ${size}`;
  if (isMasked) return `Secrets were masked on their way to the disk, and the model saw the originals. ${size}`;
  if (missing.includes("tools")) return `Its tool definitions are not on disk. ${size}`;
  return `Its bytes differ from what is on disk; its settings may not be those of the session. ${size}`;
}

function counted(tokens: number): string {
  return `${tokens.toLocaleString("en-US")} ${tokens === 1 ? "token" : "tokens"}`;
}
