import { beforeAll, describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { readTranscripts } from "windrow/transcript";
import { messageText } from "../kit/inside/message.ts";
import type { Transcript } from "../kit/inside/transcript.ts";
import { temporaryFolder, written } from "./files.ts";
import * as fixture from "./fixtures.ts";

const roles = (messages: readonly Message[]): string => messages.map((message) => message.role).join(" ");

describe("copilot-cli", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });

  async function read(lines: readonly string[], name = "events.jsonl"): Promise<readonly Transcript[]> {
    return readTranscripts(await written(folder, name, lines.join("\n")));
  }

  it("reads what the model was sent, calls of either spelling, and failures", async () => {
    const [session] = await read(fixture.copilotCli);
    expect(session).toMatchObject({ id: "cp-1", format: "copilot-cli", problems: [] });
    expect(roles(session?.messages ?? [])).toBe("system user assistant tool tool user assistant tool user");
    const [, user, answer, failed, shown, skill, task, odd, last] = session?.messages ?? [];
    expect(user?.extra).toEqual({ content: "look" });
    expect(user?.parts).toEqual([
      { type: "text", text: "<now>noon</now>\nlook" },
      { type: "image", mediaType: "image/png", data: "QUJD" },
      { type: "opaque", kind: "copilot-cli/file", data: { type: "file", path: "/work/a" } },
    ]);
    expect(answer).toMatchObject({ id: "e5", model: "claude-z", timestamp: "2026-03-01T10:00:05.000Z" });
    expect(answer?.extra).toEqual({ outputTokens: 12 });
    expect(answer?.parts).toEqual([
      { type: "reasoning", text: "hm", signature: "c2ln+/==" },
      { type: "text", text: "Looking." },
      { type: "tool-call", callId: "k1", name: "view", args: { path: "a" }, opaque: { intentionSummary: null } },
      { type: "tool-call", callId: "k2", name: "bash", args: { command: "ls" }, opaque: { intentionSummary: null } },
    ]);
    const of = { type: "tool-result", callId: "k1", name: "view" };
    expect(failed?.parts).toEqual([{ ...of, content: "no such file", isError: true }]);
    const image = { type: "image", mediaType: "image/png", data: "QUJD" };
    expect(shown?.parts).toMatchObject([{ callId: "k2", content: [{ type: "text", text: "a b" }, image] }]);
    expect(skill).toMatchObject({ status: "synthetic", extra: { source: "skill-pdf" } });
    expect(task).toMatchObject({ model: "gpt-z", parts: [{ callId: "k3" }, { type: "opaque" }] });
    expect(odd?.parts).toMatchObject([{ callId: "k3", content: '{"odd":true}' }]);
    expect(last?.parts).toEqual([{ type: "text", text: "go deep" }]);
  });

  it("tells the folder it began in, compactions and the totals of each run, and gives no message usage", async () => {
    const [session] = await read(fixture.copilotCli);
    expect(session?.meta).toEqual({
      ...{ cwd: "/work", version: "1.0.40", gitBranch: "main" },
      compactions: [{ after: 5, success: true, summaryContent: "so far", preCompactionTokens: 9 }],
      modelMetrics: [{ "claude-z": { usage: { inputTokens: 100 } } }],
    });
    expect(session?.messages.some(({ usage }) => usage)).toBe(false);
  });

  it("gives sub-agents sessions of their own, by their id, their call or their prompt", async () => {
    const [, ...agents] = await read(fixture.copilotCli);
    expect(agents.map(({ id, meta, messages }) => [id, meta, messages.map(messageText)])).toEqual([
      ["cp-1/k3", { sidechain: "k3" }, ["go deep", "Deep."]],
      ["cp-1/agent-7", { sidechain: "agent-7" }, ["deeper", "Deeper."]],
    ]);
    expect(agents.map(({ model }) => model)).toEqual([undefined, "small"]);
  });

  it("loses nothing but the line that is damaged", async () => {
    const whole = await read(fixture.copilotCli);
    const damaged = ['{"type":"user.message"}', "[]", '{"type":"assistant.message","data":"torn'];
    const [session, ...agents] = await read(
      fixture.copilotCli.slice(0, 3).flatMap((line, at) => [line, damaged[at] ?? ""]),
    );
    expect(agents).toEqual([]);
    expect(session?.problems.map(({ line }) => line)).toEqual([2, 4, 6]);
    expect(session?.messages).toEqual(whole[0]?.messages.slice(0, 2));
    const mixed = await read([...fixture.copilotCli, ...fixture.copilotDocument]);
    expect(mixed.map(({ id }) => id)).toEqual([...whole.map(({ id }) => id), "cp-0"]);
    expect(mixed[0]).toEqual(whole[0]);
  });

  it("reads the document of earlier versions", async () => {
    const [session] = await read(
      [JSON.stringify(JSON.parse(fixture.copilotDocument[0] ?? ""), null, 2)],
      "session_1.json",
    );
    expect(session).toMatchObject({
      id: "cp-0",
      format: "copilot-cli",
      meta: { startTime: "2026-03-01T10:00:00.000Z" },
    });
    expect(roles(session?.messages ?? [])).toBe("user assistant tool");
    expect(session?.messages[2]?.parts).toEqual([{ type: "tool-result", callId: "k1", name: "bash", content: "a b" }]);
    expect(session?.problems).toHaveLength(1);
  });
});
