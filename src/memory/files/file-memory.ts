/** A memory of files: it tells the paragraphs of an agent's files that a text is about. */
import { inlineText, quoteRest } from "../../message/quote.ts";
import { counterOf } from "../../tokens/counters.ts";
import { askMemory } from "../ask.ts";
import { LexicalIndex } from "../lexical.ts";
import { memoryTokens } from "../memory.ts";
import type { Memory, MemoryPassage, MemoryQuery } from "../memory.ts";
import type { FileVersion, MemoryFiles } from "./memory-files.ts";

/** Characters of a paragraph at most. */
const longestParagraph = 2_000;

/**
 * Makes a memory over {@link MemoryFiles}: its paragraphs that share words with a question come first, and another memory
 * is asked for what they leave of the tokens. A session that begins with it has what earlier ones wrote down.
 *
 * @param beside - is handed the sessions, and asked too. Default: none
 */
export function fileMemory(files: MemoryFiles, { beside }: { readonly beside?: Memory } = {}): Memory {
  return {
    name: beside ? `files+${beside.name}` : "files",
    readsStore: beside?.readsStore ?? beside === undefined,

    async receive(sessionId, messages, signal) {
      await beside?.receive(sessionId, messages, signal);
    },

    async query(query: MemoryQuery, signal) {
      const { text, maxTokens = memoryTokens } = query;
      const counter = counterOf(query.counter);
      const told: MemoryPassage[] = [];
      let left = maxTokens;
      for (const { version, paragraph } of ranked(await files.newest(), text)) {
        const passage = `[${inlineText(`${version.path} ${version.timestamp.slice(0, 10)}`)}] ${quoteRest(paragraph)}`;
        const tokens = counter.count(passage);
        if (tokens + 1 > left) continue;
        left -= tokens + 1;
        told.push({
          sessionId: version.sessionId ?? files.sessionId,
          seq: 0,
          text: passage,
          tokens,
          signals: ["words"],
        });
      }
      const more = beside && left > 0 ? await askMemory(beside, { ...query, maxTokens: left }, signal) : [];
      return [...told, ...more];
    },

    async close() {
      await beside?.close();
    },
  };
}

interface Paragraph {
  readonly version: FileVersion;
  readonly paragraph: string;
}

/** The paragraphs that share a word with a text, best first. */
function ranked(versions: readonly FileVersion[], text: string): readonly Paragraph[] {
  const index = new LexicalIndex();
  const paragraphs = new Map<string, readonly string[]>();
  const byPath = new Map(versions.map((version) => [version.path, version]));
  for (const { path, text: written } of versions) {
    const own = paragraphsOf(written ?? "");
    paragraphs.set(path, own);
    for (const [at, paragraph] of own.entries()) {
      // A note is about the words of its path, too.
      const said = `${path} ${paragraph}`;
      index.add(path, at + 1, { id: `m${at + 1}`, role: "user", parts: [{ type: "text", text: said }] });
    }
  }
  return index.search(text).flatMap(({ sessionId: path, seq }) => {
    const version = byPath.get(path);
    const paragraph = paragraphs.get(path)?.[seq - 1];
    return version && paragraph !== undefined ? [{ version, paragraph }] : [];
  });
}

/** The paragraphs of a file; an item of a list is one of its own. */
function paragraphsOf(text: string): readonly string[] {
  const paragraphs = text.split(/\n(?=\s*(?:[-*+]|\d+[.)])\s)|\n\s*\n/);
  return paragraphs.map((one) => one.trim().slice(0, longestParagraph).toWellFormed()).filter((one) => one !== "");
}
