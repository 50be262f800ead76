/**
 * Removed lines: lines that edits, patches and writes took out of files, and that nothing showed since. They are found by
 * the marks of the calls alone, so that they do not rest on what anyone believes the files to hold.
 */
import { resultText, toolCalls, toolResults } from "../../../src/message/message.ts";
import type { JsonValue, Message, ToolCallPart } from "../../../src/message/message.ts";
import { textEdits } from "./edit-shape.ts";
import { linesOf } from "../../../src/replay/lines.ts";
import { patchedFiles } from "./patch-shape.ts";

/** The shortest removed line that counts, in UTF-16 code units. A shorter one may well remain elsewhere in its file. */
const shortestTelling = 16;

const pathName = /path|file/i;
const contentName = /^(?:contents?|file_?text|text)$/i;
const failing =
  /^\W*(?:error|failed|could not|no (?:match|replacement))\b|\bexit(?:ed with)?[ _]code\W{0,3}[1-9]|verification failed|^Script failed/im;
/** The place of a line in the output of a search over several files. */
const foundAt = /^[^\s:]+[:-]\d+[:-]/;

/** The lines that files had and have no more. */
export class RemovedLines {
  /** By path: each line that the file was seen with, and whether it was taken out since. */
  readonly #files = new Map<string, Map<string, boolean>>();
  readonly #calls = new Map<string, ToolCallPart>();

  /** Takes the next message of the history. */
  push(message: Message): void {
    for (const call of toolCalls(message)) this.#calls.set(call.callId, call);
    for (const result of toolResults(message)) {
      const call = this.#calls.get(result.callId);
      this.#calls.delete(result.callId);
      const text = resultText(result);
      const failed = result.isError === true || failing.test(text.slice(0, 400));
      if (call && !failed) this.#change(call.args);
      const shown = shownLines(text);
      this.#show(shown);
      if (call && !failed) for (const path of pathsIn(call.args)) this.#see(path, shown);
    }
  }

  /** Whether a line was taken out of the file of this name, and not shown again; undefined for a file never changed. */
  of(path: string): ((line: string) => boolean) | undefined {
    const known = this.#known(path);
    if (known.length === 0) return undefined;
    return (line) => line.length >= shortestTelling && known.some((lines) => lines.get(line) === true);
  }

  /** Whether a line was taken out of any file, and no file is known to have it. */
  has(line: string): boolean {
    if (line.length < shortestTelling) return false;
    const states = [...this.#files.values()].map((lines) => lines.get(line));
    return states.includes(true) && !states.includes(false);
  }

  #change(args: JsonValue): void {
    const [path = ""] = pathsIn(args);
    const edits = textEdits(args);
    for (const { old, fresh } of edits) this.#replace(path, linesOf(old), linesOf(fresh));
    for (const { path: patched, kind, to, hunks } of patchedFiles(args)) {
      if (kind !== "update") this.#replaceAll(patched, linesOf(hunks.flatMap(({ fresh }) => fresh).join("\n")));
      else for (const { old, fresh } of hunks) this.#replace(patched, lines(old), lines(fresh));
      if (to !== undefined) this.#replaceAll(patched, []);
    }
    if (edits.length > 0 || path === "" || typeof args !== "object" || args === null) return;
    const texts: readonly (readonly [string, JsonValue])[] = Object.entries(args);
    const content = texts.find(([name, value]) => contentName.test(name) && typeof value === "string")?.[1];
    if (typeof content === "string") this.#replaceAll(path, linesOf(content));
  }

  #replace(path: string, old: readonly string[], fresh: readonly string[]): void {
    const own = this.#own(path);
    for (const line of old) own.set(line, true);
    for (const known of this.#known(path)) for (const line of old) if (known.has(line)) known.set(line, true);
    this.#show(fresh);
    this.#see(path, fresh);
  }

  #replaceAll(path: string, fresh: readonly string[]): void {
    for (const known of this.#known(path)) for (const line of known.keys()) known.set(line, true);
    this.#show(fresh);
    this.#see(path, fresh);
  }

  /** Takes lines for known: they stand somewhere, whoever took them out. */
  #show(shown: readonly string[]): void {
    for (const known of this.#files.values()) for (const line of shown) if (known.has(line)) known.set(line, false);
  }

  #see(path: string, shown: readonly string[]): void {
    const own = this.#own(path);
    for (const line of shown) own.set(line, false);
  }

  #own(path: string): Map<string, boolean> {
    const name = path.replace(/^\.\//, "");
    let own = this.#files.get(name);
    if (!own) this.#files.set(name, (own = new Map()));
    return own;
  }

  /** The files that a path can mean: itself, and those of which one is the end of the other. */
  #known(path: string): readonly Map<string, boolean>[] {
    const name = path.replace(/^(?:\.\/|…)/, "");
    const same = (known: string): boolean =>
      known === name ||
      known.endsWith(`/${name}`) ||
      name.endsWith(`/${known}`) ||
      (path.startsWith("…") && known.endsWith(name));
    return name === "" ? [] : [...this.#files].flatMap(([known, lines]) => (same(known) ? [lines] : []));
  }
}

function lines(texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? [] : linesOf(texts.join("\n"));
}

/** The lines that a result shows, those of searches and diffs without what stands before them. */
function shownLines(text: string): readonly string[] {
  const shown = linesOf(text);
  return [
    ...shown,
    ...shown.flatMap((line) => (line.startsWith("+") ? linesOf(line.slice(1)) : [])),
    ...text.split("\n").flatMap((line) => (foundAt.test(line) ? linesOf(line.replace(foundAt, "")) : [])),
  ];
}

function pathsIn(args: JsonValue): readonly string[] {
  if (typeof args !== "object" || args === null) return [];
  const items: readonly (readonly [string, JsonValue])[] = Object.entries(args);
  return items.flatMap(([name, value]) => {
    if (typeof value !== "string") return pathsIn(value);
    return pathName.test(name) && /^[^\s"'`<>|;,(){}*]{1,400}$/.test(value) ? [value] : [];
  });
}
