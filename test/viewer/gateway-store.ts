/** A store with two lines of one client's session, as a gateway keeps them. */
import { SessionManager } from "windrow";
import type { Session } from "windrow";
import type { JsonObject } from "../kit/inside/message.ts";
import { newFolder } from "../cli/stage.ts";

/** The record of a request that went well, with other fields. */
export function requestOf(fields: JsonObject = {}): JsonObject {
  return {
    time: "2026-11-24T09:15:00.000Z",
    ...{ kind: "turn", attempt: 1, bytes_in: 51_000, bytes_out: 51_000, note: "observed; line=main", epoch: 0 },
    ...{ status: 200, first_byte_ms: 420, total_ms: 2_100, model: "claude-sonnet-4-5", stop: "end_turn" },
    ...fields,
  };
}

/** Makes one: a main line with four requests, of which one failed and was tried again, and an agent's line. */
export async function gatewayStore(): Promise<{ folder: string; main: string; agent: string }> {
  const folder = await newFolder();
  const manager = await SessionManager.open({ store: folder });
  const names = { gateway: 1, api: "anthropic-messages", client: "claude-code", session: "session-7" };
  const hashes = { first: "ab".repeat(32), tenant: "cd".repeat(8) };
  const main = await manager.create({ taskKey: { ...names, line: "main", ...hashes } });
  await main.append({ role: "user", parts: [{ type: "text", text: "Mend it." }] });
  await answered(main, {}, 900);
  await main.records.append(
    "request",
    requestOf({ status: 529, stop: null, error: { type: "overloaded_error", message: "Overloaded" } }),
  );
  await answered(main, { attempt: 2 }, 0);
  const edit = { type: "clear_tool_uses_20250919", cleared_tool_uses: 3, cleared_input_tokens: 4_321 };
  await answered(main, { bypassed: "slow-store", applied_edits: [edit], mends: ["without-reasoning"] }, 950);
  const parent = { uuid: main.id, reason: "agent" };
  const agent = await manager.create({ taskKey: { ...names, agent: "a1", line: "agent", ...hashes, parent } });
  await agent.append({ role: "user", parts: [{ type: "text", text: "Look into it." }] });
  await answered(agent, {}, 0);
  await manager.close();
  return { folder, main: main.id, agent: agent.id };
}

async function answered(session: Session, fields: JsonObject, cacheRead: number): Promise<void> {
  await session.append({ role: "assistant", parts: [{ type: "text", text: "Done." }] });
  await session.records.append("request", requestOf(fields));
  await session.endStep({ usage: { input: 1_000, output: 20, cacheRead }, model: "claude-sonnet-4-5" });
}
