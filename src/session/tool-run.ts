/** Tool runs of a session, each from its start to the message with its result. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../errors.ts";
import { resultText, toolResults } from "../message/message.ts";
import { isObject } from "../message/json.ts";
import type { GivenMessage, JsonValue, Message, NewMessage, ToolResultPart } from "../message/message.ts";
import type { ToolRecord } from "../message/record.ts";
import { anyOf, checkGiven, count, kinds, withTexts } from "../window/options.ts";
import type { Kind } from "../window/options.ts";
import type { SessionContext } from "./context.ts";
import { tell } from "./events.ts";
import type { SessionWriter } from "./writer.ts";

/** A tool run that has started and not finished. */
export interface ToolRun {
  readonly callId: string;
  /**
   * Records the result: a `tool` message for the window and a line of `tools.jsonl`.
   *
   * @param result - the content of the tool message: text, parts, or any other JSON value, which stands as its JSON; or a
   *   host's whole tool message, kept as it came. A message with the results of other runs that are under way finishes these too.
   * @param options - `durationMs` where the caller measured it, by call id where it finishes several runs; default: since
   *   `startTool`
   */
  finish(result: GivenResult, options?: FinishOptions): Promise<Message>;
}

/** A result as a host has it. */
export type GivenResult = ToolResultPart["content"] | JsonValue | NewMessage;

/** How a run is finished. */
export interface FinishOptions {
  /** Default false. Not with a whole message, whose parts say so themselves. */
  readonly isError?: boolean;
  /** Milliseconds that the run took; by call id where the message finishes several. Default: since `startTool`. */
  readonly durationMs?: number | ReadonlyMap<string, number>;
}

/** A call as `startTool` takes it. */
export type StartedCall = { readonly callId?: string; readonly name: string; readonly args: JsonValue };

/** How a run is started. */
export interface StartOptions {
  /**
   * Starts a call even though its arguments contain the placeholder of a masked secret. For callers that mean the
   * placeholder itself, or replace it before the tool runs. Default false.
   */
  readonly allowMasks?: boolean;
}

const callKinds = { call: withTexts("name"), callId: kinds.text } as const;

const finishKinds = {
  isError: kinds.flag,
  durationMs: anyOf(count, { is: "a map of them", fits: (value) => value instanceof Map }),
} as const satisfies Record<keyof FinishOptions, Kind>;

/** A run under way: the call as the log has it, and when it began. */
interface Running {
  readonly call: Pick<ToolRecord, "callId" | "toolName" | "arguments">;
  readonly started: Date;
}

/** The tool runs of a session. */
export class ToolRuns {
  readonly #context: SessionContext;
  readonly #writer: SessionWriter;
  /** The calls that were started here and have not finished, by their ids. */
  readonly running = new Map<string, Running>();

  constructor(context: SessionContext, writer: SessionWriter) {
    this.#context = context;
    this.#writer = writer;
  }

  /** Records that a tool is about to run. */
  async start(call: StartedCall, options: StartOptions = {}): Promise<ToolRun> {
    checkGiven("startTool", { call: call ?? null, callId: call?.callId }, callKinds);
    checkGiven("startTool", options, { allowMasks: kinds.flag });
    const { id: sessionId, now, on, conversation } = this.#context;
    const started = now();
    const { name: toolName, args } = call;
    const callId = call.callId === undefined ? randomUUID() : this.#writer.hostIdOf(call.callId);
    const placeholders = conversation.placeholdersIn(args);
    if (placeholders.length > 0) {
      tell(on, { type: "call-masked", sessionId, callId, toolName, placeholders });
      if (options.allowMasks !== true) throw maskedValue(callId, toolName, placeholders);
    }
    const run: Running = { call: { callId, toolName, arguments: args }, started };
    await this.#writer.append([], [{ kind: "call", ...run.call, timestamp: started.toISOString() }]);
    this.running.set(callId, run);
    tell(on, { type: "tool-started", sessionId, callId, toolName });
    return { callId, finish: (result, options) => this.#finish(run, result, options) };
  }

  async #finish(run: Running, given: GivenResult, options: FinishOptions = {}): Promise<Message> {
    checkGiven("ToolRun.finish", options, finishKinds);
    const { isError = false, durationMs } = options;
    const { id: sessionId, now, on } = this.#context;
    const ended = now();
    const { callId, toolName: name } = run.call;
    const about = { type: "tool-result", callId, name, ...(isError && { isError }) } as const;
    const whole: GivenMessage = isMessage(given) ? given : { role: "tool", parts: [{ ...about, content: given }] };
    const message = this.#writer.complete(whole);
    const results = new Map(toolResults(message).map((result) => [result.callId, result]));
    const others = [...results.keys()].flatMap((id) => (id === callId ? [] : (this.running.get(id) ?? [])));
    const runs = [run, ...others].map(({ call, started }) => {
      const told =
        typeof durationMs === "object" ? durationMs.get(call.callId) : call === run.call ? durationMs : undefined;
      const took = Math.max(0, Math.round(told ?? ended.getTime() - started.getTime()));
      const result = results.get(call.callId) ?? { ...about, content: [] };
      return { call, ends: { timestamp: ended.toISOString(), durationMs: took }, result };
    });
    await this.#writer.appendLast(message, (messageSeq) =>
      runs.map(({ call, ends, result }) => ({ kind: "tool", ...call, ...outcomeOf(result, messageSeq), ...ends })),
    );
    for (const { call, ends, result } of runs) {
      const { callId: id, toolName } = call;
      this.running.delete(id);
      const isFailed = result.isError === true;
      const { durationMs } = ends;
      tell(on, { type: "tool-finished", sessionId, callId: id, toolName, isError: isFailed, durationMs });
    }
    await this.#writer.setState((state) => ({
      lastActivity: "tool_execution",
      toolCallCount: state.toolCallCount + runs.length,
    }));
    return message;
  }
}

/** Whether a result is a whole message: an object of JSON may have a field `role` of its own. */
function isMessage(given: GivenResult): given is NewMessage {
  return isObject(given) && typeof given["role"] === "string" && Array.isArray(given["parts"]);
}

function maskedValue(callId: string, toolName: string, placeholders: readonly string[]): WindrowError {
  return new WindrowError(
    "masked-value",
    `The arguments of ${toolName} hold ${placeholders.join(", ")}, which took the place of a secret: the tool would run ` +
      "with the placeholder for a value. Answer the call with an error, or put the value in; where the placeholder itself " +
      "is meant, start it with { allowMasks: true }.",
    { callId, toolName, placeholders },
  );
}

/** The most bytes of a result that `tools.jsonl` repeats; docs/format.md has the fields. */
const longestResult = 1_024;

/** The result of a run as its record has it; `messageSeq` is the number of the message with the whole of it. */
function outcomeOf(
  result: ToolResultPart,
  messageSeq: number,
): Pick<ToolRecord, "result" | "error" | "messageSeq" | "status"> {
  const text = resultText(result);
  const isLong = Buffer.byteLength(text) > longestResult;
  const where = isLong && { messageSeq };
  if (!result.isError) return { ...(!isLong && { result: text }), ...where, status: "success" };
  const error = isLong ? `${text.slice(0, longestResult).toWellFormed()}…` : text;
  return { result: null, error, ...where, status: "error" };
}
