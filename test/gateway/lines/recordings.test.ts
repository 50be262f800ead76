/** Lines of real clients. */
import { expect, test } from "vitest";
import type { WireRequest } from "windrow/gateway";
import { recordings, requestsIn } from "../recorded.ts";
import { broken, exchange, openStage } from "./stage.ts";
import type { Stage } from "./stage.ts";

const isAbsent = recordings.length === 0;

/** Recordings have the names of tools alone. */
const requestsOf = (name: string): readonly WireRequest[] =>
  requestsIn(`${name}.json`, ({ tools, ...body }) => ({
    ...body,
    ...(Array.isArray(tools) && { tools: tools.map((tool) => ({ name: String(tool) })) }),
  }));

/** Sends the requests of a recording; what is recorded has no answers, so the clients bring them back. */
async function replayed(stage: Stage, name: string): Promise<void> {
  for (const request of requestsOf(name)) {
    const sending = await exchange(stage.lines, request, broken(""));
    expect(sending.body).toBe(request.call.body);
  }
}

async function linesOf(stage: Stage): Promise<readonly (readonly [unknown, number, unknown])[]> {
  const sessions = await stage.sessions();
  return Promise.all(
    sessions.map(async ({ metadata: { uuid, taskKey, forkedFrom } }) => {
      const { length } = await stage.messages(uuid);
      return [taskKey["line"], length, forkedFrom ? "fork" : taskKey["parent"] ? "parent" : undefined] as const;
    }),
  );
}

test
  .skipIf(isAbsent)
  .each(["cc-default", "cc-opus-loop", "claude-tool", "cc-big1", "pi-anth", "oc-anth", "cc-sseerr", "cc-drop"])(
  "%s is one line, with its side requests beside it",
  async (name) => {
    const stage = await openStage();
    await replayed(stage, name);
    const lines = await linesOf(stage);
    expect(stage.events).toEqual([]);
    expect(lines.filter(([line]) => line === "main")).toHaveLength(1);
    expect(lines.filter(([line]) => line !== "main" && line !== "side")).toEqual([]);
    const last = requestsOf(name).findLast(({ kind }) => kind === "turn");
    expect(lines.find(([line]) => line === "main")![1]).toBe(last!.messages.length);
  },
);

test.skipIf(isAbsent)("cc-tui has titles, a conversation, its summary, and one that goes on from it", async () => {
  const stage = await openStage();
  await replayed(stage, "cc-tui");
  const sessions = await stage.sessions();
  const mains = sessions.filter(({ metadata }) => metadata.taskKey["line"] === "main");
  const names = sessions.map(({ metadata }) => metadata.taskKey["line"] as string);
  expect(names.toSorted((left, right) => (left < right ? -1 : 1))).toEqual(["main", "main", "side"]);
  expect(mains[1]!.metadata.taskKey["parent"]).toMatchObject({ uuid: mains[0]!.metadata.uuid });
  const records = await stage.records(mains[0]!.metadata.uuid);
  expect(records.some(({ data }) => data["kind"] === "compaction")).toBe(true);
});

test.skipIf(isAbsent)("a summary that is the first request of its session leaves the history before it", async () => {
  const stage = await openStage();
  await replayed(stage, "cc-slashcompact");
  expect(await linesOf(stage)).toEqual([["main", 14, undefined]]);
});

test.skipIf(isAbsent)("the subagent of cc-agent has a line of its own", async () => {
  const stage = await openStage();
  await replayed(stage, "cc-agent");
  const names = (await linesOf(stage)).map(([line]) => line);
  expect(names.filter((name) => name === "main")).toHaveLength(1);
  expect(names.filter((name) => name === "agent")).toHaveLength(1);
});
