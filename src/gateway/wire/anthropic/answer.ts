/** Answers of the Messages API, streamed or in one body. */
import {
  asArray,
  asCount,
  asName,
  asObject,
  asString,
  defined,
  fieldsOf,
  objectsOf,
  parseJson,
} from "../../../message/json.ts";
import type { JsonObject, JsonValue, Usage } from "../../../message/message.ts";
import { anthropicUsage } from "../../../transcript/claude-code/blocks.ts";
import type { WireAnswer } from "../../gateway.ts";
import { errorOf } from "../answer.ts";
import type { AnswerBuilder } from "../answer.ts";
import { normalised } from "../normalised.ts";

/** A content block while it comes. */
interface Draft {
  readonly fields: Map<string, JsonValue>;
  /** Texts that grow, by their fields. */
  readonly texts: Map<string, string[]>;
  readonly citations: JsonValue[];
  readonly input: string[];
}

/** Most blocks of an answer; a greater index is no block. */
const mostBlocks = 10_000;

/** Puts an answer together as its client will send it back. */
export class AnthropicAnswer implements AnswerBuilder {
  readonly #blocks = new Map<number, Draft>();
  #head: JsonObject = {};
  readonly #usage = new Map<string, number>();
  #stop: string | undefined;
  #edits: readonly JsonObject[] | undefined;
  #error: WireAnswer["error"];
  isComplete = false;

  event(data: JsonObject, name: string): void {
    const index = blockIndex(data["index"]);
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
        this.#stop = asName(fieldsOf(data["delta"])["stop_reason"]) ?? this.#stop;
        this.#count(data["usage"]);
        this.#edited(data["context_management"]);
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
    if (body["type"] === "error" || body["error"] !== undefined) {
      this.#error = errorOf(body);
      return;
    }
    if (body["type"] !== "message" && !Array.isArray(body["content"])) return;
    this.#head = body;
    this.#count(body["usage"]);
    this.#stop = asName(body["stop_reason"]);
    this.#edited(body["context_management"]);
    for (const [index, block] of objectsOf(body["content"]).entries()) this.#blocks.set(index, draftOf(block));
    this.isComplete = true;
  }

  answer(): WireAnswer {
    const ordered = [...this.#blocks].toSorted(([left], [right]) => left - right);
    const content = ordered.map(([, draft]) => built(draft));
    return defined({
      message: content.length > 0 ? normalised({ role: "assistant", content }) : undefined,
      isComplete: this.isComplete,
      usage: this.#reported(),
      model: asName(this.#head["model"]),
      id: asName(this.#head["id"]),
      stop: this.#stop,
      appliedEdits: this.#edits,
      error: this.#error,
    });
  }

  #edited(management: JsonValue | undefined): void {
    const edits = objectsOf(fieldsOf(management)["applied_edits"]);
    if (edits.length > 0) this.#edits = edits;
  }

  #reported(): Usage | undefined {
    const counts = Object.fromEntries(this.#usage);
    return anthropicUsage({ ...counts, cache_creation: counts });
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

function blockIndex(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < mostBlocks ? value : undefined;
}

function draftOf(block: JsonObject): Draft {
  return { fields: new Map(Object.entries(block)), texts: new Map(), citations: [], input: [] };
}

function grow(draft: Draft, delta: JsonObject): void {
  const { type, ...fields } = delta;
  if (type === "input_json_delta") {
    draft.input.push(asString(fields["partial_json"]) ?? "");
    return;
  }
  if (type === "citations_delta") {
    if (fields["citation"] !== undefined) draft.citations.push(fields["citation"]);
    return;
  }
  for (const [field, value] of Object.entries(fields)) {
    // A signature comes whole, all other texts piece by piece.
    const known = draft.texts.get(field);
    if (typeof value !== "string" || field === "signature") draft.fields.set(field, value);
    else if (known) known.push(value);
    else draft.texts.set(field, [value]);
  }
}

function built({ fields, texts, citations, input }: Draft): JsonObject {
  const block = new Map(fields);
  for (const [field, pieces] of texts) block.set(field, (asString(block.get(field)) ?? "") + pieces.join(""));
  if (citations.length > 0) block.set("citations", [...(asArray(block.get("citations")) ?? []), ...citations]);
  const text = input.join("");
  // A call that was cut off keeps the text of its arguments.
  if (text !== "") block.set("input", asObject(parseJson(text)) ?? text);
  return Object.fromEntries(block);
}
