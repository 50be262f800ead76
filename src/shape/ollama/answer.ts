/** Answers of Ollama's chat API: lines of JSON, each with a piece of the message. */
import { asArray, asCount, asName, asString, defined, fieldsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue, Usage } from "../../message/message.ts";
import { usage } from "../../message/parts.ts";
import { errorOf } from "../answer.ts";
import type { Answer, AnswerBuilder } from "../shape.ts";

/** Puts an answer together as its client will send it back. */
export class OllamaAnswer implements AnswerBuilder {
  #content = "";
  #thinking = "";
  readonly #calls: JsonValue[] = [];
  #last: JsonObject = {};
  #hasMessage = false;
  #error: Answer["error"];
  isEnded = false;

  event(data: JsonObject): void {
    this.#error = errorOf(data) ?? this.#error;
    const message = fieldsOf(data["message"]);
    this.#hasMessage ||= Object.keys(message).length > 0;
    this.#content += asString(message["content"]) ?? "";
    this.#thinking += asString(message["thinking"]) ?? "";
    for (const call of asArray(message["tool_calls"]) ?? []) this.#calls.push(call);
    this.#last = data;
    this.isEnded = data["done"] === true;
  }

  body(value: JsonValue): void {
    this.event(fieldsOf(value));
  }

  answer(): Answer {
    const message = {
      role: "assistant",
      content: this.#content,
      ...(this.#thinking !== "" && { thinking: this.#thinking }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    };
    return defined({
      message: this.#hasMessage ? message : undefined,
      isComplete: this.isEnded && this.#error === undefined,
      usage: ollamaUsage(this.#last),
      model: asName(this.#last["model"]),
      stop: asName(this.#last["done_reason"]),
      error: this.#error,
    });
  }
}

/** Reads the counts in the last line of an answer. */
export function ollamaUsage(last: unknown): Usage | undefined {
  const counts = fieldsOf(last);
  return usage({ input: asCount(counts["prompt_eval_count"]), output: asCount(counts["eval_count"]) });
}
