/** A tool run of a session, from its start to the message that carries its result. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../errors.ts";
import type { JsonValue, Message, NewMessage, ToolCallPart, ToolResultPart } from "../message/message.ts";
import type { NewRecord } from "../message/record.ts";
import { toolRecord } from "./tool-record.ts";

/** A tool run that was started and not yet finished. */
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
   * Let a call run whose arguments hold the placeholder of a masked secret, which is then meant as it stands, or replaced by
   * who runs the tool. Default false.
   */
  readonly allowMasks?: boolean;
}

/** The call that a run answers. */
export type RunCall = Pick<ToolCallPart, "callId" | "name" | "args">;

/** What tool runs are written with. */
export interface ToolRunParts {
  readonly now: () => Date;
  readonly tell: (event: ToolRunEvent) => void;
  /** The placeholders of masked secrets that stand in the arguments of a call. */
  readonly placeholders: (args: JsonValue) => readonly string[];
  readonly write: (record: NewRecord) => Promise<void>;
  /** Writes the message of a result or several, and the lines that know its number. */
  readonly finish: (message: NewMessage, records: (messageSeq: number) => readonly NewRecord[]) => Promise<Message>;
}

type ToolRunEvent =
  | {
      readonly type: "call-masked";
      readonly callId: string;
      readonly toolName: string;
      readonly placeholders: readonly string[];
    }
  | { readonly type: "tool-started"; readonly callId: string; readonly toolName: string }
  | { readonly type: "tool-finished"; readonly callId: string; readonly durationMs: number };

interface Running {
  readonly call: RunCall;
  readonly started: Date;
}

/** The tool runs of a session. */
export class ToolRuns {
  readonly #parts: ToolRunParts;
  /** The calls that were started here and have not finished, by their ids. */
  readonly running = new Map<string, Running>();

  constructor(parts: ToolRunParts) {
    this.#parts = parts;
  }

  /** Records that a tool is about to run. */
  async start(call: StartedCall, { allowMasks = false }: StartOptions = {}): Promise<ToolRun> {
    const started = this.#parts.now();
    const callId = call.callId ?? randomUUID();
    const placeholders = this.#parts.placeholders(call.args);
    if (placeholders.length > 0) {
      this.#parts.tell({ type: "call-masked", callId, toolName: call.name, placeholders });
      if (!allowMasks) throw maskedValue(callId, call.name, placeholders);
    }
    const run: Running = { call: { callId, name: call.name, args: call.args }, started };
    const timestamp = started.toISOString();
    await this.#parts.write({ kind: "call", callId, toolName: call.name, arguments: call.args, timestamp });
    this.running.set(callId, run);
    this.#parts.tell({ type: "tool-started", callId, toolName: call.name });
    return { callId, finish: (result, options) => this.#finish(run, result, options) };
  }

  async #finish(
    run: Running,
    given: ToolResultPart["content"] | NewMessage,
    { isError = false, durationMs }: FinishOptions = {},
  ): Promise<Message> {
    const ended = this.#parts.now();
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
    const written = await this.#parts.finish(message, (messageSeq) =>
      runs.map(({ call, result, ...took }) => toolRecord(call, result, { ...took, timestamp, messageSeq })),
    );
    for (const { call, durationMs: took } of runs) {
      this.running.delete(call.callId);
      this.#parts.tell({ type: "tool-finished", callId: call.callId, durationMs: took });
    }
    return written;
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
