/** The bodies that were read last: a request that goes on from one begins with its bytes, and those are not read again. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { WireMessage } from "../gateway.ts";
import type { BodyRanges, KnownElements } from "./json-ranges.ts";

/** A body whose messages were read. */
export interface RecentBody {
  readonly body: Buffer;
  /** The name of its API. */
  readonly shape: string;
  readonly ranges: BodyRanges;
  readonly messages: readonly WireMessage[];
  /** The members of the body beside its messages, parsed. */
  readonly fields: JsonObject;
}

/** What a body has of another one. */
export interface KnownMessages extends KnownElements {
  /** The messages that it begins with. */
  readonly messages: readonly WireMessage[];
  /** The value of a member whose bytes are the other's; undefined for other bytes. */
  field(name: string, bytes: Buffer): JsonValue | undefined;
}

interface Entry extends RecentBody {
  readonly used: number;
}

/** The newest bodies, one of each conversation. */
export class RecentBodies {
  readonly #most: number;
  readonly #mostBytes: number;
  readonly #idleMs: number;
  readonly #now: () => number;
  /** The newest last. */
  #entries: readonly Entry[] = [];

  constructor({
    most = 16,
    mostBytes = 32 * 1_024 * 1_024,
    idleMs = 300_000,
    now = (): number => performance.now(),
  }: {
    /** Bodies, and their bytes together. */
    readonly most?: number;
    readonly mostBytes?: number;
    /** Milliseconds behind which a body that nothing went on from is let go. */
    readonly idleMs?: number;
    /** Milliseconds that only grow. */
    readonly now?: () => number;
  } = {}) {
    this.#most = most;
    this.#mostBytes = mostBytes;
    this.#idleMs = idleMs;
    this.#now = now;
  }

  /** The messages that a body begins with; undefined where it begins as none of the newest does. */
  begun(body: Buffer, shape: string): KnownMessages | undefined {
    let best: RecentBody | undefined;
    let length = 0;
    for (const entry of this.#entries) {
      if (entry.shape !== shape) continue;
      const common = commonLength(body, entry);
      if (common > length) [best, length] = [entry, common];
    }
    if (!best?.ranges.list) return undefined;
    const { body: other, ranges, messages, fields } = best;
    return {
      open: best.ranges.list.start - 1,
      field(name, bytes) {
        const range = ranges.members.get(name);
        return range && bytes.equals(other.subarray(range.start, range.end)) ? fields[name] : undefined;
      },
      elements: ranges.elements.slice(0, length),
      messages: messages.slice(0, length),
    };
  }

  /** Takes a body in the place of the one that it goes on from, and of those that were there too long. */
  add(added: RecentBody): void {
    const now = this.#now();
    const kept: Entry[] = [{ ...added, used: now }];
    let bytes = added.body.length;
    if (bytes > this.#mostBytes) return;
    for (const entry of this.#entries.toReversed()) {
      if (now - entry.used > this.#idleMs || kept.length === this.#most) break;
      if (entry.shape === added.shape && goesOn(added.body, entry)) continue;
      bytes += entry.body.length;
      if (bytes > this.#mostBytes) break;
      kept.unshift(entry);
    }
    this.#entries = kept;
  }
}

/** Messages at the beginning of a body that are another's, byte for byte, with all that stands before them. */
function commonLength(body: Buffer, { body: other, ranges: { elements } }: RecentBody): number {
  const has = (count: number): boolean => {
    const end = elements[count - 1]?.end ?? 0;
    return end <= body.length && body.compare(other, 0, end, 0, end) === 0;
  };
  if (elements.length === 0 || !has(1)) return 0;
  let [low, high] = [1, elements.length];
  // Most conversations grow at their end.
  if (has(high)) return high;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (has(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Whether a body has all but the last few messages of another, which clients mark anew from call to call. */
function goesOn(body: Buffer, entry: RecentBody): boolean {
  return commonLength(body, entry) >= Math.max(1, entry.messages.length - 4);
}

/** The bodies of all APIs together. */
export const recent = new RecentBodies();
