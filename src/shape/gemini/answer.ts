/** Answers of Gemini's API: one body, a list of chunks, or a stream of them. */
import { asArray, asCount, asName, defined, fieldsOf, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { errorOf } from "../answer.ts";
import type { Answer, AnswerBuilder } from "../shape.ts";
import { geminiUsage } from "./usage.ts";

/** Puts an answer together as its client will send it back: neighbouring texts of the chunks are one. */
export class GeminiAnswer implements AnswerBuilder {
  readonly #parts: JsonObject[] = [];
  #usage: JsonObject = {};
  #head: JsonObject = {};
  #stop: string | undefined;
  #error: Answer["error"];
  isEnded = false;

  event(data: JsonObject): void {
    this.#error = errorOf(data) ?? this.#error;
    this.#usage = { ...this.#usage, ...fieldsOf(data["usageMetadata"]) };
    this.#head = { ...this.#head, ...defined({ modelVersion: data["modelVersion"], responseId: data["responseId"] }) };
    const candidate = fieldsOf(objectsOf(data["candidates"]).find(({ index }) => (asCount(index) ?? 0) === 0));
    for (const part of objectsOf(fieldsOf(candidate["content"])["parts"])) this.#take(part);
    const blocked = asName(fieldsOf(data["promptFeedback"])["blockReason"]);
    this.#stop = asName(candidate["finishReason"]) ?? blocked ?? this.#stop;
  }

  body(value: JsonValue): void {
    for (const data of objectsOf(asArray(value) ?? [value])) this.event(data);
    this.isEnded = true;
  }

  answer(): Answer {
    return defined({
      message: this.#parts.length > 0 ? { role: "model", parts: this.#parts } : undefined,
      isComplete: this.#error === undefined && this.#stop !== undefined,
      usage: geminiUsage(this.#usage),
      model: asName(this.#head["modelVersion"]),
      id: asName(this.#head["responseId"]),
      stop: this.#stop,
      error: this.#error,
    });
  }

  /** A text goes on with the text before it, unless one of both has a signature or any other field of its own. */
  #take(part: JsonObject): void {
    const last = this.#parts.at(-1);
    const goesOn = last && isPlain(last) && isPlain(part) && last["thought"] === part["thought"];
    if (goesOn) this.#parts[this.#parts.length - 1] = { ...last, text: last.text + part.text };
    else this.#parts.push(part);
  }
}

function isPlain(part: JsonObject): part is JsonObject & { readonly text: string } {
  return typeof part["text"] === "string" && Object.keys(part).every((key) => key === "text" || key === "thought");
}
