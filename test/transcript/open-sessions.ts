/** The open sessions of coding agents that report usage, for tests that read them where they lie. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { FoundUsage } from "../kit/inside/transcript.ts";

const data = "../shared/data/open";

/** Whether the sessions are there; says so where they are not. */
export function hasOpenSessions(): boolean {
  const there = existsSync(data);
  if (!there) console.warn(`The open sessions are not at ${data}; their test is skipped.`);
  return there;
}

/** Every open session by the agent that wrote it: a name for its file, and its text. */
export function openSessions(): readonly (readonly [agent: FoundUsage["agent"], name: string, text: string])[] {
  const files = ["claude-code-sessions", "long-sessions", "pi-sessions"].flatMap((folder) =>
    readdirSync(join(data, folder))
      .filter((name) => name.endsWith(".jsonl") || name.includes(".raw."))
      .map((name) => join(folder, name)),
  );
  const text = (name: string): string => {
    const bytes = readFileSync(join(data, name));
    return (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  };
  const samples = text("session-format-samples/samples.jsonl.gz")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly file: string; readonly text: string })
    .filter(({ file }) => /^(?:claude|codex|pi|gemini)\//.test(file) && !file.endsWith(".meta.json"));
  return [
    ...files.map((name) => [name, text(name)] as const),
    ...samples.map(({ file, text: own }) => [file, own] as const),
  ].map(([name, own]) => [
    /codex/.test(name) ? "codex" : /claude/.test(name) ? "claude-code" : /gemini/.test(name) ? "gemini-cli" : "pi",
    `${name.replaceAll(/[/.]/g, "-")}${name.includes(".json") && !name.includes(".jsonl") ? ".json" : ".jsonl"}`,
    own,
  ]);
}
