/** The requests of five APIs as one list of blocks, which every check of the fake works on. */
import { canonical, list, object, text } from "./json.ts";
import type { Json } from "./json.ts";

export type Api = "anthropic" | "responses" | "chat" | "gemini" | "ollama";

/** One block of one message. */
export interface Block {
  /** Index of its message. */
  readonly message: number;
  readonly role: string;
  readonly kind: "text" | "call" | "result" | "thinking" | "other";
  /** The id that a call and its result share. */
  readonly id?: string;
  readonly text: string;
  /** Its value in one form, with the role of its message. */
  readonly value: string;
  readonly isMarked: boolean;
  readonly signature?: string;
}

export interface Reading {
  readonly api: Api;
  readonly body: Json;
  readonly model: string;
  readonly isStream: boolean;
  readonly hasTools: boolean;
  /** Values that a conversation must not change, in one form. */
  readonly tools: string;
  readonly system: string;
  /** Marks of the cache outside of messages, and whether the last of them is at the end of system. */
  readonly marksBefore: number;
  readonly blocks: readonly Block[];
  /** The schema of the answer, where one is asked for: a title, a route. */
  readonly schema?: Json;
  /** Whether the client asks for a summary of the history, in words or by an item. */
  readonly compaction?: "prompt" | "item";
}

const compactionPrompt =
  /^(CRITICAL: Respond with TEXT ONLY|You are performing a CONTEXT CHECKPOINT COMPACTION|Here is the conversation so far)/m;

export function read(api: Api, body: Json): Reading {
  const inner = api === "gemini" ? object(body["request"] ?? body) : body;
  const blocks = readers[api](inner);
  const tools = list(inner["tools"]);
  const system = systemOf(api, inner);
  const last = blocks.findLast(({ role, kind }) => role === "user" && kind === "text");
  const lastItem = list(inner["input"]).at(-1);
  const schema = schemaOf(api, inner);
  const compaction =
    lastItem?.["type"] === "compaction_trigger"
      ? "item"
      : last !== undefined && compactionPrompt.test(last.text)
        ? "prompt"
        : undefined;
  return {
    api,
    body: inner,
    model: text(inner["model"]) || "gemini",
    isStream: api === "ollama" ? inner["stream"] !== false : inner["stream"] === true,
    hasTools: tools.length > 0,
    tools: canonical(inner["tools"] ?? []),
    system: canonical(system),
    marksBefore: [...tools, ...list(inner["system"])].filter(({ cache_control }) => cache_control !== undefined).length,
    blocks,
    ...(schema && { schema }),
    ...(compaction && { compaction }),
  };
}

/** System as the provider compares it: a billing header in its place is taken away first. */
function systemOf(api: Api, body: Json): unknown {
  if (api === "gemini") return body["systemInstruction"] ?? body["system_instruction"] ?? "";
  if (api === "responses") return body["instructions"] ?? "";
  if (api !== "anthropic")
    return list(body["messages"]).filter(({ role }) => role === "system" || role === "developer");
  const { system } = body;
  if (typeof system === "string") return [{ type: "text", text: system }];
  return list(system).filter(
    (block, index) => !(index === 0 && text(block["text"]).startsWith("x-anthropic-billing-header")),
  );
}

function schemaOf(api: Api, body: Json): Json | undefined {
  if (api === "gemini") {
    const { responseMimeType, responseJsonSchema, responseSchema } = object(body["generationConfig"]);
    return responseMimeType === "application/json" ? object(responseJsonSchema ?? responseSchema) : undefined;
  }
  if (api === "ollama") return body["format"] === undefined ? undefined : object(body["format"]);
  const format = object(
    {
      anthropic: object(body["output_config"])["format"],
      responses: object(body["text"])["format"],
      chat: body["response_format"],
    }[api],
  );
  if (format["type"] !== "json_schema") return undefined;
  return object(format["schema"] ?? object(format["json_schema"])["schema"]);
}

type Part = Omit<Block, "message" | "role" | "value" | "isMarked"> & { readonly value?: unknown };

function blocksOf(
  messages: readonly Json[],
  partsOf: (message: Json, index: number) => readonly [Json, Part][],
): Block[] {
  return messages.flatMap((message, index) =>
    partsOf(message, index).map(([raw, part]) => {
      const role = text(message["role"]) === "model" ? "assistant" : text(message["role"]) || "assistant";
      const { value = raw, ...rest } = part;
      // A system message in the middle carries fields of its own beside its content.
      const fields = role === "system" ? canonical({ ...message, content: "" }) : "";
      return {
        ...rest,
        message: index,
        role,
        value: `${role}:${canonical(value)}${fields}`,
        isMarked: raw["cache_control"] !== undefined,
      };
    }),
  );
}

const asBlocks = (content: unknown): readonly Json[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : list(content);

const withId = (kind: "call" | "result", id: unknown): Part => ({ kind, id: text(id), text: "" });

const readers: Readonly<Record<Api, (body: Json) => Block[]>> = {
  anthropic: (body) =>
    blocksOf(list(body["messages"]), (message) =>
      asBlocks(message["content"]).map((block) => {
        const type = text(block["type"]);
        if (type === "tool_use") return [block, withId("call", block["id"])];
        if (type === "tool_result") {
          const content = asBlocks(block["content"]);
          return [block, { ...withId("result", block["tool_use_id"]), value: { ...block, content } }];
        }
        if (type === "thinking" || type === "redacted_thinking") {
          return [block, { kind: "thinking", text: "", signature: text(block["signature"] ?? block["data"]) }];
        }
        return [block, { kind: type === "text" ? "text" : "other", text: text(block["text"]) }];
      }),
    ),

  responses(body) {
    const { input } = body;
    const items = typeof input === "string" ? [{ role: "user", content: input }] : list(input);
    return blocksOf(
      items.map((item) => (text(item["type"]).endsWith("_output") ? { role: "user", ...item } : item)),
      (item) => {
        const type = text(item["type"]) || "message";
        if (type.endsWith("_call")) return [[item, withId("call", item["call_id"] ?? item["id"])]];
        if (type.endsWith("_call_output")) return [[item, withId("result", item["call_id"])]];
        if (type === "reasoning") {
          return [[item, { kind: "thinking", text: "", signature: text(item["encrypted_content"]) }]];
        }
        if (type !== "message") return [[item, { kind: "other", text: "" }]];
        return asBlocks(item["content"]).map((part) => [part, { kind: "text", text: text(part["text"]) }]);
      },
    );
  },

  chat: (body) =>
    blocksOf(list(body["messages"]), (message) => {
      if (message["role"] === "tool") return [[message, withId("result", message["tool_call_id"])]];
      const parts = asBlocks(message["content"]).map((part): [Json, Part] => [
        part,
        { kind: part["type"] === "text" ? "text" : "other", text: text(part["text"]) },
      ]);
      return [...parts, ...list(message["tool_calls"]).map((call): [Json, Part] => [call, withId("call", call["id"])])];
    }),

  gemini(body) {
    const pair = pairing();
    return blocksOf(list(body["contents"]), (content) =>
      list(content["parts"]).map((part) => {
        const call = part["functionCall"];
        const result = part["functionResponse"];
        if (call !== undefined)
          return [part, { ...pair.call(object(call)), signature: text(part["thoughtSignature"]) }];
        if (result !== undefined) return [part, pair.result(object(result))];
        return [part, { kind: part["text"] === undefined ? "other" : "text", text: text(part["text"]) }];
      }),
    );
  },

  ollama(body) {
    const pair = pairing();
    return blocksOf(list(body["messages"]), (message) => {
      if (message["role"] === "tool")
        return [[message, pair.result({ name: message["tool_name"] ?? message["name"] })]];
      const calls = list(message["tool_calls"]).map((call): [Json, Part] => [
        call,
        pair.call(object(call["function"])),
      ]);
      return [[{ text: message["content"] }, { kind: "text", text: text(message["content"]) }], ...calls];
    });
  },
};

/** Pairs calls with results by name and order, for APIs where ids may be absent. */
function pairing(): { call(call: Json): Part; result(result: Json): Part } {
  let made = 0;
  const open: { readonly name: string; readonly id: string }[] = [];
  return {
    call(call) {
      const id = text(call["id"]) || `${text(call["name"])}#${made++}`;
      open.push({ name: text(call["name"]), id });
      return { kind: "call", id, text: "" };
    },
    result(result) {
      const own = text(result["id"]);
      const index = open.findIndex(({ id, name }) => (own ? id === own : !result["name"] || name === result["name"]));
      const id = open.splice(index, index < 0 ? 0 : 1)[0]?.id ?? `unknown:${text(result["name"])}`;
      return { kind: "result", id, text: "" };
    },
  };
}
