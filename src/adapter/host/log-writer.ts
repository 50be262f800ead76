/** Appends to a session's log one write after another; the result of a started tool is written with its tool record. */
import type { JsonValue, Message, NewMessage } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import type { ToolRun } from "../../session/tool-run.ts";

/** A tool call as a host reports it before it runs. */
export interface StartedTool {
  readonly callId: string;
  readonly name: string;
  /** The arguments; only what JSON can carry is recorded. */
  readonly args: unknown;
}

/** The writes of one host into one session. */
export class LogWriter {
  readonly session: Session;
  readonly #runs = new Map<string, { readonly run: ToolRun; durationMs?: number }>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(session: Session) {
    this.session = session;
  }

  /** Runs a piece of work when all earlier ones have ended, failed ones included. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Records that a tool is about to run. A placeholder of a masked secret in its arguments stops nothing. */
  startTool({ callId, name, args }: StartedTool): Promise<void> {
    return this.inTurn(async () => {
      const call = { callId, name, args: JSON.parse(JSON.stringify(args ?? {})) as JsonValue };
      this.#runs.set(callId, { run: await this.session.startTool(call, { allowMasks: true }) });
    });
  }

  /** Notes how long a started tool took, in milliseconds; it is written with the tool's result. */
  endTool(callId: string, durationMs: number): void {
    const started = this.#runs.get(callId);
    if (started) started.durationMs = durationMs;
  }

  /**
   * Appends messages, those between two results of started tools at once. Call it in turn.
   *
   * @param appended - is called with each message as it was stored, also where a later one fails
   * @throws WindrowError as `Session.append`
   */
  async append(messages: readonly NewMessage[], appended: (stored: Message, index: number) => void): Promise<void> {
    let batch: { readonly message: NewMessage; readonly index: number }[] = [];
    const flush = async (): Promise<void> => {
      const taken = batch;
      batch = [];
      if (taken.length === 0) return;
      const stored = await this.session.append(taken.map(({ message }) => message));
      stored.forEach((message, place) => appended(message, taken[place]?.index ?? place));
    };
    for (const [index, message] of messages.entries()) {
      const runs = message.parts.flatMap((part) =>
        part.type === "tool-result" ? (this.#runs.get(part.callId) ?? []) : [],
      );
      const [first] = runs;
      if (!first) {
        batch.push({ message, index });
        continue;
      }
      await flush();
      const durationMs = new Map(
        runs.flatMap(({ run, durationMs: took }) => (took === undefined ? [] : [[run.callId, took] as const])),
      );
      const stored = await first.run.finish(message, { durationMs });
      for (const { run } of runs) this.#runs.delete(run.callId);
      appended(stored, index);
    }
    await flush();
  }
}
