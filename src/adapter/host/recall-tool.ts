/** The recall tool: with it the model brings back what left its window. Every host wraps this one in its own shape. */
import { shown } from "../../shown.ts";
import { WindrowError } from "../../errors.ts";
import { parseJson } from "../../message/json.ts";
import { inlineText } from "../../message/quote.ts";
import type { Recalled, RecallQuery } from "../../window/recall/query.ts";

/** The tool's declaration for the model. The notes of a window name it: "recall shows them". */
export const recallDeclaration = {
  name: "recall",
  description:
    "Brings back parts of this conversation that were shortened or left out to save room. " +
    "Give the id that a note or an excerpt names (m12, or m12-m40), or words to look for, or both.",
  /** JSON Schema. */
  inputSchema: {
    type: "object",
    properties: {
      id: { type: "string", description: "As a note names it: m12, m12-m40 for a range, or s3 for a summary" },
      query: {
        type: "string",
        description: "Names, ids or words to look for, the rarer the better; or a path, for the file as it stands",
      },
    },
    additionalProperties: false,
  },
} as const;

/** The declaration of a recall tool for the model. */
export interface RecallDeclaration extends Pick<typeof recallDeclaration, "description" | "inputSchema"> {
  readonly name: string;
}

/** An answer of the recall tool. */
export interface RecallAnswer {
  /** For the model. */
  readonly text: string;
  /** Whether the text says what is wrong with the request. */
  readonly isError: boolean;
  /** Whether there was more than the answer had room for. */
  readonly more: boolean;
  /** The messages it is from, by their numbers. */
  readonly seqs: readonly number[];
}

/** A tool that a host wraps in its own shape. */
export interface RecallTool extends RecallDeclaration {
  /** Answers the model's arguments. An error is told as text; it never rejects. */
  readonly execute: (args: unknown) => Promise<string>;
  /** As `execute`, with what a host may show beside the text. */
  readonly answer: (args: unknown) => Promise<RecallAnswer>;
}

/**
 * The recall tool over anything that recalls. Its name is `recall` unless another is given.
 *
 * @param recall - such as `(query) => conversation.recall(query)`
 * @example
 * const { name, description, inputSchema, execute } = recallTool((query) => conversation.recall(query));
 */
export function recallTool(
  recall: (query: RecallQuery) => Recalled | Promise<Recalled>,
  { name = recallDeclaration.name }: { readonly name?: string } = {},
): RecallTool {
  if (typeof recall !== "function") {
    const message = `recallTool takes a function, (query) => session.recall(query), not ${shown(recall)}.`;
    throw new WindrowError("bad-option", message);
  }
  const answer = (args: unknown): Promise<RecallAnswer> => recallAnswer(async () => recall(recallQuery(args)));
  return { ...recallDeclaration, name, answer, execute: async (args) => (await answer(args)).text };
}

/**
 * The tool's arguments as a query. An empty text and null are left out, and a whole number is the id of that message.
 *
 * @param args - the arguments, or their JSON
 * @throws WindrowError `bad-option`, with a text for the model: what recall takes
 */
export function recallQuery(args: unknown): RecallQuery {
  const given = typeof args === "string" ? parseJson(args) : (args ?? {});
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw wrongArguments();
  const { id, query } = given as { readonly id?: unknown; readonly query?: unknown };
  const asked = {
    id: Number.isSafeInteger(id) ? `m${String(id)}` : textOf(id),
    query: textOf(query),
  };
  if (asked.id === undefined && asked.query === undefined) throw wrongArguments();
  return { ...(asked.id !== undefined && { id: asked.id }), ...(asked.query !== undefined && { query: asked.query }) };
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw wrongArguments();
}

function wrongArguments(): WindrowError {
  const message =
    'Recall takes an object with texts: {"id": "m12"} for a message, {"id": "m12-m40"} for a range, ' +
    '{"query": "rare words or a path"}, or both fields.';
  return new WindrowError("bad-option", message);
}

/** The tool's answer from a piece of work that recalls; an error becomes its text. */
export async function recallAnswer(work: () => Promise<Recalled>): Promise<RecallAnswer> {
  try {
    const found = await work();
    return { text: recalledText(found), isError: false, more: found.more, seqs: found.seqs };
  } catch (error) {
    const text = inlineText(error instanceof Error ? error.message : String(error));
    return { text, isError: true, more: false, seqs: [] };
  }
}

/** The result of a recall, as text for the model. */
export function recalledText({ text, more }: Recalled): string {
  if (text === "") return "Nothing was found; try other words.";
  return more ? `${text}\n[There is more; ask with other words or a smaller range.]` : text;
}
