/** Answers of the Responses API, streamed or in one body. */
import { asName, asString, defined, fieldsOf, objectsOf, without } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { Drafts, errorOf } from "../answer.ts";
import type { Answer, AnswerBuilder } from "../shape.ts";
import { responsesUsage } from "./usage.ts";
import { itemValue, typeOf } from "./value.ts";

/** An output item while it comes. */
interface Draft {
  item: JsonObject;
  isDone: boolean;
  /** Texts that grow: those of a message's blocks by their index, those of a call. */
  readonly texts: Map<JsonValue, string>;
}

/** Events that carry a piece of an item, each with the type of a message's block or the field of a call that it makes. */
const pieces: Readonly<Record<string, string>> = {
  "response.output_text.delta": "output_text",
  "response.refusal.delta": "refusal",
  "response.function_call_arguments.delta": "arguments",
  "response.custom_tool_call_input.delta": "input",
};

/** Statuses of a response that has not come to an end of its own. */
const unended: ReadonlySet<unknown> = new Set(["failed", "queued", "in_progress"]);

/** Puts an answer together as its client will send it back, item by item. */
export class ResponsesAnswer implements AnswerBuilder {
  readonly #isStored: boolean;
  #drafts = new Drafts<Draft>();
  #head: JsonObject = {};
  #error: Answer["error"];
  isEnded = false;

  /** @param isStored - whether the provider keeps the answer, so that reasoning that is not sealed may come back */
  constructor(isStored: boolean) {
    this.#isStored = isStored;
  }

  event(data: JsonObject, name: string): void {
    const type = asString(data["type"]) ?? name;
    const index = data["output_index"];
    switch (type) {
      case "response.created":
      case "response.in_progress":
        this.#head = fieldsOf(data["response"]);
        break;
      case "response.output_item.added":
        this.#begin(index, data["item"], false);
        break;
      case "response.output_item.done": {
        const draft = this.#drafts.at(index);
        if (!draft || draft.isDone) this.#begin(index, data["item"], true);
        else [draft.item, draft.isDone] = [fieldsOf(data["item"]), true];
        break;
      }
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.#end(fieldsOf(data["response"]));
        break;
      case "error":
        this.#error = errorOf(data, true);
        break;
      default: {
        const delta = asString(data["delta"]);
        const draft = this.#drafts.at(index);
        if (pieces[type] !== undefined && delta !== undefined && draft) {
          const place = data["content_index"] ?? 0;
          draft.texts.set(place, (draft.texts.get(place) ?? "") + delta);
        }
      }
    }
  }

  body(value: JsonValue): void {
    const body = fieldsOf(value);
    if (Array.isArray(body["output"])) this.#end(body);
    else this.#error = errorOf(body);
  }

  answer(): Answer {
    const [message, ...others] = this.#drafts.all.flatMap((draft) => this.#built(draft));
    const { usage: counts, incomplete_details: details, status } = this.#head;
    return defined({
      message,
      others: others.length > 0 ? others : undefined,
      isComplete: this.isEnded && this.#error === undefined && !unended.has(status),
      usage: responsesUsage(counts),
      model: asName(this.#head["model"]),
      id: asName(this.#head["id"]),
      stop: asName(fieldsOf(details)["reason"]) ?? asName(status),
      error: this.#error,
    });
  }

  #begin(index: JsonValue | undefined, item: JsonValue | undefined, isDone: boolean): void {
    this.#drafts.begin(index, { item: fieldsOf(item), isDone, texts: new Map() });
  }

  /** Takes the response as it ended. Some servers put its items, or the whole of them, there alone. */
  #end(response: JsonObject): void {
    this.#head = { ...this.#head, ...response };
    const output = objectsOf(response["output"]);
    if (output.length > 0 && (this.#drafts.all.length === 0 || this.#drafts.all.some(({ isDone }) => !isDone))) {
      this.#drafts = new Drafts();
      for (const item of output) this.#begin(undefined, item, true);
    }
    this.#error = errorOf(response) ?? this.#error;
    this.isEnded = true;
  }

  /** The item that a client may send back; none for what it will not. */
  #built(draft: Draft): readonly JsonObject[] {
    const item = draft.isDone ? draft.item : grown(draft);
    const isSealed = asName(item["encrypted_content"]) !== undefined;
    if (typeOf(item) === "reasoning" && !isSealed && !(this.#isStored && draft.isDone)) return [];
    const value = itemValue(typeOf(item) === "message" ? { ...item, role: "assistant" } : item);
    return value ? [value] : [];
  }
}

/** An item that broke off, with the texts that came of it. */
function grown({ item, texts }: Draft): JsonObject {
  const text = [...texts.values()];
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
