/** The recall loop on the chat-completions API. */
import { asCount, asObject, asString, fieldsOf, objectsOf, parseJson, without } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { spokenChat } from "../../shape/openai-chat/value.ts";
import type { StreamEvent } from "../wire/events.ts";
import { saidTurn } from "./said.ts";
import { eventText, toolName } from "./shape.ts";
import type { MergedStream, RecallShape, SaidTurn } from "./shape.ts";
import { asksForJson, declaration } from "./tool.ts";

function isRecall(call: JsonObject): boolean {
  return fieldsOf(call["function"])["name"] === toolName;
}

function said(messages: readonly JsonObject[]): SaidTurn {
  const spoken = messages.filter(({ role }) => role === "assistant").map(spokenChat);
  const calls = spoken.flatMap((one) => one.calls).filter((call) => (call as readonly JsonValue[])[1] !== toolName);
  const ids = calls.flatMap((call) => asString((call as readonly JsonValue[])[0]) ?? []);
  return saidTurn({ text: spoken.map(({ text }) => text).join(""), calls }, ids, []);
}

/** Counts of several rounds: output is summed, input is that of the last one. */
function summed(usages: readonly JsonObject[]): JsonObject {
  const last = usages.at(-1) ?? {};
  const output = usages.reduce((sum, usage) => sum + (asCount(usage["completion_tokens"]) ?? 0), 0);
  const total = (asCount(last["prompt_tokens"]) ?? 0) + output;
  return { ...last, completion_tokens: output, total_tokens: total };
}

function stopOf(stop: JsonValue | undefined, hasOthers: boolean): JsonValue | undefined {
  return stop === "tool_calls" && !hasOthers ? "stop" : stop;
}

/** The place of a call in the client's stream: held while its name is not known, or hidden. */
type Place = number | "hidden";

/** The stream of several rounds as one. */
class ChatStream implements MergedStream {
  readonly #places = new Map<JsonValue | undefined, Place>();
  #next = 0;
  #rounds = 1;
  #head: JsonObject | undefined;
  #end: JsonObject | undefined;
  #tail: JsonObject | undefined;
  readonly #usages: JsonObject[] = [];
  #hasDone = false;

  event({ name, data }: StreamEvent): string {
    if (data.trim() === "[DONE]") {
      this.#hasDone = true;
      return "";
    }
    const event = asObject(parseJson(data));
    if (!event || (event["error"] ?? null) !== null || !Array.isArray(event["choices"])) return eventText(name, data);
    const isFirst = this.#head === undefined;
    const { id, created } = event;
    this.#head ??= { ...(id !== undefined && { id }), ...(created !== undefined && { created }) };
    const usage = asObject(event["usage"]);
    if (usage) {
      this.#tail = event;
      this.#usages[this.#rounds - 1] = usage;
    }
    const [choice] = objectsOf(event["choices"]);
    if (!choice) return usage ? "" : this.#shown(name, data, event, false);
    const delta = fieldsOf(choice["delta"]);
    const isEnd = (choice["finish_reason"] ?? null) !== null;
    if (isEnd) this.#end = event;
    const calls = objectsOf(delta["tool_calls"]);
    const shown = calls.flatMap((call) => this.#placed(call));
    const isSame = !isEnd && !usage && shown.length === calls.length && shown.every((call, at) => call === calls[at]);
    if (isSame && (isFirst || this.#rounds === 1)) return eventText(name, data);
    const dropped = ["tool_calls", ...(this.#rounds > 1 ? ["role"] : [])];
    const rest: JsonObject = { ...without(delta, ...dropped), ...(shown.length > 0 && { tool_calls: shown }) };
    if (!isFirst && Object.values(rest).every((value) => value === null || value === "")) return "";
    const open = without({ ...event, choices: [{ ...choice, delta: rest, finish_reason: null }] }, "usage");
    return this.#shown(name, data, open, true);
  }

  next(): void {
    this.#end = undefined;
    this.#places.clear();
    this.#rounds++;
  }

  finish(hasOthers: boolean): string {
    const end = this.#end ?? { ...this.#head, object: "chat.completion.chunk", choices: [{ index: 0 }] };
    const [choice = {}] = objectsOf(end["choices"]);
    const stop = stopOf(choice["finish_reason"], hasOthers) ?? "stop";
    const usage = this.#usages.length > 0 ? summed(this.#usages.filter(asObject)) : undefined;
    const isTogether = this.#tail === end && usage !== undefined;
    const last = { ...without(end, "usage"), ...this.#head, choices: [{ ...choice, delta: {}, finish_reason: stop }] };
    const tail = this.#tail && usage ? { ...this.#tail, ...this.#head, choices: [], usage } : undefined;
    return [
      eventText("", isTogether ? { ...last, usage } : last),
      ...(tail && !isTogether ? [eventText("", tail)] : []),
      ...(this.#hasDone ? [eventText("", "[DONE]")] : []),
    ].join("");
  }

  fault(message: string): string {
    return eventText("", { error: { message, type: "server_error", param: null, code: null } });
  }

  #shown(name: string, data: string, event: JsonObject, isChanged: boolean): string {
    if (this.#rounds === 1 && !isChanged) return eventText(name, data);
    return eventText(name, { ...event, ...this.#head });
  }

  /** A call's piece at its place for the client; none of a recall. A server without indexes is told by ids. */
  #placed(call: JsonObject): readonly JsonObject[] {
    const { index } = call;
    const name = fieldsOf(call["function"] ?? call["custom"])["name"];
    const isNew = asString(call["id"]) !== undefined && asString(name) !== undefined && name !== "";
    if (isNew || !this.#places.has(index)) this.#places.set(index, isRecall(call) ? "hidden" : this.#next++);
    const place = this.#places.get(index);
    if (place === "hidden") return [];
    return [place === index || index === undefined ? call : { ...call, index: place ?? index }];
  }
}

/** Recall in the chat-completions API. */
export const chatRecall: RecallShape = {
  tool: {
    type: "function",
    function: { name: toolName, description: declaration.description, parameters: declaration.schema },
  },
  ping: ": ping\n\n",
  needsTools: false,
  mayBegin: (fields) => fields["store"] !== true && !asksForJson(fields["response_format"]),
  turns: (messages) =>
    messages.flatMap(({ value }, from) =>
      value["role"] === "assistant" ? [{ ...said([value]), from, to: from + 1 }] : [],
    ),
  said,
  answered(messages, stop) {
    const isWhole = stop !== "length" && stop !== "content_filter";
    const kept = messages.map((message) => {
      const calls = objectsOf(message["tool_calls"]);
      const left = isWhole ? calls : calls.filter((call) => !isRecall(call));
      if (left.length === calls.length) return message;
      return { ...without(message, "tool_calls"), ...(left.length > 0 && { tool_calls: left }) };
    });
    const calls = kept.flatMap((message) => objectsOf(message["tool_calls"]));
    const recalls = calls
      .filter(isRecall)
      .map((call) => ({ id: asString(call["id"]) ?? "", args: fieldsOf(call["function"])["arguments"] }));
    return { messages: kept, recalls, hasOthers: recalls.length < calls.length };
  },
  results: (results) => results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text })),
  placed: (results) => ({ messages: results.map((made) => ({ made })), isNextIn: false }),
  marked: (messages) => messages,
  stream: () => new ChatStream(),
  merged(bodies, hasOthers) {
    const [first = {}] = bodies;
    const last = bodies.at(-1) ?? {};
    const choices = bodies.map((body) => objectsOf(body["choices"])[0] ?? {});
    const messages = choices.map((choice) => fieldsOf(choice["message"]));
    const calls = messages.flatMap((message) => objectsOf(message["tool_calls"])).filter((call) => !isRecall(call));
    const text = messages.map(({ content }) => asString(content) ?? "").join("");
    const final = choices.at(-1) ?? {};
    const message = {
      ...without(messages.at(-1) ?? {}, "tool_calls"),
      content: text === "" ? null : text,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const usages = objectsOf(bodies.map((body) => body["usage"] ?? null));
    return {
      ...last,
      ...(first["id"] !== undefined && { id: first["id"] }),
      choices: [{ ...final, message, finish_reason: stopOf(final["finish_reason"], hasOthers) ?? null }],
      ...(usages.length > 0 && { usage: summed(usages) }),
    };
  },
};
