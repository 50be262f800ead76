/** Reading: turns messages of the log into records in order and file views as they stand now. */
import { inlineName, unquoteStub } from "../../message/quote.ts";
import { messageText, resultText, toolCalls } from "../../message/message.ts";
import type { Message, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { RecallMarks } from "../stub/recalled.ts";
import { isPath, subjectOf } from "../stub/stub.ts";
import { isStub } from "../edits.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { TextMask } from "../window.ts";
import type { FileAction, ReadCall } from "../action/action.ts";
import { actionsOf, runsCommand } from "../action/calls.ts";
import { isSamePath, maybeSamePath, nameOf, touchOf } from "../action/paths.ts";
import { fileTextOf, outputOf, saysFailed, showsNothing, speaksOfFailure } from "../action/output.ts";
import type { Output } from "../action/output.ts";
import { FileView } from "./file-view.ts";
import { fileOfLine, GoneLines } from "./gone.ts";
import { Requests } from "./requests.ts";
import { bySentences, condensed, linesOf, listingOf } from "./line.ts";
import type { LineKind } from "./line-kind.ts";
import type { Line, Stretch } from "./line.ts";

/** The parts of a call that its result is read by; what a provider brought with it is not kept. */
type KnownCall = Pick<ToolCallPart, "name" | "args">;

/** A stretch of a text that is no file: what someone said, what a command printed. */
export interface RecordText extends Stretch {
  readonly seq: number;
  readonly kind: LineKind;
  /** The tool and what its call was about; the role for what someone said. */
  readonly label: string;
  readonly subject: string;
  /** Whether any of its lines names a file and a place there, as a search's lines do. */
  readonly namesFiles: boolean;
}

/** Calls whose results may still come. */
const mostCalls = 256;

/** Reads messages as the log has them, oldest first. */
export class Reader {
  readonly records: RecordText[] = [];
  readonly files = new Map<string, FileView>();
  /** Calls that have to do with a file, by its path. */
  readonly named: { path: string; seq: number }[] = [];
  /** The paths of files whose views the last message changed. */
  readonly changed = new Set<string>();
  readonly #mask: TextMask;
  readonly #tools: Readonly<Record<string, ReadCall>>;
  readonly #marks: RecallMarks;
  /** Paths of files by their last part, in the order they came up. */
  readonly #byName = new Map<string, string[]>();
  readonly #gone = new GoneLines();
  readonly #requests = new Requests();
  /** The newest calls by their ids, for the results that follow. */
  #calls = new Map<string, KnownCall>();

  /**
   * @param recallTools - the tools that recall: nothing is read of their calls and results
   */
  constructor(mask: TextMask, tools: Readonly<Record<string, ReadCall>> = {}, recallTools?: readonly string[]) {
    this.#mask = mask;
    this.#tools = tools;
    this.#marks = new RecallMarks(recallTools);
  }

  /** Reads the next message. */
  read({ seq, message }: NumberedMessage): void {
    this.changed.clear();
    if (message.role === "system") return;
    this.#marks.note(message);
    const calls = toolCalls(message).filter((call) => !this.#marks.has(call));
    if (calls.length > 0) this.#forgetCalls();
    for (const call of calls) {
      this.#calls.set(call.callId, { name: call.name, args: call.args });
      this.#requests.act(call.args);
      const paths = actionsOf(call.name, call.args, this.#tools).flatMap(pathsOf);
      for (const path of paths.length > 0 ? paths : [subjectOf(call.args, this.#mask)])
        if (isPath(path)) this.named.push({ path: this.#resolve(path), seq });
    }
    const kind = speakerOf(message);
    const before = this.records.length;
    const label = kind === "said" || kind === "answered" ? "assistant" : kind;
    for (const part of message.parts) {
      if (this.#marks.has(part)) continue;
      if (part.type === "text") this.#record(part.text, seq, kind, label, "");
      else if (part.type === "tool-result") this.#result(part, this.#calls.get(part.callId), seq);
    }
    if (kind === "user") this.#requests.ask(this.records.slice(before).flatMap(({ lines }) => lines));
    if (kind === "answered") this.#requests.end(messageText(message));
  }

  /** Whether a line of the user's was carried out. */
  isDone(line: Line): boolean {
    return this.#requests.has(line);
  }

  /** Whether a record's line shows what an edit has taken out of its file since. */
  isGone(line: Line): boolean {
    return this.#gone.has(line, (path) => this.#resolve(path));
  }

  /** Calls that were made long ago have their results. */
  #forgetCalls(): void {
    if (this.#calls.size > mostCalls) this.#calls = new Map([...this.#calls].slice(-mostCalls / 2));
  }

  #result(result: ToolResultPart, call: KnownCall | undefined, seq: number): void {
    const text = isStub(result) ? unquoteStub(resultText(result)) : resultText(result);
    const subject = call ? subjectOf(call.args, this.#mask) : "";
    const label = [inlineName(result.name ?? call?.name ?? "tool"), subject].filter((word) => word !== "").join(" ");
    const output = outputOf(text);
    const failed = result.isError === true || saysFailed(output, text);
    const actions = call && !failed ? actionsOf(call.name, call.args, this.#tools, output) : [];
    const isDoubtful = call !== undefined && speaksOfFailure(output, runsCommand(call.args));
    let shown = actions.length > 0;
    let rest = output.text;
    // An action that changes nothing may yet show something: all are followed.
    for (const action of actions) {
      const seen = this.#apply(action, output, seq, isDoubtful);
      shown &&= seen !== undefined;
      if (seen !== undefined && seen !== "") rest = rest.replace(seen, () => "");
    }
    // Lines that stand in a file's view are not repeated, and a short confirmation of a change needs no lines.
    if (shown && rest.trimEnd().split("\n").length <= 1 + actions.length) return;
    this.#record(rest === output.text ? text : rest, seq, failed ? "error" : "result", label, subject);
  }

  /** Follows one of a call's actions: the part of the result that the views show; undefined where that is not known. */
  #apply(action: FileAction, { text, exit = 0 }: Output, seq: number, isDoubtful: boolean): string | undefined {
    if (action.kind === "touch") {
      this.#touch(action.command, action.wide, seq);
      return undefined;
    }
    const path = this.#resolve(action.path, action.kind === "edit" ? action.changes[0]?.before : "");
    if (action.kind === "look") return undefined;
    if (action.kind === "read" || action.kind === "search") {
      const part = action.part ?? text;
      return this.#shown(action, path, part, seq) ? part : undefined;
    }
    this.#doubtOthers(action.path, path, seq);
    if (action.kind === "move") this.#doubtOthers(action.to, this.#resolve(action.to), seq);
    if (isDoubtful || (exit !== 0 && action.kind !== "write")) {
      // Something of the call failed, and it is not known whether this did.
      this.#view(path).touch(seq);
      return undefined;
    }
    if (action.kind === "delete") this.#forget(path);
    if (action.kind === "move") this.#move(path, this.#resolve(action.to));
    if (action.kind === "delete" || action.kind === "move") return "";
    const view = this.#view(path);
    const toLines = (fresh: string) => linesOf(fresh, seq, "written", this.#mask);
    if (action.kind === "write") {
      view.write(toLines(action.text.replace(/\n$/, "")));
      return "";
    }
    if (action.kind === "insert") view.insert(action.after, action.to ?? action.after, toLines(action.text));
    else {
      for (const { before, after } of action.changes) this.#gone.note(path, before, after, seq);
      view.edit(action.changes, toLines);
    }
    const listing = listingOf(text, seq, this.#mask);
    for (const { at, lines } of listing ?? []) view.read(at, lines);
    return listing ? text : "";
  }

  /** A search's lines may each name their file: without its name they are the file's, those of another are not. */
  #shown(action: FileAction & { kind: "read" | "search" }, path: string, text: string, seq: number): boolean {
    if (action.kind === "read") return this.#shows(action, path, text, seq);
    let other = false;
    const own = text.replaceAll(filesOfLines, (whole, file: string, number: string) => {
      if (this.#resolve(file) === path) return `${number}:`;
      other = true;
      return whole;
    });
    return !other && this.#shows(action, path, own, seq);
  }

  #shows(action: FileAction & { kind: "read" | "search" }, path: string, given: string, seq: number): boolean {
    const { text, from } = fileTextOf(given);
    const isWhole = action.kind === "read" && action.whole && from === undefined && !isCut(text);
    const isNumbered = action.kind === "search" || /^\s*\d+[\t→]/.test(text);
    const listing = listingOf(text, seq, this.#mask, isNumbered ? 1 : 3);
    if (listing) {
      const view = this.#view(path);
      const [first] = listing;
      if (isWhole && listing.length === 1 && first?.at === 1) view.write(first.lines);
      else for (const { at, lines } of listing) view.read(at, lines);
      return true;
    }
    if (text.startsWith("[Windrow:") || text.trim() === "" || showsNothing(text)) return false;
    const linesIn = (part: string): readonly Line[] => linesOf(part, seq, "read", this.#mask);
    // A reader that leaves lines out shows passages, and summaries in the place of bodies.
    const gap = action.kind === "search" ? /^--$/m : /^…$/m.test(text) ? /^.*(?:^…$|\{ … \}).*\n?/m : undefined;
    if (gap) {
      const passages = text.replace(/\n$/, "").split(gap);
      // A single number or a name is an answer, not a passage of the file.
      if (passages.length === 1 && !text.trim().includes("\n") && text.trim().length < 24) return false;
      for (const passage of passages) this.#view(path).read(0, linesIn(passage.replaceAll(/^\n|\n$/g, "")));
      return true;
    }
    const lines = linesIn(text.replace(/\n$/, ""));
    if (isWhole) this.#view(path).write(lines);
    else this.#view(path).read(from ?? (action.kind === "read" ? action.from : undefined) ?? 1, withoutNotice(lines));
    return true;
  }

  #touch(command: string, wide: boolean, seq: number): void {
    let named = false;
    const names = touchOf(command);
    for (const [path, view] of this.files) {
      if (!names(path)) continue;
      named = true;
      view.touch(seq);
    }
    if (wide && !named) for (const view of this.files.values()) view.touch(seq);
  }

  #record(text: string, seq: number, kind: LineKind, label: string, subject: string): void {
    const lines = linesOf(bySentences(condensed(text), kind), seq, kind, this.#mask);
    const namesFiles = lines.some(({ key }) => fileOfLine.test(key));
    if (lines.some((line) => line.text !== ""))
      this.records.push({ seq, kind, label, subject, namesFiles, at: 1, lines });
  }

  #view(path: string): FileView {
    this.changed.add(path);
    let view = this.files.get(path);
    if (view) return view;
    this.files.set(path, (view = new FileView()));
    const paths = this.#byName.get(nameOf(path));
    if (paths) paths.push(path);
    else this.#byName.set(nameOf(path), [path]);
    return view;
  }

  /** Drops the view of a file that is gone. */
  #forget(path: string): void {
    this.files.delete(path);
    const rest = (this.#byName.get(nameOf(path)) ?? []).filter((known) => known !== path);
    if (rest.length > 0) this.#byName.set(nameOf(path), rest);
    else this.#byName.delete(nameOf(path));
  }

  /** A file's view goes on under another path. */
  #move(path: string, to: string): void {
    const view = this.files.get(path);
    if (path === to) return;
    if (!view) {
      // A text that nothing showed stands there now.
      this.#forget(to);
      return;
    }
    this.#forget(path);
    this.#forget(to);
    this.#view(to);
    this.files.set(to, view);
  }

  /** The name a file is known under: a shorter path that is the end of a longer one is the same file. */
  #resolve(path: string, text = ""): string {
    const plain = path.replace(/^\.\//, "");
    if (this.files.has(plain)) return plain;
    const same = this.#namesakes(plain).filter((known) => isSamePath(known, plain));
    return same.find((known) => this.files.get(known)?.holds(text)) ?? same[0] ?? plain;
  }

  /** The files that are known under the last part of a path. */
  #namesakes(path: string): readonly string[] {
    return this.#byName.get(nameOf(path)) ?? [];
  }

  /** A change of a file whose folder was not named may be one of another file with that name. */
  #doubtOthers(given: string, path: string, seq: number): void {
    for (const other of this.#namesakes(given))
      if (other !== path && (isSamePath(other, given) || maybeSamePath(other, given))) this.#view(other).touch(seq);
  }
}

function pathsOf(action: FileAction): readonly string[] {
  return action.kind === "move" ? [action.to] : "path" in action ? [action.path] : [];
}

/** The source of a text; a synthetic message in the user's role, such as a late result, is not the user's. */
function speakerOf({ role, status, parts }: Message): LineKind {
  if (role === "assistant") return parts.some(({ type }) => type === "tool-call") ? "said" : "answered";
  if (role !== "user") return "said";
  return status === "synthetic" ? "result" : "user";
}

const filesOfLines = new RegExp(fileOfLine, "gm");

const notice = /\btruncated\b|\bmore lines?\b|\bnot shown\b|\bomitted\b/i;

/** Whether a tool says at the end of its result that there is more. */
function isCut(text: string): boolean {
  return notice.test(text.trimEnd().slice(-200).split("\n").at(-1) ?? "");
}

function withoutNotice<T extends { readonly text: string }>(lines: readonly T[]): readonly T[] {
  return notice.test(lines.at(-1)?.text ?? "") ? lines.slice(0, -1) : lines;
}
