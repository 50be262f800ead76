/** Tool runs of a session, each from its start to the message with its result. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../errors.ts";
import { resultText } from "../message/message.ts";
import { isObject } from "../message/json.ts";
import type { GivenMessage, JsonValue, Message, NewMessage, ToolCallPart, ToolResultPart } from "../message/message.ts";
import type { ToolRecord } from "../message/record.ts";
import { anyOf, checkGiven, checkObject, checkTypes, count, kinds } from "../window/options.ts";
import type { Kind } from "../window/options.ts";
import type { Appender } from "./appender.ts";
import type { SessionContext } from "./context.ts";
import { tell } from "./events.ts";
import type { ConversationState } from "./state/state.ts";
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

const callKinds = { callId: kinds.text, name: kinds.text } as const;

const finishKinds = {
  isError: kinds.flag,
  durationMs: anyOf(count, { is: "a map of them", fits: (value) => value instanceof Map }),
} as const satisfies Record<keyof FinishOptions, Kind>;

/** The call that a run answers. */
export type RunCall = Pick<ToolCallPart, "callId" | "name" | "args">;

interface Running {
  readonly call: RunCall;
  readonly started: Date;
}

/** The tool runs of a session. */
export class ToolRuns {
  readonly #context: SessionContext;
  readonly #writer: SessionWriter;
  readonly #appender: Appender;
  readonly #state: ConversationState;
  /** The calls that were started here and have not finished, by their ids. */
  readonly running = new Map<string, Running>();

  constructor(context: SessionContext, writer: SessionWriter, appender: Appender, state: ConversationState) {
    this.#context = context;
    this.#writer = writer;
    this.#appender = appender;
    this.#state = state;
  }

  /** Records that a tool is about to run. */
  async start(call: StartedCall, options: StartOptions = {}): Promise<ToolRun> {
    checkObject("startTool", call);
    checkTypes("startTool", { callId: call.callId, name: call.name ?? null }, callKinds);
    checkGiven("startTool", options, { allowMasks: kinds.flag });
    const { allowMasks = false } = options;
    const { id: sessionId, now, on } = this.#context;
    const started = now();
    const callId = call.callId === undefined ? randomUUID() : this.#appender.hostIdOf(call.callId);
    const placeholders = this.#state.placeholdersIn(call.args);
    if (placeholders.length > 0) {
      tell(on, { type: "call-masked", sessionId, callId, toolName: call.name, placeholders });
      if (!allowMasks) throw maskedValue(callId, call.name, placeholders);
    }
    const run: Running = { call: { callId, name: call.name, args: call.args }, started };
    const timestamp = started.toISOString();
    await this.#appender.append([], [{ kind: "call", callId, toolName: call.name, arguments: call.args, timestamp }]);
    this.running.set(callId, run);
    tell(on, { type: "tool-started", sessionId, callId, toolName: call.name });
    return { callId, finish: (result, options) => this.#finish(run, result, options) };
  }

  async #finish(run: Running, given: GivenResult, options: FinishOptions = {}): Promise<Message> {
    checkGiven("ToolRun.finish", options, finishKinds);
    const { isError = false, durationMs } = options;
    const { id: sessionId, now, on } = this.#context;
    const ended = now();
    const { callId, name } = run.call;
    const about = { type: "tool-result", callId, name, ...(isError && { isError: true }) } as const;
    const made = <C>(content: C): typeof about & { content: C } => ({ ...about, content });
    const whole: GivenMessage = isMessage(given) ? given : { role: "tool", parts: [made(given)] };
    const message = this.#appender.complete(whole);
    const results = new Map(
      message.parts.flatMap((part) => (part.type === "tool-result" ? [[part.callId, part] as const] : [])),
    );
    const others = [...results.keys()].flatMap((id) => (id === callId ? [] : (this.running.get(id) ?? [])));
    const runs = [run, ...others].map(({ call, started }) => {
      const told =
        typeof durationMs === "object" ? durationMs.get(call.callId) : call === run.call ? durationMs : undefined;
      const took = told ?? ended.getTime() - started.getTime();
      return { call, result: results.get(call.callId) ?? made([]), durationMs: Math.max(0, Math.round(took)) };
    });
    const timestamp = ended.toISOString();
    await this.#appender.appendLast(message, (messageSeq) =>
      runs.map(({ call, result, ...took }) => toolRecord(call, result, { ...took, timestamp, messageSeq })),
    );
    for (const { call, result, durationMs: took } of runs) {
      const { callId: id, name: toolName } = call;
      this.running.delete(id);
      const isFailed = result.isError === true;
      tell(on, { type: "tool-finished", sessionId, callId: id, toolName, isError: isFailed, durationMs: took });
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

/** The record of a finished run; `messageSeq` is the number of the message with its result. */
function toolRecord(
  call: Pick<ToolCallPart, "callId" | "name" | "args">,
  result: ToolResultPart,
  ended: Pick<ToolRecord, "timestamp" | "durationMs"> & { readonly messageSeq: number },
): ToolRecord {
  const { messageSeq, ...times } = ended;
  const text = resultText(result);
  const long = Buffer.byteLength(text) > longestResult;
  const error = long ? `${text.slice(0, longestResult).toWellFormed()}…` : text;
  return {
    kind: "tool",
    callId: call.callId,
    toolName: call.name,
    arguments: call.args,
    ...(result.isError ? { result: null, error } : long ? {} : { result: text }),
    ...(long && { messageSeq }),
    status: result.isError ? "error" : "success",
    ...times,
  };
}
