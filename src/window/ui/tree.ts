/**
 * UI dumps: the elements of a screen or a page, recognised by structure and not by the tool's name. The common form;
 * json.ts and brackets.ts parse it from text.
 */
import { ownText } from "../../message/message.ts";
import type { ToolResultPart } from "../../message/message.ts";
import { readBrackets } from "./brackets.ts";
import { readJsonTree } from "./json.ts";
import type { UiDump } from "./element.ts";

/** Longest text that is read as a dump, in characters: what is longer is data. */
const longestDump = 4_000_000;

/** The dump a text holds, or undefined where it is none. */
export function readUiTree(text: string): UiDump | undefined {
  if (text.length < 40 || text.length > longestDump) return undefined;
  return readJsonTree(text) ?? readBrackets(text);
}

const known = new WeakMap<ToolResultPart, readonly string[] | false>();

/** Whether a result is a dump of a screen or a page; read once for as long as it lives. */
export function isUiDump(result: ToolResultPart): boolean {
  return screenOf(result) !== undefined;
}

/** The lines by which a dump says which screen it is of; undefined where the result is no dump. */
export function screenOf(result: ToolResultPart): readonly string[] | undefined {
  let screen = known.get(result);
  if (screen === undefined) known.set(result, (screen = readUiTree(ownText(result) ?? "")?.about ?? false));
  return screen || undefined;
}
