/** Answers of the Messages API, streamed or in one body. */
import { asArray, asCount, asName, asObject, asString, defined, fieldsOf, objectsOf } from "../../message/json.ts";
import { parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { errorOf, placeOf } from "../answer.ts";
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
  readonly #blocks = new Map<number, Draft>();
  #head: JsonObject = {};
  readonly #usage = new Map<string, number>();
  #stop: string | undefined;
  #edits: readonly JsonObject[] | undefined;
  #error: Answer["error"];
  isComplete = false;

  event(data: JsonObject, name: string): void {
    const index = placeOf(data["index"]);
    switch (asString(data["type"]) ?? name) {
      case "message_start":
        this.#head = fieldsOf(data["message"]);
        this.#count(this.#head["usage"]);
        break;
      case "content_block_start":
        if (index !== undefined) this.#blocks.set(index, draftOf(fieldsOf(data["content_block"])));
        break;
      case "content_block_delta": {
        const draft = index === undefined ? undefined : this.#blocks.get(index);
        if (draft) grow(draft, fieldsOf(data["delta"]));
        break;
      }
      case "message_delta":
        this.#end(data, fieldsOf(data["delta"]));
        break;
      case "message_stop":
        this.isComplete = this.#error === undefined && Object.keys(this.#head).length > 0;
        break;
      case "error":
        this.#error = errorOf(data) ?? this.#error;
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
    for (const [index, block] of objectsOf(body["content"]).entries()) this.#blocks.set(index, draftOf(block));
    this.isComplete = true;
  }

  answer(): Answer {
    const ordered = [...this.#blocks].toSorted(([left], [right]) => left - right);
    const content = ordered.map(([, draft]) => built(draft));
    const counts = Object.fromEntries(this.#usage);
    return defined({
      message: content.length > 0 ? normalised({ role: "assistant", content }) : undefined,
      isComplete: this.isComplete,
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

  /** Counts are cumulative, and some servers say 0 in the place of those that they gave before. */
  #count(usage: JsonValue | undefined): void {
    const counts = fieldsOf(usage);
    for (const [name, value] of Object.entries({ ...counts, ...fieldsOf(counts["cache_creation"]) })) {
      const count = asCount(value);
      if (count !== undefined) this.#usage.set(name, Math.max(count, this.#usage.get(name) ?? 0));
    }
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
