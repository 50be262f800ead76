/** Answers of the chat-completions API, streamed or in one body. */
import {
  asArray,
  asCount,
  asName,
  asObject,
  asString,
  defined,
  fieldsOf,
  isObject,
  objectsOf,
} from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { Drafts, errorOf } from "../answer.ts";
import type { Answer, AnswerBuilder } from "../shape.ts";
import { chatUsage } from "./usage.ts";
import { chatValue } from "./value.ts";

/** A call while it comes. */
interface CallDraft {
  id: string | undefined;
  readonly kind: "function" | "custom";
  name: string;
  args: string;
  rest: JsonObject;
}

/** Members of a delta that are read one by one. */
const known = new Set(["role", "tool_calls"]);

/** Texts of an object or item that come piece by piece. */
const growing = new Set(["text", "summary", "data", "transcript", "name", "arguments"]);

/** Puts an answer together as its client will send it back; of several choices the first. */
export class ChatAnswer implements AnswerBuilder {
  readonly #texts = new Map<string, string>();
  readonly #details = new Map<string, JsonObject[]>();
  readonly #others = new Map<string, JsonValue>();
  readonly #calls = new Drafts<CallDraft>();
  #whole: JsonObject | undefined;
  #head: JsonObject = {};
  #usage: JsonObject | undefined;
  #stop: string | undefined;
  #error: Answer["error"];
  isEnded = false;

  event(data: JsonObject, name: string): void {
    if ((data["error"] ?? undefined) !== undefined || name === "error") {
      this.#error = errorOf(data, true);
      return;
    }
    this.#take(data);
    for (const choice of objectsOf(data["choices"])) {
      if ((asCount(choice["index"]) ?? 0) !== 0) continue;
      this.#error = errorOf(choice) ?? this.#error;
      this.#counted(choice["usage"]);
      this.#stop = asName(choice["finish_reason"]) ?? this.#stop;
      this.#grow(asObject(choice["delta"]) ?? fieldsOf(choice["message"]));
    }
  }

  done(): void {
    this.isEnded = true;
  }

  body(value: JsonValue): void {
    const body = fieldsOf(value);
    if ((body["error"] ?? undefined) !== undefined) {
      this.#error = errorOf(body);
      return;
    }
    this.#take(body);
    const choices = objectsOf(body["choices"]);
    const choice = choices.find(({ index }) => (asCount(index) ?? 0) === 0);
    if (!choice) return;
    this.#stop = asName(choice["finish_reason"]);
    this.#whole = asObject(choice["message"]);
    this.isEnded = this.#whole !== undefined;
  }

  answer(): Answer {
    return defined({
      message: this.#message(),
      isComplete: this.#error === undefined && (this.#whole !== undefined || this.#stop !== undefined),
      usage: chatUsage(this.#usage),
      model: asName(this.#head["model"]),
      id: asName(this.#head["id"]),
      stop: this.#stop,
      error: this.#error,
    });
  }

  #take(data: JsonObject): void {
    this.#head = { ...this.#head, ...defined({ id: asName(data["id"]), model: asName(data["model"]) }) };
    this.#counted(data["usage"]);
    this.#counted(fieldsOf(data["x_groq"])["usage"]);
  }

  #counted(usage: JsonValue | undefined): void {
    this.#usage = asObject(usage) ?? this.#usage;
  }

  #grow(delta: JsonObject): void {
    for (const call of objectsOf(delta["tool_calls"])) this.#call(call);
    for (const [field, value] of Object.entries(delta)) {
      if (known.has(field) || value === null) continue;
      if (typeof value === "string") this.#texts.set(field, (this.#texts.get(field) ?? "") + value);
      else if (Array.isArray(value)) {
        for (const item of objectsOf(value)) gather(this.#details, field, item);
      } else this.#others.set(field, isObject(value) ? grown(fieldsOf(this.#others.get(field)), value) : value);
    }
  }

  /** Some servers give every call the index 0, or none: a name with another id begins another call. */
  #call(call: JsonObject): void {
    const { index, id: given, type: _, function: called, custom, ...rest } = call;
    const id = asName(given);
    const inner = asObject(called) ?? asObject(custom) ?? {};
    const name = asString(inner["name"]) ?? "";
    let draft = this.#calls.at(index);
    const isOther = id === undefined ? asCount(index) === undefined && draft?.name !== "" : (draft?.id ?? id) !== id;
    if (!draft || (name !== "" && isOther)) {
      draft = { id, kind: asObject(custom) ? "custom" : "function", name: "", args: "", rest: {} };
      this.#calls.begin(index, draft);
    }
    draft.id ??= id;
    if (name !== draft.name) draft.name += name;
    const args = inner["arguments"] ?? inner["input"];
    if (typeof args === "string") draft.args += args;
    else if (asObject(args)) draft.args += JSON.stringify(args);
    draft.rest = { ...draft.rest, ...rest };
  }

  #message(): JsonObject | undefined {
    if (this.#whole) return tidied(this.#whole);
    const fields = Object.fromEntries([...this.#texts].filter(([, text]) => text !== ""));
    const message = { ...fields, ...Object.fromEntries(this.#details), ...Object.fromEntries(this.#others) };
    const calls = this.#calls.all.map(written);
    if (Object.keys(message).length === 0 && calls.length === 0) return undefined;
    const text = asString(fields["content"]);
    const pieces = message["content"];
    const content =
      Array.isArray(pieces) && text !== undefined ? [...pieces, { type: "text", text }] : (pieces ?? null);
    return tidied({ role: "assistant", ...message, content, ...(calls.length > 0 && { tool_calls: calls }) });
  }
}

function written({ id, kind, name, args, rest }: CallDraft): JsonObject {
  const inner = { name, [kind === "custom" ? "input" : "arguments"]: args };
  return { ...(id !== undefined && { id }), type: kind, [kind]: inner, ...rest };
}

/** Adds a piece to the item that it goes on, by its type and index (a text has none), or as one more. */
function gather(details: Map<string, JsonObject[]>, name: string, piece: JsonObject): void {
  const items = details.get(name) ?? [];
  details.set(name, items);
  const last = items.at(-1);
  const isNext = piece["index"] === undefined ? piece["type"] !== "text" : last?.["index"] !== piece["index"];
  if (!last || isNext || last["type"] !== piece["type"]) items.push(piece);
  else items[items.length - 1] = grown(last, piece);
}

/** An object with a piece more: some texts come piece by piece, all else comes whole. */
function grown(before: JsonObject, piece: JsonObject): JsonObject {
  const fields = new Map(Object.entries(before));
  for (const [field, value] of Object.entries(piece)) {
    if (typeof value === "string" && growing.has(field)) {
      fields.set(field, (asString(fields.get(field)) ?? "") + value);
    } else if (value !== null) fields.set(field, value);
  }
  return Object.fromEntries(fields);
}

/** An answer as a message of the API; undefined for what none can be. Answers name what they do not have. */
function tidied(message: JsonObject): JsonObject | undefined {
  const entries = Object.entries(message).filter(
    ([field, value]) => field === "content" || (value !== null && (asArray(value)?.length ?? 1) > 0),
  );
  return chatValue({ ...Object.fromEntries(entries), role: "assistant" });
}
