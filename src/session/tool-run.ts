/** Tool runs of a session, each from its start to the message with its result. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../errors.ts";
import { resultText } from "../message/message.ts";
import type { JsonValue, Message, NewMessage, ToolCallPart, ToolResultPart } from "../message/message.ts";
import type { ToolRecord } from "../message/record.ts";
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
   * @param result - the content of the tool message: text, or parts; or a host's whole tool message, kept as it came. A
   *   message with the results of other runs that are under way finishes these too.
   * @param options - `durationMs` where the caller measured it, by call id where it finishes several runs; default: since
   *   `startTool`
   */
  finish(result: ToolResultPart["content"] | NewMessage, options?: FinishOptions): Promise<Message>;
}

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
  async start(call: StartedCall, { allowMasks = false }: StartOptions = {}): Promise<ToolRun> {
    const { id: sessionId, now, on } = this.#context;
    const started = now();
    const callId = call.callId ?? randomUUID();
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

  async #finish(
    run: Running,
    given: ToolResultPart["content"] | NewMessage,
    { isError = false, durationMs }: FinishOptions = {},
  ): Promise<Message> {
    const { id: sessionId, now, on } = this.#context;
    const ended = now();
    const { callId, name } = run.call;
    const made = (content: ToolResultPart["content"]): ToolResultPart => ({
      type: "tool-result",
      callId,
      name,
      content,
      ...(isError && { isError: true }),
    });
    const whole = typeof given === "object" && "role" in given;
    const message: NewMessage = whole ? given : { role: "tool", parts: [made(given)] };
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
    const complete = this.#appender.complete(message);
    await this.#appender.appendLast(complete, (messageSeq) =>
      runs.map(({ call, result, ...took }) => toolRecord(call, result, { ...took, timestamp, messageSeq })),
    );
    for (const { call, durationMs: took } of runs) {
      this.running.delete(call.callId);
      tell(on, { type: "tool-finished", sessionId, callId: call.callId, durationMs: took });
    }
    await this.#writer.setState((state) => ({
      lastActivity: "tool_execution",
      toolCallCount: state.toolCallCount + runs.length,
    }));
    return complete;
  }
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
