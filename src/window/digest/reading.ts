/** Reading: turns steps, and the digest before them, into records in order and file views as they stand now. */
import { inlineName, unquoteStub } from "../../message/quote.ts";
import { resultText, toolCalls } from "../../message/message.ts";
import type { Message, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { isPath, subjectOf } from "../recall/stub.ts";
import { isStub } from "../edits.ts";
import type { TextMask, ViewStep } from "../window.ts";
import type { FileAction, ReadCall } from "../action/action.ts";
import { actionOf } from "../action/calls.ts";
import { FileView } from "./file-view.ts";
import { condensed, linesOf, listingOf } from "./line.ts";
import type { LineKind, Stretch } from "./line.ts";
import type { Passage } from "./passages.ts";

/** A stretch of a text that is no file: what someone said, what a command printed. */
export interface RecordText extends Stretch {
  readonly seq: number;
  readonly kind: LineKind;
  /** The tool and what its call was about; the role for what someone said. */
  readonly label: string;
  readonly subject: string;
}

/** The records and file views of steps. */
export interface Reading {
  readonly records: readonly RecordText[];
  readonly files: ReadonlyMap<string, FileView>;
  /** Calls that have to do with a file, by its path. */
  readonly named: readonly { readonly path: string; readonly seq: number }[];
}

/** Reads, oldest first: what the digest before shows, then the steps. */
export class Reader implements Reading {
  readonly records: RecordText[] = [];
  readonly files = new Map<string, FileView>();
  readonly named: { path: string; seq: number }[] = [];
  readonly #mask: TextMask;
  readonly #tools: Readonly<Record<string, ReadCall>>;
  /** Paths of files by their last part, in the order they came up. */
  readonly #byName = new Map<string, string[]>();

  constructor(mask: TextMask, tools: Readonly<Record<string, ReadCall>> = {}) {
    this.#mask = mask;
    this.#tools = tools;
  }

  /** Takes up what an earlier digest showed. */
  restore(passages: readonly Passage[], doubts: Readonly<Record<string, number>>): void {
    for (const { file, label, subject, at, lines } of passages) {
      const [first] = lines;
      if (!first) continue;
      if (file) this.#view(subject).restore({ at, lines });
      else this.records.push({ seq: first.seq, kind: first.kind, label, subject, at, lines });
    }
    for (const [path, seq] of Object.entries(doubts)) this.#view(path).touch(seq);
  }

  /** Reads one step of the view. */
  read(step: ViewStep): void {
    if (step.kind === "note") return;
    const calls = new Map<string, ToolCallPart>();
    for (const { seq, message } of step.messages) {
      for (const call of toolCalls(message)) {
        calls.set(call.callId, call);
        const path = pathOf(actionOf(call.name, call.args, this.#tools)) ?? subjectOf(call.args, this.#mask);
        if (isPath(path)) this.named.push({ path: this.#resolve(path), seq });
      }
      const kind = speakerOf(message);
      for (const part of message.parts) {
        if (part.type === "text") this.#record(part.text, seq, kind, kind === "said" ? "assistant" : kind, "");
        else if (part.type === "tool-result") this.#result(part, calls.get(part.callId), seq);
      }
    }
  }

  #result(result: ToolResultPart, call: ToolCallPart | undefined, seq: number): void {
    const text = isStub(result) ? unquoteStub(resultText(result)) : resultText(result);
    const subject = call ? subjectOf(call.args, this.#mask) : "";
    const label = [inlineName(result.name ?? call?.name ?? "tool"), subject].filter((word) => word !== "").join(" ");
    const failed = result.isError === true || /^\W*(?:error|failed|could not|no (?:match|replacement))\b/i.test(text);
    const action = call && !failed ? actionOf(call.name, call.args, this.#tools) : undefined;
    const shown = action && this.#apply(action, text, seq);
    // Lines that stand in a file's view are not repeated as the output of a tool.
    if (shown !== "all") this.#record(text, seq, failed ? "error" : "result", label, subject);
  }

  /** Follows an action; "all" where the result has nothing beyond it. */
  #apply(action: FileAction, text: string, seq: number): "all" | undefined {
    if (action.kind === "touch") {
      this.#touch(action.command, action.wide, seq);
      return undefined;
    }
    const path = this.#resolve(action.path);
    // The text that a call wrote stands in the file's view; a short confirmation of the tool needs no lines.
    const done = text.trimEnd().split("\n").length <= 2 ? "all" : undefined;
    if (action.kind === "write") {
      this.#view(path).write(linesOf(action.text.replace(/\n$/, ""), seq, "written", this.#mask));
      return done;
    }
    if (action.kind === "edit" || action.kind === "insert") {
      const view = this.#view(path);
      const toLines = (fresh: string) => linesOf(fresh, seq, "written", this.#mask);
      if (action.kind === "edit") view.edit(action.changes, toLines);
      else view.insert(action.after, action.to ?? action.after, toLines(action.text));
      const listing = listingOf(text, seq, this.#mask);
      for (const { at, lines } of listing ?? []) view.read(at, lines);
      return listing ? "all" : done;
    }
    return this.#shows(action, path, text, seq);
  }

  #shows(action: FileAction & { kind: "read" | "search" }, path: string, text: string, seq: number): "all" | undefined {
    const listing = listingOf(text, seq, this.#mask, action.kind === "search" ? 1 : 3);
    if (listing) {
      const view = this.#view(path);
      const [first] = listing;
      if (action.kind === "read" && action.whole && listing.length === 1 && first?.at === 1 && !isCut(text))
        view.write(first.lines);
      else for (const { at, lines } of listing) view.read(at, lines);
      return "all";
    }
    if (text.startsWith("[Windrow:") || text.trim() === "") return undefined;
    if (action.kind === "search") {
      const blocks = text.replace(/\n$/, "").split(/^--$/m);
      // A single number or a name is an answer, not a passage of the file.
      if (blocks.length === 1 && !text.trim().includes("\n") && text.trim().length < 24) return undefined;
      for (const block of blocks)
        this.#view(path).read(0, linesOf(block.replaceAll(/^\n|\n$/g, ""), seq, "read", this.#mask));
      return "all";
    }
    const lines = linesOf(text.replace(/\n$/, ""), seq, "read", this.#mask);
    if (action.whole && !isCut(text)) this.#view(path).write(lines);
    else this.#view(path).read(action.from ?? 1, withoutNotice(lines));
    return "all";
  }

  #touch(command: string, wide: boolean, seq: number): void {
    let named = false;
    for (const [name, paths] of this.#byName) {
      if (!command.includes(name)) continue;
      named = true;
      for (const path of paths) this.files.get(path)?.touch(seq);
    }
    if (wide && !named) for (const view of this.files.values()) view.touch(seq);
  }

  #record(text: string, seq: number, kind: LineKind, label: string, subject: string): void {
    const lines = linesOf(condensed(text), seq, kind, this.#mask);
    if (lines.some((line) => line.text !== "")) this.records.push({ seq, kind, label, subject, at: 1, lines });
  }

  #view(path: string): FileView {
    let view = this.files.get(path);
    if (view) return view;
    this.files.set(path, (view = new FileView()));
    const paths = this.#byName.get(nameOf(path));
    if (paths) paths.push(path);
    else this.#byName.set(nameOf(path), [path]);
    return view;
  }

  /** The name a file is known under: a shorter path that is the end of a longer one is the same file. */
  #resolve(path: string): string {
    const plain = path.replace(/^\.\//, "");
    if (this.files.has(plain) || !isPath(plain)) return plain;
    // One path can only be the end of another where their last parts are the same.
    for (const known of this.#byName.get(nameOf(plain)) ?? []) {
      if (isEndOf(plain, known) || isEndOf(known, plain)) return known;
    }
    return plain;
  }
}

function pathOf(action: FileAction | undefined): string | undefined {
  return action && "path" in action ? action.path : undefined;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function isEndOf(end: string, path: string): boolean {
  return end.includes("/") && path.endsWith(`/${end}`);
}

/** The source of a text; a synthetic message in the user's role, such as a late result, is not the user's. */
function speakerOf({ role, status }: Message): LineKind {
  if (role !== "user") return "said";
  return status === "synthetic" ? "result" : "user";
}

const notice = /\btruncated\b|\bmore lines?\b|\bnot shown\b|\bomitted\b/i;

/** Whether a tool says at the end of its result that there is more. */
function isCut(text: string): boolean {
  return notice.test(text.trimEnd().slice(-200).split("\n").at(-1) ?? "");
}

function withoutNotice<T extends { readonly text: string }>(lines: readonly T[]): readonly T[] {
  return notice.test(lines.at(-1)?.text ?? "") ? lines.slice(0, -1) : lines;
}
