/** The answer about a file: its text as it stands now, whole where it fits, else what the words ask for. */
import { quoteLine } from "../../message/quote.ts";
import type { Work } from "../../turns.ts";
import { recallId } from "../stub/stub.ts";
import { fit } from "./answer.ts";
import { Chooser } from "./choose.ts";
import type { Choice, ChoiceOptions } from "./choose.ts";
import { headOf } from "./document.ts";
import type { FileNow } from "./files.ts";
import { RecallSearch } from "./search.ts";
import type { RecallWords } from "./words.ts";

/** Messages that a head names as the sources of a file's lines, the newest. */
const mostSources = 4;

/** The head of a file's text: as of which message, from which, and since when it may be another. */
function labelOf({ path, view, seqs }: FileNow): { readonly label: string; readonly note: string } {
  const from = seqs.slice(-mostSources).map((seq) => recallId(seq));
  const sources = `from ${seqs.length > mostSources ? "… " : ""}${from.join(" ")}`;
  const doubt = view.doubt > (seqs.at(-1) ?? 0) ? `; ${recallId(view.doubt)} may have changed it since` : "";
  return { label: `${path} as it stands`, note: `${sources}${doubt}` };
}

/** A file's text, its known stretches in order. */
function textOf({ view }: FileNow): string {
  return view.stretches.map(({ lines }) => lines.map(({ text }) => text).join("\n")).join(`\n${gap}\n`);
}

/** A line between stretches that are not known to follow on each other. */
const gap = "…";

/** A file whole, or its beginning where it does not fit. */
export function wholeFile(file: FileNow, { maxTokens, counter }: ChoiceOptions): Choice {
  const { label, note } = labelOf(file);
  const lines = textOf(file).split("\n");
  const head = headOf({ seq: file.seq, label }, note);
  const quoted = lines.map((line) => (line === gap ? line : quoteLine(line)));
  const whole = [head, ...quoted].join("\n");
  const seqs = [file.seq];
  if (counter.count(whole) <= maxTokens) return { text: whole, seqs, more: false };
  const more = `[the beginning of ${lines.length} lines; recall the path with words for the rest]`;
  const room = maxTokens - counter.count(more) - 2;
  const text = room > counter.count(head) ? `${fit(whole, room, counter)}\n${more}` : fit(whole, maxTokens, counter);
  return { text, seqs, more: true };
}

/** The passages of a file that have words; empty where it has none. */
export function* fileWith(words: RecallWords, file: FileNow, options: ChoiceOptions): Work<Choice> {
  const { label, note } = labelOf(file);
  const search = new RecallSearch(words);
  yield* search.take({ seq: file.seq, label: `${label}; ${note}`, text: textOf(file) });
  return yield* new Chooser(words, search.rarity, options).choose(search.ranked());
}
