/** Answers of the chat-completions API, streamed or in one body. */
import { asArray, asCount, asName, asObject, asString, defined, fieldsOf, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { errorOf } from "../answer.ts";
import type { Answer, AnswerBuilder } from "../shape.ts";
import { normalised } from "../value.ts";
import { chatUsage } from "./usage.ts";

/** A call while it comes. */
interface CallDraft {
  readonly index: number | undefined;
  id: string | undefined;
  readonly kind: "function" | "custom";
  name: string;
  args: string;
  rest: JsonObject;
}

/** Members of a delta that are read one by one. */
const known = new Set(["role", "tool_calls", "function_call"]);

/** Puts an answer together as its client will send it back; of several choices the first. */
export class ChatAnswer implements AnswerBuilder {
  readonly #texts = new Map<string, string>();
  readonly #details = new Map<string, Map<string, JsonValue>[]>();
  readonly #others = new Map<string, JsonValue>();
  readonly #calls: CallDraft[] = [];
  #whole: JsonObject | undefined;
  #head: JsonObject = {};
  #usage: JsonObject | undefined;
  #stop: string | undefined;
  #error: Answer["error"];
  #isDone = false;

  /** A usage chunk may follow the last words, so that these alone do not end a stream. */
  get isComplete(): boolean {
    return this.#error === undefined && (this.#isDone || (this.#stop !== undefined && this.#usage !== undefined));
  }

  event(data: JsonObject, name: string): void {
    if ((data["error"] ?? undefined) !== undefined || name === "error") {
      this.#error = errorOf(data) ?? { type: "error", message: asString(data["message"]) ?? "" };
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
    this.#isDone = this.#stop !== undefined || this.#message() !== undefined;
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
    this.#isDone = this.#whole !== undefined;
  }

  answer(): Answer {
    return defined({
      message: this.#message(),
      isComplete: this.#error === undefined && (this.#isDone || this.#stop !== undefined),
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
      } else this.#others.set(field, value);
    }
    const single = asObject(delta["function_call"]);
    if (single) {
      const before = asObject(this.#others.get("function_call")) ?? {};
      const name = (asString(before["name"]) ?? "") + (asString(single["name"]) ?? "");
      const args = (asString(before["arguments"]) ?? "") + (asString(single["arguments"]) ?? "");
      this.#others.set("function_call", { name, arguments: args });
    }
  }

  /** Some servers give every call the index 0, or none: another id is another call. */
  #call(call: JsonObject): void {
    const index = asCount(call["index"]);
    const id = asName(call["id"]);
    const same = (draft: CallDraft): boolean => index === undefined || draft.index === index;
    const last = this.#calls.findLast(same);
    let draft = last && (id === undefined || last.id === undefined || last.id === id) ? last : undefined;
    if (!draft) {
      const kind = asObject(call["custom"]) ? "custom" : "function";
      draft = { index, id, kind, name: "", args: "", rest: {} };
      this.#calls.push(draft);
    }
    draft.id ??= id;
    const { index: _, id: __, type: ___, function: called, custom, ...rest } = call;
    const inner = asObject(called) ?? asObject(custom) ?? {};
    const name = asString(inner["name"]) ?? "";
    if (name !== draft.name) draft.name += name;
    const args = inner["arguments"] ?? inner["input"];
    if (typeof args === "string") draft.args += args;
    else if (asObject(args)) draft.args += JSON.stringify(args);
    draft.rest = { ...draft.rest, ...rest };
  }

  #message(): JsonObject | undefined {
    if (this.#whole) return tidied(this.#whole);
    const fields = Object.fromEntries([...this.#texts].filter(([, text]) => text !== ""));
    const details = [...this.#details].map(
      ([field, items]) => [field, items.map((item) => Object.fromEntries(item))] as const,
    );
    const message = { ...fields, ...Object.fromEntries(details), ...Object.fromEntries(this.#others) };
    if (Object.keys(message).length === 0 && this.#calls.length === 0) return undefined;
    const calls = this.#calls.map(written);
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
function gather(details: Map<string, Map<string, JsonValue>[]>, name: string, piece: JsonObject): void {
  const items = details.get(name) ?? [];
  details.set(name, items);
  const last = items.at(-1);
  const { index, type } = piece;
  const isNext = index === undefined ? type !== "text" : last?.get("index") !== index;
  if (!last || isNext || last.get("type") !== type) {
    items.push(new Map(Object.entries(piece)));
    return;
  }
  for (const [field, value] of Object.entries(piece)) {
    const grows = ["text", "summary", "data"].includes(field) && typeof value === "string";
    if (grows) last.set(field, (asString(last.get(field)) ?? "") + value);
    else if (value !== null) last.set(field, value);
  }
}

/** Answers name what they do not have, which clients leave out. */
function tidied(message: JsonObject): JsonObject {
  const entries = Object.entries(message).filter(
    ([field, value]) => field === "content" || (value !== null && (asArray(value)?.length ?? 1) > 0),
  );
  return normalised({ role: "assistant", ...Object.fromEntries(entries) });
}
