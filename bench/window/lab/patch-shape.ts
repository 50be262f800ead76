/** Patches in the arguments of calls, found by their marks, for the metrics of quotes and of removed lines. */
import type { JsonValue } from "../../../src/message/message.ts";

/** The part of a patch for one file. */
export interface PatchedFile {
  readonly path: string;
  readonly kind: "add" | "update" | "delete";
  /** The path it moves to. */
  readonly to?: string;
  readonly hunks: readonly PatchHunk[];
}

/** A passage of a patch: lines without their marks. */
export interface PatchHunk {
  /** The lines that must be in the file: context and removed ones. */
  readonly old: readonly string[];
  /** The lines that are in the file afterwards: context and added ones. */
  readonly fresh: readonly string[];
}

const begin = "*** Begin Patch";
/** Names of arguments whose text is a file's, whatever it looks like. */
const contentName = /^(?:contents?|file_?text|text|body|code|(?:old|new)_?(?:str|string|text))$/i;
const fileLine = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/;
const moveLine = /^\*\*\* Move to: (.+?)\s*$/;

/** The files that the patches in a call's arguments change. */
export function patchedFiles(args: JsonValue, name = ""): readonly PatchedFile[] {
  if (typeof args === "string") {
    if (contentName.test(name) && !args.trimStart().startsWith(begin)) return [];
    const patches = args
      .split(begin)
      .slice(1)
      .map((rest, at) => plain(rest, args.split(begin)[at] ?? ""));
    return patches.length > 0 ? patches.flatMap(filesOf) : diffFiles(args.split("\n"));
  }
  if (typeof args !== "object" || args === null) return [];
  const items: readonly (readonly [string, JsonValue])[] = Object.entries(args);
  return items.flatMap(([key, value]) => patchedFiles(value, Array.isArray(args) ? name : key));
}

/** A patch up to its end, without the escapes of the string that it stands in. */
function plain(rest: string, before: string): string {
  const [patch = ""] = rest.split("*** End Patch");
  if (patch.startsWith("\\n")) {
    return patch.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code?: string, one = "") => {
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return one === "n" ? "\n" : one === "t" ? "\t" : String(one);
    });
  }
  return /(?<!raw)`\s*$|<<-?\w+\s*$|apply_?patch "$/.test(before) ? patch.replaceAll(/\\([`$"\\])/g, "$1") : patch;
}

function filesOf(patch: string): readonly PatchedFile[] {
  const files: { path: string; kind: PatchedFile["kind"]; to?: string; hunks: Hunk[] }[] = [];
  for (const line of patch
    .replace(/^\s*\n/, "")
    .replace(/\n$/, "")
    .split("\n")) {
    const [, kind, path = ""] = fileLine.exec(line) ?? [];
    const open = files.at(-1);
    const to = moveLine.exec(line)?.[1];
    if (kind !== undefined)
      files.push({ path, kind: kind.toLowerCase() as PatchedFile["kind"], hunks: [{ old: [], fresh: [] }] });
    else if (open && to !== undefined) open.to = to;
    else if (line.startsWith("@@")) open?.hunks.push({ old: [], fresh: [] });
    else if (open && !line.startsWith("***")) take(open.hunks, line);
  }
  return files.map((file) => ({
    ...file,
    hunks: file.hunks.filter(({ old, fresh }) => old.length + fresh.length > 0),
  }));
}

interface Hunk {
  readonly old: string[];
  readonly fresh: string[];
}

function take(hunks: readonly Hunk[], line: string): void {
  const hunk = hunks.at(-1);
  if (!line.startsWith("+")) hunk?.old.push(line.slice(1));
  if (!line.startsWith("-")) hunk?.fresh.push(line.slice(1));
}

/** The files of a unified diff. */
function diffFiles(lines: readonly string[]): readonly PatchedFile[] {
  const files: { path: string; kind: PatchedFile["kind"]; hunks: Hunk[] }[] = [];
  let left = 0;
  for (const [at, line] of lines.entries()) {
    const sizes = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (
      left === 0 &&
      line.startsWith("--- ") &&
      lines[at + 1]?.startsWith("+++ ") &&
      lines[at + 2]?.startsWith("@@ -")
    ) {
      const [old = "", fresh = ""] = [line, lines[at + 1]].map((one = "") => one.slice(4).split("\t")[0]?.trim());
      const kind = old === "/dev/null" ? "add" : fresh === "/dev/null" ? "delete" : "update";
      files.push({ path: (kind === "delete" ? old : fresh).replace(/^[ab]\//, ""), kind, hunks: [] });
    } else if (left === 0 && sizes) {
      left = Number(sizes[1] ?? 1) + Number(sizes[2] ?? 1);
      files.at(-1)?.hunks.push({ old: [], fresh: [] });
    } else if (left > 0 && !line.startsWith("\\")) {
      left -= /^[+-]/.test(line) ? 1 : 2;
      take(files.at(-1)?.hunks ?? [], line);
    }
  }
  return files;
}
