/** Outputs: the text that a tool printed, without the lines that its host puts around it. */
import { parseJson } from "../../message/json.ts";

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
const tail =
  /\n?\[(?:The command completed with exit code (-?\d+)\.|Command finished with exit code (-?\d+))\](?:\n\[[^\n]*\])*\s*$/;
const said =
  /^\W*(?:error|failed|failure|could not|no (?:match|replacement)|invalid patch|patch failed)\b|^(?:apply_patch )?(?:patch|verification) failed|^apply_patch failed|^Script (?:failed|error)/i;

/** A result's output; a result that has no known frame is its own output. */
export function outputOf(result: string): Output {
  const json = jsonOutput(result);
  if (json) return json;
  const framed = head.exec(result)?.[0] ?? "";
  const exit = status.exec(framed)?.[1];
  let text = result.slice(framed.length);
  if (framed.startsWith("Script ")) text = text.replace(/^\n/, "");
  const shortened = framed === "" ? undefined : cutHead.exec(text)?.[0];
  if (shortened !== undefined) text = text.slice(shortened.length);
  const behind = tail.exec(text);
  if (behind) text = text.slice(0, behind.index);
  const code = behind?.[1] ?? behind?.[2] ?? exit;
  const cut = shortened !== undefined || (framed !== "" && cutMiddle.test(text));
  return { text, cut, ...(code !== undefined && { exit: Number(code) }) };
}

function jsonOutput(result: string): Output | undefined {
  if (!/^\s*\{\s*"(?:output|metadata|stdout|exit_?code)"/.test(result)) return undefined;
  const value = parseJson(result);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const text = fields["output"] ?? fields["stdout"];
  if (typeof text !== "string") return undefined;
  const metadata = fields["metadata"];
  const inner =
    typeof metadata === "object" && metadata !== null ? (metadata as Readonly<Record<string, unknown>>) : {};
  const code = fields["exit_code"] ?? fields["exitCode"] ?? inner["exit_code"] ?? inner["exitCode"];
  return { text, cut: false, ...(typeof code === "number" && { exit: code }) };
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
