/** A memory of files: it tells the paragraphs of an agent's files that a text is about. */
import { inlineText, quoteRest } from "../../message/quote.ts";
import type { Memory } from "../memory.ts";
import { notesMemory, rankedBy } from "../notes.ts";
import type { MemoryFiles } from "./memory-files.ts";

/** Characters of a paragraph at most. */
const longestParagraph = 2_000;

/**
 * Makes a memory over {@link MemoryFiles}: its paragraphs that share words with a question come first, and another memory
 * is asked for what they leave of the tokens. A session that begins with it has what earlier ones wrote down.
 *
 * @param beside - is handed the sessions, and asked too. Default: none
 */
export function fileMemory(files: MemoryFiles, { beside }: { readonly beside?: Memory } = {}): Memory {
  const notes = notesMemory("files", beside, async (text) => {
    const paragraphs = (await files.all()).flatMap((file) =>
      paragraphsOf(file.text).map((paragraph) => ({ file, paragraph })),
    );
    // A note is about the words of its path, too.
    const found = rankedBy(text, paragraphs, ({ file: { path }, paragraph }) => ({
      group: path,
      text: `${path} ${paragraph}`,
    }));
    return found.map(({ file: { path, timestamp, sessionId = files.sessionId }, paragraph }) => {
      const source = inlineText(`${path} ${timestamp.slice(0, 10)}`);
      return { sessionId, seq: 0, text: `[${source}] ${quoteRest(paragraph)}` };
    });
  });
  return { ...notes, readsStore: beside?.readsStore ?? beside === undefined };
}

/** The paragraphs of a file; an item of a list is one of its own. */
function paragraphsOf(text: string): readonly string[] {
  const paragraphs = text.split(/\n(?=\s*(?:[-*+]|\d+[.)])\s)|\n\s*\n/);
  return paragraphs.map((one) => one.trim().slice(0, longestParagraph).toWellFormed()).filter((one) => one !== "");
}
