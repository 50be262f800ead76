/** Framed files: parts of a result that a line above them names as a file's. */
import { isPath } from "../stub/stub.ts";
import type { FileAction } from "./action.ts";

const many = /^--- (\S.*?) ---$/;
const opened = /^\[File: (.+?) \(\d+ lines(?: total)?\)\]$/m;

/** The files that a result shows one after the other, whole, each under its name; or the one that an editor has open. */
export function framedFiles(result: string): readonly FileAction[] {
  const editor = opened.exec(result);
  if (editor?.[1] !== undefined) {
    const lines = result.slice(editor.index + editor[0].length + 1).split("\n");
    const part = lines.filter((line) => /^\d+:/.test(line)).join("\n");
    const touch: FileAction = { kind: "touch", command: editor[1], wide: false };
    return [touch, { kind: "search", path: editor[1], part }];
  }
  if (!result.startsWith("--- ")) return [];
  const files: { path: string; lines: string[] }[] = [];
  for (const line of result.split("\n")) {
    const path = many.exec(line)?.[1];
    if (path !== undefined && isPath(path)) files.push({ path, lines: [] });
    else if (!/^--- End of content ---$/.test(line)) files.at(-1)?.lines.push(line);
  }
  return files.map(({ path, lines }): FileAction => {
    const part = lines.join("\n").replace(/^\n|\n+$/g, "");
    return { kind: "read", path, from: 1, whole: true, part };
  });
}
