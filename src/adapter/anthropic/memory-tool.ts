/** Anthropic's memory tool (`memory_20250818`) over the versioned files of a memory. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import { memoryPath, memoryRoot } from "../../memory/files/path.ts";
import type { MemoryFiles } from "../../memory/files/memory-files.ts";
import { asObject, asString, parseJson } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";
import { shown } from "../../shown.ts";
import { aboveZero, checkGiven } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import { linesOf, listing, numbered, occurrences, snippet } from "./memory-text.ts";

/** The commands of the tool. */
type MemoryCommand = "view" | "create" | "str_replace" | "insert" | "delete" | "rename";

/** The options of {@link anthropicMemoryTool}. */
export interface AnthropicMemoryOptions {
  /** Most characters of a file that one `view` shows; the model sees the others with `view_range`. Default 40,000. */
  readonly maxCharacters?: number;
}

/** The memory tool, in the shapes that hosts take. */
export interface AnthropicMemoryTool {
  /** For `betaMemoryTool(handlers)` of `@anthropic-ai/sdk`. */
  readonly handlers: Readonly<Record<MemoryCommand, (command: object) => Promise<string>>>;
  /** For `anthropic.tools.memory_20250818({ execute })` of `@ai-sdk/anthropic`, and that of `@langchain/anthropic`. */
  readonly execute: (command: object) => Promise<string>;
  /** For the request's `tools`, in a loop of one's own. */
  readonly tool: { type: "memory_20250818"; name: "memory" };
  /**
   * The block that answers a use of this tool, in a loop of one's own; undefined for any other block. It never rejects.
   *
   * @param block - a block of the answer's `content`
   */
  readonly answer: (
    block: object,
  ) => Promise<{ type: "tool_result"; tool_use_id: string; content: string; is_error?: true } | undefined>;
}

const optionKinds = { maxCharacters: aboveZero } as const satisfies Record<keyof AnthropicMemoryOptions, Kind>;

const name = "memory";
const defaultCharacters = 40_000;

/** Most lines of a file that is shown: their numbers have six digits. */
const mostLines = 999_999;

/**
 * The memory tool over {@link MemoryFiles}, with the texts of Anthropic's documentation. A mistake of the model is answered
 * with a text that says so, and never thrown. A store that fails is thrown by `execute` and the handlers: every host makes
 * a failed call of it.
 *
 * @throws WindrowError `bad-option`
 * @example
 * const files = new MemoryFiles(store, { user: "ann" }, { sessionId: session.id });
 * const memory = anthropicMemoryTool(files);
 * client.beta.messages.toolRunner({ tools: [betaMemoryTool(memory.handlers)], … });
 */
export function anthropicMemoryTool(files: MemoryFiles, options: AnthropicMemoryOptions = {}): AnthropicMemoryTool {
  checkGiven("anthropicMemoryTool", options, optionKinds);
  if (typeof (files as Partial<MemoryFiles> | undefined)?.edit !== "function") {
    const message = `anthropicMemoryTool takes new MemoryFiles(store, { user }), not ${shown(files)}.`;
    throw new WindrowError("bad-option", message);
  }
  const commands = new MemoryCommands(files, options.maxCharacters ?? defaultCharacters);
  const execute = async (command: unknown): Promise<string> => (await told(commands, command)).text;
  const handler = (command: MemoryCommand) => (given: object) => execute({ ...given, command });
  return {
    handlers: {
      view: handler("view"),
      create: handler("create"),
      str_replace: handler("str_replace"),
      insert: handler("insert"),
      delete: handler("delete"),
      rename: handler("rename"),
    },
    execute,
    tool: { type: "memory_20250818", name },
    async answer(block) {
      const { type, id, name: asked, input } = asObject(block as JsonValue) ?? {};
      if (type !== "tool_use" || asked !== name) return undefined;
      const { text, isError } = await told(commands, input).catch((error: unknown) => ({
        text: `Error: ${error instanceof Error ? error.message : String(error)}`,
        isError: true,
      }));
      const given = { type: "tool_result", tool_use_id: asString(id) ?? "", content: text } as const;
      return isError ? { ...given, is_error: true } : given;
    },
  };
}

interface Told {
  readonly text: string;
  readonly isError: boolean;
}

async function told(commands: MemoryCommands, given: unknown): Promise<Told> {
  try {
    return { text: await commands.run(given), isError: false };
  } catch (error) {
    if (error instanceof Mistake) return { text: error.message, isError: true };
    if (isWindrowError(error, "bad-option")) return { text: `Error: ${error.message}`, isError: true };
    throw error;
  }
}

/** A mistake of the model, in the words that it is told. */
class Mistake extends Error {}

const usages: Readonly<Record<MemoryCommand, string>> = {
  view: "`path`, and for some lines of a file `view_range`",
  create: "`path` and `file_text`",
  str_replace: "`path`, `old_str` and `new_str`",
  insert: "`path`, `insert_line` and `insert_text`",
  delete: "`path`",
  rename: "`old_path` and `new_path`",
};

type Fields = Readonly<Record<string, unknown>>;

class MemoryCommands {
  readonly #files: MemoryFiles;
  readonly #most: number;

  constructor(files: MemoryFiles, most: number) {
    this.#files = files;
    this.#most = most;
  }

  /** @throws Mistake, WindrowError */
  async run(given: unknown): Promise<string> {
    const fields = asObject(typeof given === "string" ? parseJson(given) : given) ?? {};
    switch (fields["command"]) {
      case "view":
        return this.#view(fields);
      case "create":
        return this.#create(fields);
      case "str_replace":
        return this.#replace(fields);
      case "insert":
        return this.#insert(fields);
      case "delete":
        return this.#delete(fields);
      case "rename":
        return this.#rename(fields);
      default:
        throw wrong(fields, "command", `one of ${Object.keys(usages).join(", ")}`);
    }
  }

  async #view(fields: Fields): Promise<string> {
    const path = textOf(fields, "path");
    const range = rangeOf(fields);
    const at = memoryPath(path);
    const missing = `The path ${path} does not exist. Please provide a valid path.`;
    const listed = await this.#files.list(at);
    if (listed.length === 0 && at !== memoryRoot) throw new Mistake(missing);
    if (listed[0]?.path !== at) return listing(path, at, listed);
    const text = await this.#files.read(at).catch(rephrase({ missing }));
    const { length } = linesOf(text);
    if (length > mostLines) throw new Mistake(`File ${path} exceeds maximum line limit of 999,999 lines.`);
    const lines = numbered(path, text, range, this.#most);
    if (lines !== undefined) return lines;
    const within = `It should be within the range of lines of the file: [1, ${length}]`;
    throw new Mistake(`Error: Invalid \`view_range\` parameter: [${range?.join(", ")}]. ${within}`);
  }

  async #create(fields: Fields): Promise<string> {
    const [path, text] = [textOf(fields, "path"), textOf(fields, "file_text")];
    await this.#files.create(path, text).catch(rephrase({ exists: `Error: File ${path} already exists` }));
    return `File created successfully at: ${path}`;
  }

  async #replace(fields: Fields): Promise<string> {
    const [path, old, next] = [textOf(fields, "path"), textOf(fields, "old_str"), textOf(fields, "new_str")];
    if (old === "") throw new Mistake("Error: `old_str` is empty. Name the text to replace; `insert` adds text.");
    let place = 0;
    const replaced = (text: string): string => {
      const { places, lines } = occurrences(text, old);
      if (places.length === 0) {
        throw new Mistake(`No replacement was performed, old_str \`${old}\` did not appear verbatim in ${path}.`);
      }
      if (places.length > 1) {
        const many = `Multiple occurrences of old_str \`${old}\` in lines: ${lines}`;
        throw new Mistake(`No replacement was performed. ${many}. Please ensure it is unique`);
      }
      [place = 0] = places;
      return text.slice(0, place) + next + text.slice(place + old.length);
    };
    const missing = `Error: The path ${path} does not exist. Please provide a valid path.`;
    const text = await this.#files.edit(path, "replace", replaced).catch(rephrase({ missing }));
    const change = snippet(text, place, next.length, this.#most);
    return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${change}`;
  }

  async #insert(fields: Fields): Promise<string> {
    const [path, added] = [textOf(fields, "path"), textOf(fields, "insert_text")];
    const { insert_line: line } = fields;
    if (typeof line !== "number") throw wrong(fields, "insert_line", "a number");
    const inserted = (text: string): string => {
      const lines = linesOf(text);
      if (Number.isInteger(line) && line >= 0 && line <= lines.length) {
        return [...lines.slice(0, line), added.replace(/\n$/, ""), ...lines.slice(line)].join("\n");
      }
      const within = `It should be within the range of lines of the file: [0, ${lines.length}]`;
      throw new Mistake(`Error: Invalid \`insert_line\` parameter: ${line}. ${within}`);
    };
    await this.#files.edit(path, "insert", inserted).catch(rephrase({ missing: missingText(path) }));
    return `The file ${path} has been edited.`;
  }

  async #delete(fields: Fields): Promise<string> {
    const path = textOf(fields, "path");
    await this.#files.delete(path).catch(rephrase({ missing: missingText(path) }));
    return `Successfully deleted ${path}`;
  }

  async #rename(fields: Fields): Promise<string> {
    const [from, to] = [textOf(fields, "old_path"), textOf(fields, "new_path")];
    const exists = `Error: The destination ${to} already exists`;
    await this.#files.rename(from, to).catch(rephrase({ missing: missingText(from), exists }));
    return `Successfully renamed ${from} to ${to}`;
  }
}

function missingText(path: string): string {
  return `Error: The path ${path} does not exist`;
}

/** Throws an error of the files in the tool's own words. */
function rephrase({ missing, exists }: { readonly missing?: string; readonly exists?: string }) {
  return (error: unknown): never => {
    if (missing !== undefined && isWindrowError(error, "not-found")) throw new Mistake(missing);
    const isTaken = isWindrowError(error, "bad-option") && error.data["exists"] === true;
    if (exists !== undefined && isTaken) throw new Mistake(exists);
    throw error;
  };
}

function textOf(fields: Fields, field: string): string {
  const { [field]: value } = fields;
  if (typeof value === "string") return value;
  throw wrong(fields, field, "a text");
}

function rangeOf(fields: Fields): readonly number[] | undefined {
  const { view_range: range } = fields;
  if (range === undefined || range === null) return undefined;
  if (Array.isArray(range) && range.length === 2 && range.every(Number.isInteger)) return range as readonly number[];
  throw wrong(fields, "view_range", "a list of two line numbers");
}

function wrong(fields: Fields, field: string, wanted: string): Mistake {
  const { [field]: value, command } = fields;
  const given = value === undefined || value === null ? "is missing" : `is ${shown(value)}`;
  const usage = usages[command as MemoryCommand] as string | undefined;
  const takes = field === "command" || usage === undefined ? "" : ` The command ${String(command)} takes ${usage}.`;
  return new Mistake(`Error: \`${field}\` ${given}; it should be ${wanted}.${takes}`);
}
