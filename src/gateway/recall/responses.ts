/** The recall loop on the Responses API. */
import { asCount, asObject, asString, fieldsOf, isObject, objectsOf, parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { WireMessage } from "../gateway.ts";
import type { StreamEvent } from "../wire/events.ts";
import { saidTurn } from "./said.ts";
import { eventText, toolName } from "./shape.ts";
import type { MergedStream, RecallShape, SaidTurn, SentTurn } from "./shape.ts";
import { asksForJson, declaration } from "./tool.ts";

const ends: ReadonlySet<JsonValue | undefined> = new Set(["response.completed", "response.incomplete"]);

function isRecall(item: JsonObject): boolean {
  return item["type"] === "function_call" && item["name"] === toolName;
}

function isCall({ type }: JsonObject): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

/** Whether an item is one that a model wrote. */
function isAnswer(item: JsonObject): boolean {
  const { type } = item;
  if (type === undefined || type === "message") return item["role"] === "assistant";
  return type === "reasoning" || (typeof type === "string" && type.endsWith("_call"));
}

function textOf({ content }: JsonObject): string {
  if (typeof content === "string") return content;
  return objectsOf(content)
    .map(({ text, refusal }) => asString(text) ?? asString(refusal) ?? "")
    .join("");
}

/** Arguments are compared as values: clients write them anew. */
function calledWith(item: JsonObject): JsonValue {
  const args = asString(item["arguments"]);
  return [
    item["call_id"] ?? null,
    item["name"] ?? null,
    (args === undefined ? item["input"] : parseJson(args)) ?? null,
  ];
}

function said(messages: readonly JsonObject[]): SaidTurn {
  const items = messages.filter((item) => isAnswer(item) && !isRecall(item));
  const calls = items.filter(isCall);
  const seals = items
    .filter(({ type }) => type === "reasoning")
    .flatMap((item) => asString(item["encrypted_content"]) ?? []);
  const text = items.filter((item) => !isCall(item) && item["type"] !== "reasoning").map(textOf);
  const ids = calls.flatMap((item) => asString(item["call_id"]) ?? []);
  return saidTurn({ text: text.join(""), calls: calls.map(calledWith) }, ids, seals);
}

function turns(messages: readonly WireMessage[]): readonly SentTurn[] {
  const found: SentTurn[] = [];
  for (let from = 0; from < messages.length; from++) {
    let to = from;
    for (let item = messages[to]; item && isAnswer(item.value); item = messages[to]) to++;
    if (to === from) continue;
    found.push({ ...said(messages.slice(from, to).map(({ value }) => value)), from, to });
    from = to - 1;
  }
  return found;
}

/** Counts of several rounds: output is summed, input is that of the last one. */
function summed(usages: readonly JsonObject[]): JsonObject {
  const last = usages.at(-1) ?? {};
  const sum = (value: (usage: JsonObject) => JsonValue | undefined): number =>
    usages.reduce((total, usage) => total + (asCount(value(usage)) ?? 0), 0);
  const output = sum((usage) => usage["output_tokens"]);
  const details = asObject(last["output_tokens_details"]);
  const reasoning = sum((usage) => fieldsOf(usage["output_tokens_details"])["reasoning_tokens"]);
  return {
    ...last,
    output_tokens: output,
    ...(details && { output_tokens_details: { ...details, reasoning_tokens: reasoning } }),
    total_tokens: (asCount(last["input_tokens"]) ?? 0) + output,
  };
}

function merged(bodies: readonly JsonObject[]): JsonObject {
  const [first = {}] = bodies;
  const last = bodies.at(-1) ?? {};
  const usages = objectsOf(bodies.map((body) => body["usage"] ?? null));
  return {
    ...last,
    ...(first["id"] !== undefined && { id: first["id"] }),
    ...(first["created_at"] !== undefined && { created_at: first["created_at"] }),
    output: bodies.flatMap((body) => objectsOf(body["output"])).filter((item) => !isRecall(item)),
    ...(usages.length > 0 && { usage: summed(usages) }),
  };
}

/** The stream of several rounds as one. */
class ResponsesStream implements MergedStream {
  readonly #places = new Map<JsonValue | undefined, number>();
  #next = 0;
  #sequence = 0;
  #rounds = 1;
  #id: JsonValue | undefined;
  readonly #ends: JsonObject[] = [];

  event({ name, data }: StreamEvent): string {
    const event = asObject(parseJson(data));
    if (!event) return eventText(name, data);
    const { type, output_index: index } = event;
    if (ends.has(type)) {
      this.#ends[this.#rounds - 1] = event;
      return "";
    }
    const isHead = type === "response.created" || type === "response.in_progress" || type === "response.queued";
    if (isHead && this.#rounds > 1) return "";
    this.#id ??= fieldsOf(event["response"])["id"];
    if (index === undefined) return this.#numbered(name, data, event);
    if (type === "response.output_item.added" && !this.#places.has(index)) {
      if (isRecall(fieldsOf(event["item"]))) return "";
      this.#places.set(index, this.#next++);
    }
    // Some servers send whole items alone.
    if (type === "response.output_item.done" && !this.#places.has(index) && !isRecall(fieldsOf(event["item"])))
      this.#places.set(index, this.#next++);
    const place = this.#places.get(index);
    return place === undefined ? "" : this.#numbered(name, data, event, place);
  }

  next(): void {
    this.#places.clear();
    this.#rounds++;
  }

  finish(): string {
    const end = this.#ends.at(-1) ?? { type: "response.completed" };
    const response = merged(objectsOf(this.#ends.map((event) => event["response"] ?? null)));
    return eventText(asString(end["type"]) ?? "", { ...end, response, sequence_number: this.#sequence++ });
  }

  fault(message: string): string {
    const error = { type: "error", code: "server_error", message, param: null };
    return eventText("error", { ...error, sequence_number: this.#sequence++ });
  }

  #numbered(name: string, data: string, event: JsonObject, place?: number): string {
    const sequence = this.#sequence++;
    const { output_index: index, sequence_number: number, response } = event;
    const isFirst = this.#rounds === 1 || !isObject(response);
    const isSame = (place === undefined || place === index) && (number === undefined || number === sequence) && isFirst;
    if (isSame) return eventText(name, data);
    const changed: { [field: string]: JsonValue } = { ...event };
    if (place !== undefined) changed["output_index"] = place;
    if (number !== undefined) changed["sequence_number"] = sequence;
    if (!isFirst && isObject(response) && this.#id !== undefined) changed["response"] = { ...response, id: this.#id };
    return eventText(name, changed);
  }
}

/** Recall in the Responses API. */
export const responsesRecall: RecallShape = {
  tool: {
    type: "function",
    name: toolName,
    description: declaration.description,
    strict: false,
    parameters: declaration.schema,
  },
  ping: ": ping\n\n",
  needsTools: false,
  // What the provider keeps of an answer, it keeps without what the client never saw.
  mayBegin: (fields) => fields["store"] === false && !asksForJson(fieldsOf(fields["text"])["format"]),
  turns,
  said,
  answered(messages, stop) {
    const isWhole = stop === undefined || stop === "completed";
    const kept = isWhole ? messages : messages.filter((item) => !isRecall(item));
    const calls = kept.filter(isCall);
    const recalls = calls
      .filter(isRecall)
      .map((item) => ({ id: asString(item["call_id"]) ?? "", args: item["arguments"] }));
    return { messages: kept, recalls, hasOthers: recalls.length < calls.length };
  },
  results: (results) => results.map(({ id, text }) => ({ type: "function_call_output", call_id: id, output: text })),
  placed: (results) => ({ messages: results.map((made) => ({ made })), isNextIn: false }),
  marked: (messages) => messages,
  stream: () => new ResponsesStream(),
  merged,
};
