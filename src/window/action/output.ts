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

/** Whether a result says that its call did nothing. */
export function saysFailed({ text }: Output, result: string): boolean {
  return said.test(text) || /^Script (?:failed|error)/.test(result);
}
