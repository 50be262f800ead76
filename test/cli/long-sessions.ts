/** Sessions long enough for advice on budgets, in the formats of agents. Their texts are small; their usage says more. */

/** How a long session is written. */
export interface LongSession {
  readonly id?: string;
  readonly cwd?: string;
  readonly calls?: number;
  readonly model?: string;
  readonly day?: string;
  /** Whether the file reports usage. */
  readonly isTold?: boolean;
}

/** Tokens of each request beside its messages. */
export const besides = 12_000;
/** Tokens by which each request is larger than the one before. */
const growth = 2_000;

interface Step {
  readonly at: string;
  readonly callId: string;
  readonly path: string;
  readonly result: string;
  readonly input: number;
  readonly cached: number;
}

function stepsOf({ id = "long", calls = 60, day = "2026-01-02" }: LongSession): readonly Step[] {
  return Array.from({ length: calls }, (_, step) => ({
    at: new Date(Date.parse(`${day}T03:00:00Z`) + 1_000 * step).toISOString(),
    callId: `${id}_${step}`,
    // Every third call comes back to what one of the last few brought.
    path: step % 3 === 2 ? `src/file_${step - 2}.ts` : `src/file_${step}.ts`,
    result: `const name_${step} = ${step};\n${`the file number ${step} says this\n`.repeat(20)}`,
    input: besides + growth * step,
    cached: step === 0 ? 0 : besides + growth * (step - 1),
  }));
}

function joined(rows: readonly object[]): string {
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

/** A session of Claude Code, by a model that costs $5 a million tokens. */
export function claudeLong(session: LongSession = {}): string {
  const { id = "long", cwd = "/repo", model = "claude-opus-4-6", isTold = true } = session;
  const rows: object[] = [];
  const add = (timestamp: string, role: string, message: object): void => {
    const uuid = `${id}-${rows.length}`;
    const parentUuid = rows.length === 0 ? null : `${id}-${rows.length - 1}`;
    const line = { type: role, uuid, parentUuid, sessionId: id, timestamp, cwd, version: "2.0.0" };
    rows.push({ ...line, requestId: `r${uuid}`, message: { role, ...message } });
  };
  add("2026-01-02T02:59:59Z", "user", { content: "Mend src/file_0.ts." });
  for (const { at, callId, path, result, input, cached } of stepsOf(session)) {
    const usage = {
      ...{ input_tokens: 0, cache_read_input_tokens: cached, cache_creation_input_tokens: input - cached },
      output_tokens: 50,
    };
    const content = [{ type: "tool_use", id: callId, name: "Read", input: { file_path: path } }];
    add(at, "assistant", { id: `m${callId}`, model, content, ...(isTold && { usage }) });
    add(at, "user", { content: [{ type: "tool_result", tool_use_id: callId, content: result }] });
  }
  return joined(rows);
}

/** A session of Codex. */
export function codexLong(session: LongSession = {}): string {
  const { id = "long", cwd = "/repo", model = "gpt-5.5" } = session;
  const total = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 };
  const rows: object[] = [];
  const add = (timestamp: string, type: string, payload: object): void => void rows.push({ timestamp, type, payload });
  add("2026-01-02T02:59:59Z", "session_meta", { id, cwd, cli_version: "0.100.0" });
  add("2026-01-02T02:59:59Z", "turn_context", { model });
  const content = [{ type: "input_text", text: "Mend src/file_0.ts." }];
  add("2026-01-02T02:59:59Z", "response_item", { type: "message", role: "user", content });
  for (const { at, callId, path, result, input, cached } of stepsOf(session)) {
    const call = { type: "function_call", call_id: callId, name: "shell", arguments: JSON.stringify({ path }) };
    add(at, "response_item", call);
    const used = { input_tokens: input, cached_input_tokens: cached, output_tokens: 50 };
    for (const name of ["input_tokens", "cached_input_tokens", "output_tokens"] as const) total[name] += used[name];
    const info = { total_token_usage: { ...total }, last_token_usage: used };
    add(at, "event_msg", { type: "token_count", info });
    add(at, "response_item", { type: "function_call_output", call_id: callId, output: result });
  }
  return joined(rows);
}

/** A session of pi. */
export function piLong(session: LongSession = {}): string {
  const { id = "long", cwd = "/repo", model = "claude-opus-4-6" } = session;
  const rows: object[] = [{ type: "session", version: 3, id, timestamp: "2026-01-02T02:59:59Z", cwd }];
  const add = (timestamp: string, message: object): void => {
    const parentId = rows.length === 1 ? null : `row${rows.length - 1}`;
    rows.push({ type: "message", id: `row${rows.length}`, parentId, timestamp, message });
  };
  add("2026-01-02T02:59:59Z", { role: "user", content: [{ type: "text", text: "Mend src/file_0.ts." }] });
  for (const { at, callId, path, result, input, cached } of stepsOf(session)) {
    const content = [{ type: "toolCall", id: callId, name: "read", arguments: { path } }];
    const usage = { input: 0, output: 50, cacheRead: cached, cacheWrite: input - cached };
    add(at, { role: "assistant", model, content, usage, stopReason: "toolUse" });
    const text = [{ type: "text", text: result }];
    add(at, { role: "toolResult", toolCallId: callId, toolName: "read", content: text });
  }
  return joined(rows);
}
