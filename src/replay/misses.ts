/** The single references that a window does not answer by itself, and the recall that the window suggests for each. */
import type { RecallQuery } from "../window/recall/query.ts";
import type { Message } from "../message/message.ts";
import type { Recording, MeasuredWindow } from "./measure.ts";
import type { Quote } from "./quote-metric.ts";

/** One reference that a window lacks. */
export interface Miss {
  /** `quote`: the old text of an edit; `hunk`: of a patch; `reference`: a name, a number or a line of a call. */
  readonly kind: "quote" | "hunk" | "reference";
  readonly text: string;
  /** The index of the newest message before the call that has it. */
  readonly source: number;
  /** The recall that the window suggests and that brings it; undefined where there is none. */
  readonly recall: RecallQuery | undefined;
}

/**
 * The misses of one call: its exact quotes from far back, then its other references. A text inside of a longer one from
 * the same message, which is missed too, is not told.
 *
 * @param index - of the assistant message that refers back
 */
export function missesOf(
  recording: Recording,
  index: number,
  window: Pick<MeasuredWindow, "messages" | "edits">,
): readonly Miss[] {
  const { messages, reader, references, quotes, patchQuotes, oneHop } = recording;
  const recalls = oneHop.recallsFor(index, window.edits, window.messages);
  const found: Miss[] = [
    ...quotesIn(recording, index, quotes, window.messages).map((quote) => ({ kind: "quote" as const, ...quote })),
    ...quotesIn(recording, index, patchQuotes, window.messages).map((quote) => ({ kind: "hunk" as const, ...quote })),
  ].map(({ kind, text, places }) => ({
    kind,
    text,
    source: places.at(-1) ?? 0,
    recall: recalls(places, { text }),
  }));
  const lacking = (references.get(index) ?? [])
    .filter(({ atom }) => !window.messages.some((message) => reader.has(message, atom)))
    .toSorted((left, right) => right.atom.length - left.atom.length);
  for (const { atom, places } of lacking) {
    const source = places.findLast((place) => place < index && messages[place]) ?? 0;
    const text = atom.trim();
    if (found.some((miss) => miss.source === source && miss.text.includes(text))) continue;
    found.push({ kind: "reference", text, source, recall: recalls(places, atom) });
  }
  return found;
}

/** The far quotes of a call that no message of the window has whole, with the messages that have them. */
function quotesIn(
  { messages, quoteReader, farDistance }: Recording,
  index: number,
  quotes: ReadonlyMap<number, readonly Quote[]>,
  window: readonly Message[],
): readonly { readonly text: string; readonly places: readonly number[] }[] {
  return (quotes.get(index) ?? [])
    .filter(({ text, distance }) => distance > farDistance && !window.some((message) => quoteReader.has(message, text)))
    .map(({ text }) => ({
      text,
      places: messages.slice(0, index).flatMap((message, place) => (quoteReader.has(message, text) ? [place] : [])),
    }));
}
