/** The single references that a window does not answer by itself, and the recall that the window suggests for each. */
import type { RecallQuery } from "../window/recall/query.ts";
import type { Recording, MeasuredWindow } from "./measure.ts";

/** One reference that a window lacks: a name, a number or a line of a call. */
export interface Miss {
  readonly text: string;
  /** The index of the newest message before the call that has it. */
  readonly source: number;
  /** The recall that the window suggests and that brings it; undefined where there is none. */
  readonly recall: RecallQuery | undefined;
}

/**
 * The misses of one call, the longest first. A text inside a longer one from the same message, which is missed too, is
 * left out.
 *
 * @param index - of the assistant message that refers back
 */
export function missesOf(
  { messages, reader, references, oneHop }: Recording,
  index: number,
  window: Pick<MeasuredWindow, "messages" | "edits">,
): readonly Miss[] {
  const recalls = oneHop.recallsFor(index, window.edits, window.messages);
  const found: Miss[] = [];
  const lacking = (references.get(index) ?? [])
    .filter(({ atom }) => !window.messages.some((message) => reader.has(message, atom)))
    .toSorted((left, right) => right.atom.length - left.atom.length);
  for (const reference of lacking) {
    const source = reference.places.findLast((place) => place < index && messages[place]) ?? 0;
    const text = reference.atom.trim();
    if (found.some((miss) => miss.source === source && miss.text.includes(text))) continue;
    found.push({ text, source, recall: recalls(reference) });
  }
  return found;
}
