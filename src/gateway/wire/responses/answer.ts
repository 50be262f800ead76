/** Answers of the Responses API, streamed or in one body. */
import { asCount, asName, asString, defined, fieldsOf, objectsOf, without } from "../../../message/json.ts";
import type { JsonObject, JsonValue, Usage } from "../../../message/message.ts";
import { usage } from "../../../message/parts.ts";
import type { WireAnswer } from "../../gateway.ts";
import { errorOf } from "../answer.ts";
import type { AnswerBuilder } from "../answer.ts";
import { itemValue, typeOf } from "./value.ts";

/** An output item while it comes. */
interface Draft {
  item: JsonObject;
  isDone: boolean;
  /** Texts that grow: those of a message's blocks by their index, those of a call. */
  readonly texts: Map<number, string[]>;
}

/** Most items of an answer; a greater index is no item. */
const mostItems = 10_000;

/** Events that carry a piece of an item, each with the type of a message's block or the field of a call that it makes. */
const pieces: Readonly<Record<string, string>> = {
  "response.output_text.delta": "output_text",
  "response.refusal.delta": "refusal",
  "response.function_call_arguments.delta": "arguments",
  "response.custom_tool_call_input.delta": "input",
};

/** Puts an answer together as its client will send it back, item by item. */
export class ResponsesAnswer implements AnswerBuilder {
  readonly #isStored: boolean;
  readonly #drafts = new Map<number, Draft>();
  #head: JsonObject = {};
  #error: WireAnswer["error"];
  isComplete = false;

  /** @param isStored - whether the provider keeps the answer, so that reasoning that is not sealed may come back */
  constructor(isStored: boolean) {
    this.#isStored = isStored;
  }

  event(data: JsonObject, name: string): void {
    const type = asString(data["type"]) ?? name;
    const index = indexOf(data["output_index"]);
    switch (type) {
      case "response.created":
      case "response.in_progress":
        this.#head = fieldsOf(data["response"]);
        break;
      case "response.output_item.added":
        this.#put(index, data["item"], false);
        break;
      case "response.output_item.done":
        this.#put(index ?? this.#drafts.size, data["item"], true);
        break;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.#end(fieldsOf(data["response"]));
        break;
      case "error":
        this.#error = errorOf(data) ?? {
          type: asName(data["code"]) ?? "error",
          message: asString(data["message"]) ?? "",
        };
        break;
      default: {
        const delta = asString(data["delta"]);
        const draft = index === undefined ? undefined : this.#drafts.get(index);
        if (pieces[type] !== undefined && delta !== undefined && draft) {
          const place = indexOf(data["content_index"]) ?? 0;
          const texts = draft.texts.get(place);
          if (texts) texts.push(delta);
          else draft.texts.set(place, [delta]);
        }
      }
    }
  }

  body(value: JsonValue): void {
    const body = fieldsOf(value);
    if (Array.isArray(body["output"])) this.#end(body);
    else this.#error = errorOf(body);
  }

  answer(): WireAnswer {
    const ordered = [...this.#drafts].toSorted(([left], [right]) => left - right);
    const [message, ...others] = ordered.flatMap(([, draft]) => this.#built(draft));
    const { usage: counts, incomplete_details: details, status } = this.#head;
    return defined({
      message,
      others: others.length > 0 ? others : undefined,
      isComplete: this.isComplete,
      usage: usageOf(counts),
      model: asName(this.#head["model"]),
      id: asName(this.#head["id"]),
      stop: asName(fieldsOf(details)["reason"]) ?? asName(status),
      error: this.#error,
    });
  }

  #put(index: number | undefined, value: JsonValue | undefined, isDone: boolean): void {
    const item = fieldsOf(value);
    if (index === undefined || typeOf(item) === undefined) return;
    this.#drafts.set(index, { item, isDone, texts: new Map() });
  }

  /** Takes the response as it ended. Some servers put its items there alone. */
  #end(response: JsonObject): void {
    this.#head = { ...this.#head, ...response };
    const output = objectsOf(response["output"]);
    if (this.#drafts.size === 0) for (const [index, item] of output.entries()) this.#put(index, item, true);
    this.#error = errorOf(response) ?? this.#error;
    const { status } = response;
    this.isComplete =
      this.#error === undefined && status !== "failed" && status !== "queued" && status !== "in_progress";
  }

  /** The item that a client may send back; none for what it will not. */
  #built(draft: Draft): readonly JsonObject[] {
    const item = draft.isDone ? draft.item : grown(draft);
    const isSealed = asName(item["encrypted_content"]) !== undefined;
    if (typeOf(item) === "reasoning" && !isSealed && !(this.#isStored && draft.isDone)) return [];
    const value = itemValue(item);
    return value ? [value] : [];
  }
}

/** An item that broke off, with the texts that came of it. */
function grown({ item, texts }: Draft): JsonObject {
  const text = [...texts].toSorted(([left], [right]) => left - right).map(([, some]) => some.join(""));
  switch (typeOf(item)) {
    case "message": {
      const content = text.map((one): JsonObject => ({ type: "output_text", text: one }));
      return { ...item, content };
    }
    case "function_call":
      return { ...item, arguments: text.join("") };
    case "custom_tool_call":
      return { ...item, input: text.join("") };
    default:
      return without(item);
  }
}

function indexOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < mostItems ? value : undefined;
}

/** The usage of a response. `input_tokens` includes what was read from the cache. */
function usageOf(value: JsonValue | undefined): Usage | undefined {
  const counts = fieldsOf(value);
  const input = fieldsOf(counts["input_tokens_details"]);
  return usage({
    input: asCount(counts["input_tokens"]),
    output: asCount(counts["output_tokens"]),
    cacheRead: asCount(input["cached_tokens"]),
    cacheWrite: asCount(input["cache_write_tokens"]),
    reasoning: asCount(fieldsOf(counts["output_tokens_details"])["reasoning_tokens"]),
  });
}
