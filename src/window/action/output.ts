/** Outputs: the text that a tool printed, without the lines that its host puts around it. */
import { isObject, parseJson } from "../../message/json.ts";
import { isPath } from "../stub/stub.ts";
import type { FileAction } from "./action.ts";

/** A result as a tool printed it. */
export interface Output {
  readonly text: string;
  /** The exit status; absent where the result shows none. */
  readonly exit?: number;
  /** Whether the host says that it shows only a part. */
  readonly cut: boolean;
}

/** Lines of a head: they end with `Output:`. */
const head =
  /^(?:(?:Chunk ID: .*|Wall time:? .*|Exit code: -?\d+|Process exited with code -?\d+|Process running with .*|Original token count: \d+|Script (?:completed|failed|running).*)\n)+(?:Total output lines: \d+\n)?Output:\n/;
const status = /^(?:Exit code: |Process exited with code )(-?\d+)$/m;
const cutHead = /^(?:Warning: truncated output .*\n)?Total output lines: \d+\n\n?/;
const cutMiddle = /^.*…\d+ (?:tokens|chars|lines) truncated….*$/m;
const said =
  /^\W*(?:error|failed|failure|could not|no (?:match|replacement)|invalid patch|patch failed)\b|^(?:apply_patch )?(?:patch|verification) failed|^apply_patch failed|^Script (?:failed|error)/i;

/** A result's output; a result that has no known frame is its own output. */
export function outputOf(result: string): Output {
  const json = jsonOutput(result);
  if (json) return json;
  const framed = head.exec(result)?.[0] ?? "";
  if (framed === "") return { text: result, cut: false };
  const exit = status.exec(framed)?.[1];
  const behind = result.slice(framed.length);
  const text = framed.startsWith("Script ") ? behind.replace(/^\n/, "") : behind;
  const shortened = cutHead.exec(text)?.[0] ?? "";
  const cut = shortened !== "" || cutMiddle.test(text);
  return { text: text.slice(shortened.length), cut, ...(exit !== undefined && { exit: Number(exit) }) };
}

/** The form in which Codex' earlier versions gave an output. */
function jsonOutput(result: string): Output | undefined {
  if (!/^\s*\{\s*"(?:output|metadata)"/.test(result)) return undefined;
  const fields = parseJson(result);
  const text = isObject(fields) ? fields["output"] : undefined;
  if (!isObject(fields) || typeof text !== "string") return undefined;
  const code = isObject(fields["metadata"]) ? fields["metadata"]["exit_code"] : undefined;
  return { text, cut: false, ...(typeof code === "number" && { exit: code }) };
}

/** The exit status that a result shows at its beginning or its end; undefined where it shows none. */
export function exitStatus(result: string): number | undefined {
  const ends = result.length > 800 ? `${result.slice(0, 300)}\n${result.slice(-500)}` : result;
  const shown = [...ends.matchAll(/(?:\bexit(?:ed with)?[ _]?(?:code|status)|\breturncode)\W{0,3}?(-?\d{1,3})\b/gi)];
  const status = shown.at(-1)?.[1];
  return status === undefined ? undefined : Number(status);
}

const nothingDone =
  /(?:\b(?:not|never|nothing|no|without)|n't) (?:(?:been|be|was|were) )?(?:applied|updated|edited|modified|written|saved|changed|replaced|performed|made|read|found|match(?:ed|es)?|changes?|replacements?|occurrences?|such)\b|\bno (?:\w+ ){1,2}match|<error/i;
const trouble =
  /\b(?:fail(?:s|ed|ure)?|errors?|denied|reject(?:ed|s)?|refused|abort(?:ed)?|cancell?ed|interrupted|unable|cannot|can't|could not|couldn't|invalid|timed out|traceback|exception|does(?: not|n't)|mismatch|ENOENT|EACCES|EPERM|(?:0|[2-9]|\d\d+) (?:matches|occurrences))\b/i;
const done =
  /\b(?:success\w*|updated|applied|edited|replaced|created|wrote|written|saved|added|inserted|modified)\b|\bhas errors, please fix\b/i;
/** Signs of `patch` and `git apply` that a hunk had no place. */
const hunkFailed = /^Hunk #\d+ FAILED|^\d+ out of \d+ hunks? FAILED|^error: .*(?:patch failed|does not apply)/m;
const missing =
  /\b(?:no such file|not found|does not exist|doesn't exist|permission denied|is a directory|cannot open|can't read|ENOENT|EACCES|EISDIR)\b/i;

/**
 * Whether the result of an edit speaks of a failure and of no success: hosts have many words for it, and some no mark.
 *
 * @param isCommand - whether a command ran: its output may be that of others, so only what its tools say counts
 */
export function speaksOfFailure({ text }: Output, isCommand: boolean): boolean {
  if (isCommand) return hunkFailed.test(text);
  const lines = text.slice(0, 2_000).split("\n");
  const listing = lines.findIndex((line) => /^\s*\d+(?:\t|→|\s*\|)/.test(line));
  const said = lines.slice(0, listing < 0 ? undefined : listing).filter((line) => line.trim() !== "");
  const first = said.slice(0, 2).join("\n").slice(0, 600);
  return nothingDone.test(first) || (trouble.test(first) && !done.test(first));
}

/** Whether a result that should show a file says in a line or two that there is none to show. */
export function showsNothing(text: string): boolean {
  const lines = text.trim().split("\n", 3);
  return lines.length < 3 && lines.every((line) => line.length <= 300) && missing.test(lines[0] ?? "");
}

/** Whether a result says that its call did nothing. */
export function saysFailed({ text }: Output, result: string): boolean {
  return said.test(text) || /^Script (?:failed|error)/.test(result);
}

const numberedHead = /^Here's the result of running `cat -n` on .*:\n/;
const partHead =
  /^IMPORTANT: The file content has been truncated\.\nStatus: Showing lines (\d+)-\d+ of \d+ total lines\.\n[\s\S]{0,600}?--- FILE CONTENT \(truncated\) ---\n/;

/** The text of a file as a tool showed it, without the tool's own lines before it, and its first line where they say it. */
export function fileTextOf(text: string): { readonly text: string; readonly from?: number } {
  const part = partHead.exec(text);
  if (part) return { text: text.slice(part[0].length), from: Number(part[1]) };
  return { text: text.replace(numberedHead, "") };
}

/** The files that a result shows whole, one after the other, each under its name (`read_many_files` of Gemini CLI). */
export function framedFiles(result: string): readonly FileAction[] {
  const parts = `\n${result}`.split(/^--- (\S.*) ---$/m);
  return parts.flatMap((path, at): readonly FileAction[] => {
    if (at % 2 === 0 || !isPath(path)) return [];
    const part = (parts[at + 1] ?? "").replace(/^\n{1,2}|\n+$/g, "");
    return [{ kind: "read", path, from: 1, whole: true, part }];
  });
}
