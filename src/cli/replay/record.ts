/** Writes a recorded session through the file store, as the live agent would have. */
import { basename } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { toolCalls } from "../../message/message.ts";
import type { Message, ToolResultPart } from "../../message/message.ts";
import type { Listener } from "../../session/events.ts";
import { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import type { ToolRun } from "../../session/tool-run.ts";
import type { Store } from "../../store/store.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import type { ReplaySettings } from "./options.ts";

/** How a session is recorded. */
export interface RecordOptions {
  /** The file the session was read from. */
  readonly file: string;
  /** The store that receives the recording. It is closed at the end. */
  readonly store: Store;
  readonly settings: ReplaySettings;
  readonly onProgress?: (done: number, total: number) => void;
  /** Receives the events of the session. Default: nobody. */
  readonly on?: Listener;
}

/**
 * Appends message by message, composes a window before every model call and records every tool run, under the last of
 * the strategies and the first of the budgets. Times are those of the recording, where it has any.
 *
 * @returns the folder of the session
 * @throws WindrowError `store-unavailable`, `not-durable`, `bad-message`, `aborted`
 */
export async function recordSession(
  transcript: Transcript,
  options: RecordOptions,
  signal?: AbortSignal,
): Promise<string> {
  const { settings, store, file } = options;
  const { messages } = transcript;
  let clock = messages.find((message) => message.timestamp !== undefined)?.timestamp;
  const manager = await SessionManager.open({
    store,
    strategy: settings.strategies.at(-1) ?? "adaptive",
    budget: settings.budgetsFor(transcript.model)[0] ?? Infinity,
    profile: settings.profileFor(transcript.model),
    counter: settings.counter,
    ...(options.on && { on: options.on }),
    now: () => (clock === undefined ? new Date() : new Date(clock)),
  });
  try {
    const taskKey = { source: basename(file), format: transcript.format, session: transcript.id };
    const session = await manager.create({
      taskKey,
      ...(transcript.model !== undefined && { config: { model: transcript.model } }),
    });
    const writer = new Writer(session);
    for (const [index, message] of messages.entries()) {
      if (signal?.aborted)
        throw new WindrowError("aborted", `Stopped; what was written so far is in session ${session.id}.`);
      clock = message.timestamp ?? clock;
      await writer.write(message);
      options.onProgress?.(index + 1, messages.length);
    }
    await session.finish("completed");
    return (await manager.info(session.id)).location;
  } finally {
    await manager.close();
  }
}

class Writer {
  readonly #session: Session;
  readonly #runs = new Map<string, ToolRun>();
  #written = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  async write(message: Message): Promise<void> {
    const answer = answerOf(message);
    const run = answer && this.#runs.get(answer.callId);
    if (answer && run) {
      this.#runs.delete(answer.callId);
      await run.finish(answer.content, answer.isError === undefined ? {} : { isError: answer.isError });
    } else if (message.role === "assistant") await this.#writeCall(message);
    else await this.#session.append(message);
    this.#written++;
  }

  async #writeCall(message: Message): Promise<void> {
    if (this.#written > 0) await this.#compose();
    await this.#session.append(message);
    const { usage, model } = message;
    await this.#session.endStep({ ...(usage && { usage }), ...(model !== undefined && { model }) });
    for (const call of toolCalls(message))
      this.#runs.set(call.callId, await this.#session.startTool(call, { allowMasks: true }));
  }

  /** A window that cannot fit is the replay's to report; the history is kept all the same. */
  async #compose(): Promise<void> {
    try {
      await this.#session.compose();
    } catch (error) {
      if (!isWindrowError(error, "over-budget") && !isWindrowError(error, "budget-too-small")) throw error;
    }
  }
}

/** The result of a message that carries one result and nothing else. */
function answerOf(message: Message): ToolResultPart | undefined {
  const [part] = message.parts;
  return message.parts.length === 1 && part?.type === "tool-result" ? part : undefined;
}
