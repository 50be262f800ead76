/** The messages of a log that may grow, as rows and whole, asked for as they come into view. */
import { batch, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { OutlineRow, ViewerMessage, ViewerSource } from "../../src/viewer/viewer.ts";
import { chunksOf } from "./chunks.ts";
import type { Chunks } from "./chunks.ts";

/** A log, as far as a page knows it. */
export interface GrowingLog {
  /** How many messages it has. */
  readonly messages: ReadonlySignal<number>;
  readonly outline: Chunks<OutlineRow>;
  readonly log: Chunks<ViewerMessage>;
  /** It has so many messages, whoever said so first: the rows behind those that were known are asked for again. */
  grow(messages: number): void;
  /** The server is there: what it could not give is asked for again. */
  retry(): void;
}

/** Rows of the outline that are asked for at once. */
const rowsAtOnce = 200;

/** The log of a session. */
export function growingLog(source: Pick<ViewerSource, "outline" | "messages">, id: string): GrowingLog {
  const messages = signal(0);
  // The first rows are on their way before it is known how many there are.
  let early: Promise<readonly OutlineRow[]> | undefined = source.outline(id, 1, rowsAtOnce);
  early.catch(() => undefined);
  async function rows(from: number, to: number): Promise<readonly OutlineRow[]> {
    const asked = from === 1 ? early : undefined;
    if (from === 1) early = undefined;
    const found = await asked;
    return found && found.length >= Math.min(to, messages.peek()) ? found : source.outline(id, from, to);
  }
  const outline = chunksOf(rowsAtOnce, 600, rows);
  const log = chunksOf(25, 80, (from, to) => source.messages(id, from, to));
  return {
    messages,
    outline,
    log,
    grow(to) {
      const known = messages.peek();
      if (to <= known) return;
      batch(() => {
        outline.forgetFrom(known + 1);
        log.forgetFrom(known + 1);
        messages.value = to;
      });
    },
    retry() {
      outline.retry();
      log.retry();
    },
  };
}
