/** Answers of the Messages API, streamed or in one body. */
import { asArray, asCount, asName, asObject, asString, defined, fieldsOf, objectsOf } from "../../message/json.ts";
import { parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { Drafts, errorOf } from "../answer.ts";
import type { Answer, AnswerBuilder } from "../shape.ts";
import { normalised } from "../value.ts";
import { anthropicUsage } from "./usage.ts";

/** A content block while it comes. */
interface Draft {
  readonly fields: Map<string, JsonValue>;
  readonly citations: JsonValue[];
  input: string;
}

/** Puts an answer together as its client will send it back. */
export class AnthropicAnswer implements AnswerBuilder {
  readonly #blocks = new Drafts<Draft>();
  #head: JsonObject = {};
  readonly #usage = new Map<string, number>();
  #stop: string | undefined;
  #edits: readonly JsonObject[] | undefined;
  #error: Answer["error"];
  isEnded = false;

  event(data: JsonObject, name: string): void {
    switch (asString(data["type"]) ?? name) {
      case "message_start":
        this.#head = fieldsOf(data["message"]);
        this.#count(this.#head["usage"]);
        break;
      case "content_block_start":
        this.#blocks.begin(data["index"], draftOf(fieldsOf(data["content_block"])));
        break;
      case "content_block_delta": {
        const draft = this.#blocks.at(data["index"]);
        if (draft) grow(draft, fieldsOf(data["delta"]));
        break;
      }
      case "message_delta":
        this.#end(data, fieldsOf(data["delta"]));
        break;
      case "message_stop":
        this.isEnded = Object.keys(this.#head).length > 0;
        break;
      case "error":
        this.#error = errorOf(data, true);
        break;
    }
  }

  body(value: JsonValue): void {
    const body = fieldsOf(value);
    if (body["type"] === "error" || (body["error"] ?? undefined) !== undefined) {
      this.#error = errorOf(body);
      return;
    }
    if (body["type"] !== "message" && !Array.isArray(body["content"])) return;
    this.#head = body;
    this.#end(body, body);
    for (const block of objectsOf(body["content"])) this.#blocks.begin(undefined, draftOf(block));
    this.isEnded = true;
  }

  answer(): Answer {
    const content = this.#blocks.all.map(built);
    const counts = Object.fromEntries(this.#usage);
    return defined({
      message: content.length > 0 ? normalised({ role: "assistant", content }) : undefined,
      isComplete: this.isEnded && this.#error === undefined,
      usage: anthropicUsage({ ...counts, cache_creation: counts }),
      model: asName(this.#head["model"]),
      id: asName(this.#head["id"]),
      stop: this.#stop,
      appliedEdits: this.#edits,
      error: this.#error,
    });
  }

  #end({ usage, context_management: management }: JsonObject, { stop_reason: stop }: JsonObject): void {
    this.#stop = asName(stop) ?? this.#stop;
    this.#count(usage);
    const edits = objectsOf(fieldsOf(management)["applied_edits"]);
    if (edits.length > 0) this.#edits = edits;
  }

  /**
   * Counts are cumulative, and some servers say 0 in the place of those that they gave before. Those of what was read
   * belong together: some servers guess at first, and say later how much of it was cached.
   */
  #count(usage: JsonValue | undefined): void {
    const given = fieldsOf(usage);
    const counts = Object.entries({ ...given, ...fieldsOf(given["cache_creation"]) }).flatMap(([name, value]) => {
      const count = asCount(value) ?? 0;
      return count > 0 ? [[name, count] as const] : [];
    });
    const isRead = (name: string): boolean => name.includes("input_tokens");
    if (counts.some(([name]) => isRead(name)))
      for (const name of this.#usage.keys()) if (isRead(name)) this.#usage.delete(name);
    for (const [name, count] of counts) this.#usage.set(name, count);
  }
}

function draftOf(block: JsonObject): Draft {
  return { fields: new Map(Object.entries(block)), citations: [], input: "" };
}

function grow(draft: Draft, { type, ...delta }: JsonObject): void {
  if (type === "input_json_delta") draft.input += asString(delta["partial_json"]) ?? "";
  else if (type === "citations_delta") {
    if (delta["citation"] !== undefined) draft.citations.push(delta["citation"]);
  } else {
    for (const [field, value] of Object.entries(delta)) {
      // A signature comes whole, all other texts piece by piece.
      const grows = typeof value === "string" && field !== "signature";
      draft.fields.set(field, grows ? (asString(draft.fields.get(field)) ?? "") + value : value);
    }
  }
}

function built({ fields, citations, input }: Draft): JsonObject {
  const block = new Map(fields);
  if (citations.length > 0) block.set("citations", [...(asArray(block.get("citations")) ?? []), ...citations]);
  // A call that was cut off keeps the text of its arguments.
  if (input !== "") block.set("input", asObject(parseJson(input)) ?? input);
  return Object.fromEntries(block);
}
