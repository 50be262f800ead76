/** The usage that a session's log has: that of its answers, and that of calls without one. */
import { calledModel } from "../../message/record.ts";
import type { JsonObject, Usage } from "../../message/message.ts";
import { defined } from "../../message/json.ts";
import { decodeRecord } from "../../store/format/record.ts";
import type { TranscriptBuilder } from "../builder.ts";

/** An answer, with its place in the session's log. */
export interface LoggedAnswer {
  /** Its index among the builder's messages. */
  readonly index: number;
  readonly pos: number;
}

/** Gives answers without a usage that of the call behind them; a summary's, or of an answer that was not kept, is left out. */
export class LoggedUsage {
  readonly #builder: TranscriptBuilder;
  readonly #config: JsonObject;
  readonly #answers: readonly LoggedAnswer[];
  /** The calls that messages report themselves, which the log of usage names again. */
  readonly #own: string[];
  #next = 0;

  /** @param config - the session's, for the model of a call that names none */
  constructor(builder: TranscriptBuilder, config: JsonObject, answers: readonly LoggedAnswer[]) {
    [this.#builder, this.#config, this.#answers] = [builder, config, answers];
    this.#own = builder.messages.flatMap(({ usage }) => (usage ? [likeness(usage)] : []));
  }

  /**
   * Takes a line of the log; they come in order.
   *
   * @throws BadLine
   */
  take(line: JsonObject): void {
    const record = decodeRecord("usage", line);
    if (record.kind !== "usage") return;
    const { usage, pos, purpose, timestamp } = record;
    const again = this.#own.indexOf(likeness(usage));
    if (again >= 0) return void this.#own.splice(again, 1);
    while ((this.#answers[this.#next]?.pos ?? Infinity) < pos) this.#next++;
    const { messages } = this.#builder;
    const index = this.#answers[this.#next - 1]?.index ?? -1;
    const answer = messages[index];
    const model = calledModel(this.#config, record) ?? undefined;
    if (purpose !== "turn" || !answer || answer.usage)
      this.#builder.leaveOut([{ usage, timestamp, ...defined({ model }) }]);
    else messages[index] = { ...answer, usage, ...defined({ model: answer.model ?? model }) };
  }
}

/** Calls of the same tokens. */
function likeness({ input = 0, output = 0 }: Usage): string {
  return `${input} ${output}`;
}
