/** Answers of Ollama's chat API: lines of JSON, each with a piece of the message. */
import { asArray, asCount, asName, asString, defined, fieldsOf } from "../../../message/json.ts";
import type { JsonObject, JsonValue } from "../../../message/message.ts";
import { usage } from "../../../message/parts.ts";
import type { WireAnswer } from "../../gateway.ts";
import { errorOf } from "../answer.ts";
import type { AnswerBuilder } from "../answer.ts";

/** Puts an answer together as its client will send it back. */
export class OllamaAnswer implements AnswerBuilder {
  readonly #content: string[] = [];
  readonly #thinking: string[] = [];
  readonly #calls: JsonValue[] = [];
  #last: JsonObject = {};
  #hasMessage = false;
  #error: WireAnswer["error"];
  isComplete = false;

  event(data: JsonObject): void {
    this.#error = errorOf(data) ?? this.#error;
    const message = fieldsOf(data["message"]);
    this.#hasMessage ||= Object.keys(message).length > 0;
    this.#content.push(asString(message["content"]) ?? "");
    this.#thinking.push(asString(message["thinking"]) ?? "");
    this.#calls.push(...(asArray(message["tool_calls"]) ?? []));
    this.#last = data;
    this.isComplete = this.#error === undefined && data["done"] === true;
  }

  body(value: JsonValue): void {
    this.event(fieldsOf(value));
  }

  answer(): WireAnswer {
    const thinking = this.#thinking.join("");
    const message = {
      role: "assistant",
      content: this.#content.join(""),
      ...(thinking !== "" && { thinking }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    };
    return defined({
      message: this.#hasMessage ? message : undefined,
      isComplete: this.isComplete,
      usage: usage({
        input: asCount(this.#last["prompt_eval_count"]),
        output: asCount(this.#last["eval_count"]),
        cacheRead: undefined,
        cacheWrite: undefined,
        reasoning: undefined,
      }),
      model: asName(this.#last["model"]),
      stop: asName(this.#last["done_reason"]),
      error: this.#error,
    });
  }
}
