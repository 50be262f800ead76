/** The recall loop on the Messages API. */
import { asArray, asObject, asString, fieldsOf, isObject, objectsOf, parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { WireMessage, Written } from "../gateway.ts";
import { spokenBlocks } from "../../shape/anthropic/value.ts";
import type { StreamEvent } from "../wire/events.ts";
import { hashJson } from "../wire/hash.ts";
import { bodyRanges } from "../wire/json-ranges.ts";
import { normalised } from "../../shape/value.ts";
import { saidTurn } from "./said.ts";
import { eventText, toolName } from "./shape.ts";
import type { MergedStream, RecallShape, SaidTurn } from "./shape.ts";
import { asksForJson, declaration } from "./tool.ts";

/** Counts of input, those of the newest round. */
const inputs = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation"];

function isRecall(block: JsonObject): boolean {
  return block["type"] === "tool_use" && block["name"] === toolName;
}

function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);
}

function said(messages: readonly JsonObject[]): SaidTurn {
  const answers = messages.filter(({ role }) => role === "assistant");
  const spoken = answers.map(spokenBlocks);
  const calls = spoken.flatMap((one) => one.calls).filter((call) => (call as readonly JsonValue[])[1] !== toolName);
  const ids = calls.flatMap((call) => asString((call as readonly JsonValue[])[0]) ?? []);
  const seals = answers.flatMap((answer) =>
    blocksOf(answer)
      .filter(({ type }) => type === "thinking" || type === "redacted_thinking")
      .flatMap(({ signature, data }) => asString(signature) ?? asString(data) ?? []),
  );
  return saidTurn({ text: spoken.map(({ text }) => text).join(""), calls }, ids, seals);
}

/** The results before the content of the client's next message, which keeps its own bytes. */
function placed(
  results: readonly JsonObject[],
  next: WireMessage | undefined,
): { readonly messages: readonly Written[]; readonly isNextIn: boolean } {
  const own = { messages: [{ made: { role: "user", content: results } }], isNextIn: false };
  if (next?.value["role"] !== "user") return own;
  const ranges = bodyRanges(next.raw, "content");
  const content = ranges?.members.get("content");
  if (!ranges || !content) return own;
  const { raw } = next;
  const given = JSON.stringify(results).slice(1, -1);
  const { list } = ranges;
  const inside = list
    ? raw.subarray(list.start, list.end)
    : Buffer.concat([
        Buffer.from('{"type":"text","text":'),
        raw.subarray(content.start, content.end),
        Buffer.from("}"),
      ]);
  const comma = ranges.elements.length > 0 || !list ? "," : "";
  const bytes = Buffer.concat([
    ...[raw.subarray(0, content.start), Buffer.from(`[${given}${comma}`), inside],
    ...[Buffer.from("]"), raw.subarray(content.end)],
  ]);
  const value = normalised(fieldsOf(parseJson(bytes.toString())));
  return { messages: [{ raw: bytes, value, hash: hashJson(value) }], isNextIn: true };
}

/** The marks of a client's blocks on the same blocks of the true messages. */
function marked(messages: readonly JsonObject[], sent: readonly WireMessage[]): readonly JsonObject[] {
  const [message] = sent;
  if (!message?.raw.includes('"cache_control"')) return messages;
  const client = blocksOf(fieldsOf(parseJson(message.raw.toString())));
  const marks = client.map((block) => block["cache_control"]);
  let place = 0;
  return messages.map((one) => {
    if (one["role"] !== "assistant") return one;
    let isMarked = false;
    const blocks = blocksOf(one).map((block) => {
      if (isRecall(block)) return block;
      const mark = marks[place++];
      if (mark === undefined || client[place - 1]?.["type"] !== block["type"]) return block;
      isMarked = true;
      return { ...block, cache_control: mark };
    });
    return isMarked ? { ...one, content: blocks } : one;
  });
}

/** The stream of several rounds as one message. */
class AnthropicStream implements MergedStream {
  readonly #places = new Map<JsonValue | undefined, number>();
  #next = 0;
  #rounds = 1;
  #isBegun = false;
  #before = 0;
  #input: JsonObject = {};
  #delta: JsonObject | undefined;

  event({ name, data }: StreamEvent): string {
    const event = asObject(parseJson(data));
    if (!event) return eventText(name, data);
    const { index } = event;
    switch (event["type"]) {
      case "message_start": {
        this.#count(fieldsOf(event["message"])["usage"]);
        if (this.#isBegun) return "";
        this.#isBegun = true;
        return eventText(name, data);
      }
      case "content_block_start":
        if (isRecall(fieldsOf(event["content_block"]))) return "";
        this.#places.set(index, this.#next++);
        return this.#placed(name, data, event);
      case "content_block_delta":
      case "content_block_stop":
        return this.#placed(name, data, event);
      case "message_delta":
        this.#count(event["usage"]);
        this.#delta = { ...this.#delta, ...event };
        return "";
      case "message_stop":
        return "";
      default:
        return eventText(name, data);
    }
  }

  next(): void {
    this.#before += outputOf(this.#delta);
    this.#delta = undefined;
    this.#places.clear();
    this.#rounds++;
  }

  finish(hasOthers: boolean): string {
    const event: JsonObject = this.#delta ?? { type: "message_delta", delta: {} };
    const delta = fieldsOf(event["delta"]);
    const usage = {
      ...fieldsOf(event["usage"]),
      ...(this.#rounds > 1 && { ...this.#input, output_tokens: this.#before + outputOf(event) }),
    };
    const stop = stopOf(delta["stop_reason"], hasOthers);
    const end = { ...event, delta: { ...delta, ...(stop !== undefined && { stop_reason: stop }) }, usage };
    return eventText("message_delta", end) + eventText("message_stop", { type: "message_stop" });
  }

  fault(message: string): string {
    return eventText("error", { type: "error", error: { type: "api_error", message } });
  }

  #placed(name: string, data: string, event: JsonObject): string {
    const place = this.#places.get(event["index"]);
    if (place === undefined) return "";
    return eventText(name, place === event["index"] ? data : { ...event, index: place });
  }

  #count(usage: JsonValue | undefined): void {
    const counts = fieldsOf(usage);
    const found = inputs.filter((name) => (counts[name] ?? null) !== null).map((name) => [name, counts[name] ?? null]);
    this.#input = { ...this.#input, ...(Object.fromEntries(found) as JsonObject) };
  }
}

function outputOf(event: JsonObject | undefined): number {
  return Number(fieldsOf(event?.["usage"])["output_tokens"] ?? 0);
}

function stopOf(stop: JsonValue | undefined, hasOthers: boolean): JsonValue | undefined {
  return stop === "tool_use" && !hasOthers ? "end_turn" : stop;
}

/** Recall in the Messages API. */
export const anthropicRecall: RecallShape = {
  tool: { name: toolName, description: declaration.description, input_schema: declaration.schema },
  ping: eventText("ping", { type: "ping" }),
  needsTools: true,
  mayBegin: (fields) =>
    !asksForJson(fieldsOf(fields["output_config"])["format"]) && !asksForJson(fields["output_format"]),
  turns: (messages) =>
    messages.flatMap(({ value }, from) =>
      value["role"] === "assistant" ? [{ ...said([value]), from, to: from + 1 }] : [],
    ),
  said,
  answered(messages, stop) {
    const isWhole = stop === "tool_use";
    const kept = messages.map((message) => {
      const blocks = asArray(message["content"]);
      if (!blocks) return message;
      const left = blocks.filter((block) => {
        if (!isObject(block)) return false;
        if (block["type"] === "text") return block["text"] !== "";
        return !isRecall(block) || (isWhole && isObject(block["input"]));
      });
      return left.length === blocks.length ? message : normalised({ ...message, content: left });
    });
    const calls = kept.flatMap(blocksOf).filter(({ type }) => type === "tool_use");
    const recalls = calls.filter(isRecall).map(({ id, input }) => ({ id: asString(id) ?? "", args: input }));
    return { messages: kept, recalls, hasOthers: recalls.length < calls.length };
  },
  results: (results) => [
    {
      role: "user",
      content: results.map(({ id, text, isError }) => ({
        ...{ type: "tool_result", tool_use_id: id, content: text },
        ...(isError && { is_error: true }),
      })),
    },
  ],
  placed: (results, next) => placed(results.flatMap(blocksOf), next),
  marked,
  stream: () => new AnthropicStream(),
  merged(bodies, hasOthers) {
    const [first = {}] = bodies;
    const last = bodies.at(-1) ?? {};
    const stop = stopOf(last["stop_reason"], hasOthers);
    const output = bodies.reduce((sum, body) => sum + outputOf(body), 0);
    return {
      ...last,
      ...(first["id"] !== undefined && { id: first["id"] }),
      content: bodies.flatMap(blocksOf).filter((block) => !isRecall(block)),
      ...(stop !== undefined && { stop_reason: stop }),
      usage: { ...fieldsOf(last["usage"]), output_tokens: output },
    };
  },
};
