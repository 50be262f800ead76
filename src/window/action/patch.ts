/** Patches: the effects on files of a text in the form of `apply_patch`, or of a unified diff. */
import type { Change, FileAction, HunkPlace } from "./action.ts";

const begin = /^\*\*\* Begin Patch\s*$/m;
const fileMark = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/;
const moveMark = /^\*\*\* Move to: (.+?)\s*$/;
const ends = /^\*\*\* End Patch/;
const unifiedHead = /^--- (.+)\n\+\+\+ (.+)$/m;
const unifiedHunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** Whether a text holds a patch in the form of `apply_patch`. */
export function isPatch(text: string): boolean {
  return begin.test(text);
}

/** The effects of all patches in a text, in their order; empty for a text that is none. */
export function patchActions(text: string): readonly FileAction[] {
  const start = begin.exec(text);
  const lines = text.split(/\r?\n/);
  if (!start) return unifiedHead.test(text) ? unifiedActions(lines) : [];
  return envelopeActions(text.slice(start.index).split(/\r?\n/));
}

/** Collects the hunks of one file. */
class Hunks {
  readonly changes: Change[] = [];
  #old: string[] = [];
  #fresh: string[] = [];
  #place: HunkPlace = {};
  #changed = false;

  /** Ends the open hunk and begins one at a place. */
  open(place: HunkPlace): void {
    if (this.#changed) {
      this.changes.push({ before: this.#old.join("\n"), after: this.#fresh.join("\n"), hunk: this.#place });
    }
    this.#old = [];
    this.#fresh = [];
    this.#changed = false;
    this.#place = place;
  }

  /** Takes a line of a hunk with its mark; a line without one is a blank line of both sides. */
  line(line: string): void {
    const mark = line[0] ?? " ";
    if (mark !== "+") this.#old.push(line.slice(1));
    if (mark !== "-") this.#fresh.push(line.slice(1));
    this.#changed ||= mark === "+" || mark === "-";
  }

  /** The hunks as an edit of a file; none where nothing changes. */
  edit(path: string): readonly FileAction[] {
    this.open({});
    return this.changes.length === 0 ? [] : [{ kind: "edit", path, changes: this.changes }];
  }
}

function envelopeActions(lines: readonly string[]): readonly FileAction[] {
  const actions: FileAction[] = [];
  let close = (): void => {};
  let take: ((line: string) => void) | undefined;
  for (const line of lines) {
    const [, kind, path = ""] = fileMark.exec(line) ?? [];
    if (kind === undefined && !ends.test(line)) {
      take?.(line);
      continue;
    }
    close();
    close = () => {};
    take = undefined;
    if (kind === "Delete") actions.push({ kind: "delete", path });
    else if (kind === "Add") {
      const text: string[] = [];
      take = (added) => {
        if (added.startsWith("+")) text.push(added.slice(1));
      };
      close = () => actions.push({ kind: "write", path, text: text.join("\n") });
    } else if (kind === "Update") {
      const hunks = new Hunks();
      let to: string | undefined;
      take = (changed) => {
        const moved = moveMark.exec(changed)?.[1];
        if (moved !== undefined) to = moved;
        else if (changed.startsWith("@@")) hunks.open(placeOf(changed));
        else if (!changed.startsWith("***")) hunks.line(changed);
      };
      close = () => {
        actions.push(...hunks.edit(path));
        if (to !== undefined) actions.push({ kind: "move", path, to });
      };
    }
  }
  close();
  return actions;
}

/** The place that a line beginning with `@@` names. */
function placeOf(line: string): HunkPlace {
  const at = unifiedHunk.exec(line)?.[1];
  const under = line
    .replace(unifiedHunk, "")
    .replace(/^@@|@@$/g, "")
    .trim();
  return { ...(under !== "" && { under }), ...(at !== undefined && { at: Math.max(1, Number(at)) }) };
}

function unifiedActions(lines: readonly string[]): readonly FileAction[] {
  const actions: FileAction[] = [];
  let moved: string | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const from = /^rename from (.+)$/.exec(line)?.[1];
    if (from !== undefined) moved = from;
    const to = /^rename to (.+)$/.exec(line)?.[1];
    if (to !== undefined && moved !== undefined) actions.push({ kind: "move", path: moved, to });
    if (!line.startsWith("--- ") || !lines[at + 1]?.startsWith("+++ ")) continue;
    const [old, fresh] = [unifiedPath(line), unifiedPath(lines[at + 1] ?? "")];
    const hunks = new Hunks();
    const put: string[] = [];
    let next = at + 2;
    for (let counts = unifiedHunk.exec(lines[next] ?? ""); counts; counts = unifiedHunk.exec(lines[next] ?? "")) {
      hunks.open(placeOf(lines[next] ?? ""));
      next++;
      let [left, right] = [Number(counts[2] ?? 1), Number(counts[3] ?? 1)];
      for (; (left > 0 || right > 0) && next < lines.length; next++) {
        const changed = lines[next] ?? "";
        if (changed.startsWith("\\")) continue;
        if (!/^[ +-]|^$/.test(changed)) break;
        hunks.line(changed);
        if (!changed.startsWith("+")) left--;
        if (!changed.startsWith("-")) right--;
        if (changed.startsWith("+")) put.push(changed.slice(1));
      }
      if (lines[next]?.startsWith("\\") === true) next++;
    }
    at = next - 1;
    if (fresh === undefined) actions.push(...(old === undefined ? [] : [{ kind: "delete" as const, path: old }]));
    else if (old === undefined) actions.push({ kind: "write", path: fresh, text: put.join("\n") });
    else actions.push(...hunks.edit(fresh));
  }
  return actions;
}

/** The path of a line `--- a/path` or `+++ b/path`; undefined for none. */
function unifiedPath(line: string): string | undefined {
  const path = line
    .slice(4)
    .replace(/\t.*$/, "")
    .trim()
    .replace(/^"(.*)"$/, "$1");
  return path === "/dev/null" ? undefined : path.replace(/^[abciow]\//, "");
}
