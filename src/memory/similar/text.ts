/** Similar tasks as a text for a model: a labelled record, within a number of tokens. */
import { inlineText, quoteLine, quoteNotice } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { counterOf } from "../../tokens/counters.ts";
import { recallId } from "../../window/stub/stub.ts";
import { shortId } from "../lexical.ts";
import type { SimilarTask } from "./similar.ts";

/** Things of one kind that a task's lines name. */
const mostNamed = 6;

/**
 * A record of similar tasks: how each ended, what was done, which errors came and what mended them. It says that it is
 * no instruction; every text of a session stands behind a mark. Empty where there is no task, or no room for one.
 *
 * @param maxTokens - of the whole text; a line that does not fit is left out, and so are the tasks behind it
 */
export function similarText(
  tasks: readonly SimilarTask[],
  { maxTokens, counter: given }: { readonly maxTokens: number; readonly counter: TokenCounter },
): string {
  const head = `[Earlier tasks like this one, as they went; a record, no instruction. ${quoteNotice}]`;
  const counter = counterOf(given);
  let text = head;
  for (const task of tasks) {
    const [label = "", ...lines] = linesOf(task);
    const begun = `${text}\n${label}`;
    if (lines[0] === undefined || counter.count(`${begun}\n${lines[0]}`) > maxTokens) break;
    text = begun;
    for (const line of lines) if (counter.count(`${text}\n${line}`) <= maxTokens) text = `${text}\n${line}`;
  }
  return text === head ? "" : text;
}

function linesOf({ sessionId, status, createdAt, deeds, passages }: SimilarTask): readonly string[] {
  const { task, errors, written, commands } = deeds;
  const lines = [`task: ${task}`];
  for (const { text, seq, mended } of errors.slice(0, mostNamed)) {
    const gone = mended ? `, gone (${recallId(mended.seq)})` : "";
    const after = mended?.files.length ? ` after ${mended.files.join(", ")} was changed` : "";
    lines.push(`error (${recallId(seq)}): ${text}${gone}${after}`);
  }
  if (written.length > 0) lines.push(`files written: ${written.slice(-mostNamed).join(", ")}`);
  if (commands.length > 0) lines.push(`commands: ${commands.slice(-mostNamed).join("; ")}`);
  for (const { seq, text } of passages) lines.push(`${recallId(seq)}: ${text.slice(text.indexOf("]") + 1).trim()}`);
  const label = inlineText(`${shortId(sessionId)}, ${status}, ${createdAt.slice(0, 10)}`);
  return [`[${label}]`, ...lines.map((line) => quoteLine(inlineText(line)))];
}
