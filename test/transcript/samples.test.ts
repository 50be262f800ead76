import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { isWindrowError } from "windrow";
import { readTranscripts } from "windrow/transcript";
import { checkMessage, toolCalls, toolResults } from "../kit/inside/message.ts";
import type { Transcript } from "../kit/inside/transcript.ts";
import { temporaryFolder } from "./files.ts";

const data = "../shared/data/open";
const claude = "claude-code-sessions";
const here = existsSync(data);
if (!here) console.log(`skipping: ${data} is absent`);

/** How many messages each role has: `user 3, assistant 5`. */
function counts(sessions: readonly Transcript[]): string {
  const roles = sessions.flatMap(({ messages }) => messages.map(({ role }) => role));
  return [...new Set(roles)].map((role) => `${role} ${roles.filter((one) => one === role).length}`).join(", ");
}

function sound(sessions: readonly Transcript[]): void {
  for (const { messages } of sessions) {
    expect(new Set(messages.map((message) => message.id)).size).toBe(messages.length);
    for (const message of messages) expect(() => checkMessage(message)).not.toThrow();
  }
}

describe.skipIf(!here)("recorded sessions", () => {
  it.each([
    ["pi-sessions/large-session.raw.jsonl.gz", "pi", 1, "user 88, assistant 453, tool 373"],
    ["pi-sessions/trajectories.jsonl.gz", "trajectory", 1, "user 88, assistant 439, tool 373"],
    ["openhands/trajectories.jsonl.gz", "trajectory", 3, "system 3, user 3, assistant 105, tool 103"],
    ["swe-smith/trajectories.jsonl.gz", "trajectory", 2, "system 2, user 2, assistant 39, tool 39"],
    ["swe-agent-demos/trajectories.jsonl.gz", "trajectory", 17, "system 17, user 17, assistant 201, tool 188"],
    ["tau-bench-airline/trajectories.jsonl.gz", "trajectory", 50, "system 50, user 439, assistant 702, tool 313"],
    [`${claude}/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl`, "claude-code", 1, "user 3, assistant 15, tool 25"],
    [`${claude}/4c289ca8-f8bb-4588-8400-88b78beb784d.jsonl`, "claude-code", 1, "user 2, assistant 5, tool 5"],
    [`${claude}/98b76fb9-f5d3-40c5-ab82-b970c20e3764.jsonl`, "claude-code", 1, "user 6, assistant 4"],
    [`${claude}/b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093.jsonl`, "claude-code", 1, "user 1, assistant 2, tool 4"],
  ])("%s", async (file, format, sessions, expected) => {
    const transcripts = await readTranscripts(join(data, file));
    expect(transcripts).toHaveLength(sessions);
    expect(new Set(transcripts.map((session) => session.format))).toEqual(new Set([format]));
    expect(transcripts.flatMap((session) => session.problems)).toEqual([]);
    expect(counts(transcripts)).toEqual(expected);
    sound(transcripts);
  });

  it("pi's own record and its normalised form agree on calls, results and usage", async () => {
    const [raw] = await readTranscripts(join(data, "pi-sessions/large-session.raw.jsonl.gz"));
    const [normal] = await readTranscripts(join(data, "pi-sessions/trajectories.jsonl.gz"));
    const about = (session: Transcript | undefined): object => ({
      calls: session?.messages.flatMap(toolCalls).map((call) => [call.callId, call.name]),
      results: session?.messages.flatMap(toolResults).map((result) => [result.callId, result.isError]),
      input: session?.messages.reduce((total, message) => total + (message.usage?.input ?? 0), 0),
    });
    expect(about(raw)).toEqual(about(normal));
  });

  it("keeps Claude Code's signatures byte for byte and answers every call", async () => {
    const file = join(data, claude, "b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093.jsonl");
    const [session] = await readTranscripts(file);
    const text = await readFile(file, "utf8");
    const signatures = session?.messages.flatMap((message) =>
      message.parts.flatMap((part) => (part.type === "reasoning" && part.signature ? [part.signature] : [])),
    );
    expect(signatures?.length).toBeGreaterThan(0);
    for (const signature of signatures ?? []) expect(text).toContain(JSON.stringify(signature));
    const calls = session?.messages.flatMap(toolCalls).map((call) => call.callId);
    expect(session?.messages.flatMap(toolResults).map((result) => result.callId)).toEqual(calls);
  });
});

describe.skipIf(!here)("samples of many agents", () => {
  const read = new Map<string, string>();

  beforeAll(async () => {
    const folder = await temporaryFolder();
    const text = gunzipSync(await readFile(join(data, "session-format-samples/samples.jsonl.gz"))).toString();
    for (const line of text.split("\n").filter((one) => one !== "")) {
      const sample = JSON.parse(line) as { file: string; text: string };
      const path = join(folder, sample.file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, sample.text);
      read.set(sample.file, await outcome(path));
    }
  });

  async function outcome(path: string): Promise<string> {
    try {
      const sessions = await readTranscripts(path);
      sound(sessions);
      return `${sessions[0]?.format} ${counts(sessions)}`;
    } catch (error) {
      if (!isWindrowError(error, "not-a-transcript")) throw error;
      expect(error.message).toContain(basename(path));
      return "refused";
    }
  }

  it("reads Claude Code, Codex, pi, Gemini CLI and Copilot CLI", () => {
    expect(Object.fromEntries(read)).toMatchObject({
      "claude/large.jsonl": "claude-code user 4, assistant 5, tool 1",
      "claude/schema_drift.jsonl": "claude-code user 2, assistant 2, tool 1",
      "claude/small.jsonl": expect.stringMatching(/^claude-code /) as string,
      "codex/large.jsonl": "codex user 7, assistant 7, tool 1",
      "codex/schema_drift.jsonl": "codex user 1, assistant 2, tool 1",
      "codex/small.jsonl": expect.stringMatching(/^codex /) as string,
      "pi/small.jsonl": "pi user 2, assistant 2",
      "gemini/jsonl_v040.jsonl": "gemini-cli user 1, assistant 2, tool 1",
      "gemini/small.json": "gemini-cli user 1, assistant 1",
      "gemini/schema_drift.json": "gemini-cli user 1, assistant 1",
      "copilot/large.jsonl": "copilot-cli system 1, user 3, assistant 4, tool 1",
      "copilot/schema_drift.jsonl": "copilot-cli assistant 2, tool 2",
      "copilot/small.jsonl": expect.stringMatching(/^copilot-cli /) as string,
      "copilot/subdir_v1/aaaabbbb-1111-2222-3333-ccccddddeeee/events.jsonl": "copilot-cli user 1, assistant 2, tool 1",
    });
  });

  it("reads those whose format is another's, and refuses the rest by name", () => {
    const kinds = new Map<string, Set<string>>();
    for (const [file, result] of read) {
      const agent = file.split("/")[0] ?? "";
      kinds.set(agent, (kinds.get(agent) ?? new Set()).add(result.split(" ")[0] ?? ""));
    }
    expect(kinds.get("gemini")).toEqual(new Set(["gemini-cli"]));
    expect(kinds.get("openclaw")).toEqual(new Set(["pi"]));
    expect(kinds.get("hermes")).toEqual(new Set(["openai-chat"]));
    // One of them has several objects in one line, which is no JSON.
    expect(kinds.get("qwen")).toEqual(new Set(["qwen-code", "refused"]));
    for (const agent of ["antigravity", "cursor", "droid", "grok", "kimi", "opencode"]) {
      expect([agent, kinds.get(agent)]).toEqual([agent, new Set(["refused"])]);
    }
  });
});
