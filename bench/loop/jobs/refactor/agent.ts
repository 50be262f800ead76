/** The agent of a refactoring: exact texts of files, and old texts of its own edits, come from its window. */
import type { Call, Turn } from "../job.ts";
import { gather, unknown } from "../need.ts";
import type { Need } from "../need.ts";
import type { Statement, View } from "../view.ts";

/** One turn on one task. */
export function* change(message: string, start: View): Turn {
  const [, from, to] = /Rename (\w+) to (\w+)/.exec(message) ?? [];
  if (from !== undefined && to !== undefined) {
    const call = { tool: "grep", args: { pattern: from, path: "src/" } };
    const view = yield { calls: [call] };
    const word = new RegExp(String.raw`\b${from}\b`, "g");
    yield* sweep(view, { call, change: (line) => (line.includes(from) ? line.replaceAll(word, to) : undefined) });
    yield { calls: [{ tool: "run_tests", args: {} }] };
    return { say: `${from} is ${to} now.` };
  }
  const [, path = "", limit = ""] = /in (src\/\S+\.ts) .*?(\d+)/.exec(message) ?? [];
  if (message.startsWith("Set every")) {
    const view = yield { calls: [{ tool: "read", args: { path } }] };
    const change = (line: string): string | undefined => {
      const changed = line.replace(/(export function .*limit = )\d+/, `$1${limit}`);
      return changed === line ? undefined : changed;
    };
    yield* sweep(view, { call: { tool: "grep", args: { pattern: ", limit = ", path } }, path, change });
    return { say: "The limits are set." };
  }
  if (message.startsWith("Put")) {
    yield* putBack(path, limit);
    return { say: "The limits are as they were." };
  }
  const [, name = "", file = ""] = /function (\w+) of (\S+\.ts)/.exec(message) ?? [];
  if (name !== "") {
    yield* loosen(start, name, file);
    return { say: "The guard is changed." };
  }
  return { say: "I am ready." };
}

interface Sweep {
  /** Finds the lines that are left. */
  readonly call: Call;
  /** The one file it is about. Default: every file. */
  readonly path?: string;
  /** The line as it shall be; undefined for one that is right. */
  readonly change: (line: string) => string | undefined;
}

/** Changes line after line: those the window shows, and then those that are still found. */
function* sweep(start: View, { call, path, change }: Sweep): Turn<void> {
  let view = start;
  const done = new Set<string>();
  for (;;) {
    let next = hitIn(view, path, change, done);
    if (!next) {
      view = yield { calls: [call] };
      next = hitIn(view, path, change, done);
      if (!next) return;
    }
    done.add(`${next.path}\n${next.line}`);
    view = yield { calls: [{ tool: "edit", args: { path: next.path, old: next.line, new: change(next.line) ?? "" } }] };
  }
}

interface Hit {
  readonly path: string;
  readonly line: string;
}

/** The newest line that wants a change, unless a newer edit of the agent's own took it away. */
function hitIn(
  view: View,
  path: string | undefined,
  change: Sweep["change"],
  done: ReadonlySet<string>,
): Hit | undefined {
  const gone = new Set(done);
  for (const statement of view.statements) {
    for (const hit of codeOf(statement)) {
      if (path !== undefined && hit.path !== path) continue;
      if (change(hit.line) !== undefined && !gone.has(`${hit.path}\n${hit.line}`)) return hit;
    }
    const edit = editOf(statement);
    for (const line of edit?.old.split("\n") ?? []) gone.add(`${edit?.path}\n${line}`);
  }
  return undefined;
}

/** An edit among the agent's own calls. */
function editOf({
  who,
  block,
}: Statement): { readonly path: string; readonly old: string; readonly new: string } | undefined {
  if (who !== "call") return undefined;
  const parts = /path: (\S+)\n+old: ([\s\S]*?)\n+new: ([\s\S]*)$/.exec(block.join("\n"));
  return parts ? { path: parts[1] ?? "", old: parts[2] ?? "", new: parts[3] ?? "" } : undefined;
}

/** Lines of files in a statement: of a listing, a search or an excerpt that says which file it is. */
function codeOf({ who, about, lines }: Statement): readonly { readonly path: string; readonly line: string }[] {
  const [path = ""] = about.split(" ");
  if (who !== "file" && who !== "read" && who !== "edit" && who !== "grep") return [];
  return lines.flatMap((line) => {
    const hit = /^(src\/\S+?):\d+:(.*)$/.exec(line);
    if (hit) return [{ path: hit[1] ?? "", line: hit[2] ?? "" }];
    if (who === "file") return [{ path, line }];
    const row = /^\s*\d+\t(.*)$/.exec(line);
    return row && path.startsWith("src/") && path.endsWith(".ts") ? [{ path, line: row[1] ?? "" }] : [];
  });
}

/** Changes the guard of one function, whose line stands in other functions too: the edit needs the lines above it. */
function* loosen(start: View, name: string, path: string): Turn<void> {
  let view = start;
  for (let attempt = 0; attempt < 2; attempt++) {
    let old = attempt === 0 ? guardOf(view, name, path) : undefined;
    if (old === undefined) {
      view = yield { calls: [{ tool: "read", args: { path } }] };
      old = guardOf(view, name, path);
    }
    if (old === undefined) return;
    view = yield {
      calls: [{ tool: "edit", args: { path, old, new: old.replace("item.weight > ", "item.weight >= ") } }],
    };
    const answer = view.newest(({ who, lines, live }) => (who === "edit" && live ? lines[0] : undefined));
    if (answer?.value.startsWith("Edited")) return;
  }
}

function guardOf(view: View, name: string, path: string): string | undefined {
  return view.newest((statement) => {
    const lines = codeOf(statement).filter((hit) => hit.path === path);
    const at = lines.findIndex(({ line }) => line.startsWith(`export function ${name}(`));
    const guard = lines[at + 3]?.line;
    if (at < 0 || guard === undefined || !guard.includes("if (item.weight >")) return undefined;
    return lines
      .slice(at, at + 4)
      .map(({ line }) => line)
      .join("\n");
  })?.value;
}

/** Puts limits back: the old texts stand in the agent's own edits alone. */
function* putBack(path: string, limit: string): Turn<void> {
  const call = { tool: "grep", args: { pattern: `limit = ${limit})`, path } };
  const done = new Set<string>();
  let view = yield { calls: [call] };
  const isLimit = (line: string): string | undefined => {
    return line.includes(`limit = ${limit})`) ? line : undefined;
  };
  for (;;) {
    let next = hitIn(view, path, isLimit, done);
    if (!next) {
      view = yield { calls: [call] };
      next = hitIn(view, path, isLimit, done);
      if (!next) return;
    }
    const { line } = next;
    done.add(`${path}\n${line}`);
    const gathered = yield* gather(view, [limitNeed(path, line, limit)]);
    const [before = unknown] = gathered.values;
    view = gathered.view;
    if (before === unknown) continue;
    view = yield {
      calls: [{ tool: "edit", args: { path, old: line, new: line.replace(/limit = \d+/, `limit = ${before}`) } }],
    };
  }
}

/** The limit a function had before the agent set it: it stands in the old text of its own edit. */
function limitNeed(path: string, line: string, limit: string): Need {
  const name = /function (\w+)/.exec(line)?.[1] ?? "";
  const signature = String.raw`function ${name}\(.*limit = `;
  const pattern = new RegExp(String.raw`old: .*${signature}(\d+).*\n\s*new: .*${signature}${limit}\)`);
  return {
    key: `limit of ${name} before ${limit}`,
    queries: [`edit ${path} ${name} limit = ${limit}`, `${name} limit`],
    read: (statement) => {
      const edit = editOf(statement);
      const whole = edit && `old: ${edit.old}\nnew: ${edit.new}`;
      for (const text of [whole ?? "", statement.lines.join("\n")]) {
        const before = pattern.exec(text)?.[1];
        // An edit of the lines below took the new limit along.
        if (before !== undefined && before !== limit) return before;
      }
      return undefined;
    },
  };
}
