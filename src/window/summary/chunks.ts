/** Chunks: the messages of one request to a summariser, never more than its window can take. */
import { groupSteps } from "../../message/step.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { clip } from "../stub/cut.ts";
import type { TextMask } from "../window.ts";
import type { SourceItem } from "./source.ts";

/**
 * Items in order, as many together as `room` tokens hold; an item that is larger alone is cut in its middle. Stops reading
 * when there are more than `most` chunks.
 */
export function chunkItems(
  items: Iterable<SourceItem>,
  room: number,
  counter: TokenCounter,
  mask: TextMask,
  most = Infinity,
): readonly (readonly SourceItem[])[] {
  const chunks: SourceItem[][] = [];
  let left = 0;
  for (const item of items) {
    const shown = { ...item, text: cutToRoom(item.text, room - 1, counter, mask) };
    const tokens = counter.count(shown.text) + 1;
    const chunk = chunks.at(-1);
    if (chunk && tokens <= left) {
      chunk.push(shown);
      left -= tokens;
    } else if (chunks.push([shown]) > most) {
      break;
    } else {
      left = room - tokens;
    }
  }
  return chunks;
}

/** A text cut in its middle until it has at most so many tokens; empty where not even a word fits. */
export function cutToRoom(text: string, maxTokens: number, counter: TokenCounter, mask: TextMask): string {
  let shown = text;
  while (shown !== "" && counter.count(shown) > maxTokens) {
    const length = Math.floor(shown.length * Math.min(0.9, maxTokens / counter.count(shown)));
    shown = length < 8 ? "" : clip(shown, length, mask);
  }
  return shown;
}

/** The last message up to `seq` behind which no step is torn apart; 0 where there is none. */
export function stepEnd(messages: readonly NumberedMessage[], seq: number): number {
  const offset = (messages[0]?.seq ?? 1) - 1;
  const steps = groupSteps(messages.map(({ message }) => message)).map((step) => {
    const seqs = step.messages.map((numbered) => numbered.seq + offset);
    return { from: Math.min(...seqs), to: Math.max(...seqs) };
  });
  let end = seq;
  for (const step of steps.toReversed()) if (step.from <= end && step.to > end) end = step.from - 1;
  return end < offset + 1 ? 0 : end;
}
