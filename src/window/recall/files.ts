/** Files that a query asks for, as they stand now: followed by the calls that had to do with them, and shown whole or by words. */
import { toolCalls, toolResults } from "../../message/message.ts";
import type { ToolCallPart } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { FileAction } from "../action/action.ts";
import { actionsOf } from "../action/calls.ts";
import { plainPath, touchOf } from "../action/paths.ts";
import { Reader } from "../digest/reading.ts";
import type { FileView } from "../digest/file-view.ts";
import { isPath, recallId } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";
import { quoteLine } from "../../message/quote.ts";
import type { Work } from "../../turns.ts";
import { fit } from "./answer.ts";
import type { Choice } from "./answer.ts";
import { Chooser } from "./choose.ts";
import type { ChoiceOptions } from "./choose.ts";
import { headOf } from "./document.ts";
import { RecallSearch } from "./search.ts";
import type { RecallWords } from "./terms.ts";

/** A file as the calls imply it. */
export interface FileNow {
  readonly path: string;
  readonly view: FileView;
  /** The messages its lines are from, oldest first. */
  readonly seqs: readonly number[];
  /** The newest message that had to do with it. */
  readonly seq: number;
}

/** A path in a query. */
interface AskedPath {
  readonly path: string;
  /** The query without it. */
  readonly rest: string;
}

/** Calls without a result that are remembered. */
const mostCalls = 256;

/** Follows the files whose paths stand in a query. */
export class AskedFiles {
  readonly #asked: readonly AskedPath[];
  readonly #reader: Reader;
  /** Calls whose results are still to come. */
  readonly #calls = new Map<string, NumberedMessage>();

  constructor(query: string, mask: TextMask) {
    this.#asked = query.split(/\s+/).flatMap((word) => {
      const path = word.replaceAll(/^["'`(]+|["'`),;:?]+$/g, "");
      return isPath(path) ? [{ path, rest: query.replace(word, " ") }] : [];
    });
    this.#reader = new Reader(mask, {}, []);
  }

  /** Takes the calls and results of a message, those of recall left out. */
  take({ seq, message }: NumberedMessage): void {
    if (this.#asked.length === 0) return;
    for (const call of toolCalls(message)) {
      this.#calls.delete(call.callId);
      if (!this.#concerns(call)) continue;
      this.#calls.set(call.callId, { seq, message: { ...message, parts: [call] } });
      if (this.#calls.size > mostCalls) this.#calls.delete(this.#calls.keys().next().value ?? "");
    }
    for (const result of toolResults(message)) {
      const call = this.#calls.get(result.callId);
      if (!call) continue;
      this.#calls.delete(result.callId);
      this.#reader.read(call);
      this.#reader.read({ seq, message: { ...message, parts: [result] } });
      // What is no file's text is searched elsewhere.
      this.#reader.records.length = 0;
    }
  }

  /** The first file that the query names, with the query's other words; of several with that name the newest. */
  now(): { readonly file: FileNow; readonly rest: string } | undefined {
    for (const { path, rest } of this.#asked) {
      const files = [...this.#reader.files].flatMap(([known, view]) =>
        isSame(known, path) ? fileNow(known, view) : [],
      );
      const [file] = files.sort((left, right) => right.seq - left.seq);
      if (file) return { file, rest };
    }
    return undefined;
  }

  #concerns({ name, args }: ToolCallPart): boolean {
    return actionsOf(name, args).some((action) => {
      if (action.kind !== "touch")
        return pathsOf(action).some((path) => this.#asked.some((one) => isSame(one.path, path)));
      if (this.#reader.files.size + this.#calls.size === 0) return false;
      const names = touchOf(action.command);
      return action.wide || this.#asked.some(({ path }) => names(path)) || [...this.#reader.files.keys()].some(names);
    });
  }
}

function pathsOf(action: Exclude<FileAction, { kind: "touch" }>): readonly string[] {
  return action.kind === "move" ? [action.path, action.to] : [action.path];
}

/** A view as an answer shows it; none where no line is known. */
function fileNow(path: string, view: FileView): readonly FileNow[] {
  const lines = view.stretches.flatMap((stretch) => stretch.lines);
  const seqs = [...new Set(lines.map(({ seq }) => seq))].sort((left, right) => left - right);
  const newest = seqs.at(-1);
  return newest === undefined ? [] : [{ path, view, seqs, seq: Math.max(newest, view.doubt) }];
}

/** Whether two paths are of one file: a shorter path that is the end of a longer one is. */
export function isSame(left: string, right: string): boolean {
  if (left === right) return true;
  const [one, other] = [plainPath(left), plainPath(right)];
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}

/** Messages that a head names as the sources of a file's lines, the newest. */
const mostSources = 4;

/** The head of a file's text: as of which message, from which, and since when it may be another. */
function labelOf({ path, view, seqs }: FileNow): { readonly label: string; readonly note: string } {
  const from = seqs.slice(-mostSources).map((seq) => recallId(seq));
  const sources = `from ${seqs.length > mostSources ? "… " : ""}${from.join(" ")}`;
  const doubt = view.doubt > (seqs[0] ?? 0) ? `; ${recallId(view.doubt)} may have changed it since` : "";
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
