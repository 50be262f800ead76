/**
 * Sessions of GitHub Copilot CLI: an event a line in `events.jsonl`, those of sub-agents among them. Versions before
 * 0.0.342 wrote one document with messages of the chat API.
 */
import { asArray, asName, asObject, asString, defined } from "../message/json.ts";
import { fieldsOf, isoTime, objectsOf, restOf, textOf, without } from "../message/json.ts";
import type { JsonObject, JsonValue, NewMessage, Part, Role } from "../message/message.ts";
import { callArguments, opaquePart, opaqueRest, resultContent, textParts } from "../message/parts.ts";
import { head, TranscriptBuilder } from "./builder.ts";
import { openaiChat } from "./openai-chat/read.ts";
import type { Entry, Transcript, TranscriptDecoder, TranscriptSource } from "./transcript.ts";

const format = "copilot-cli";

const eventType = /^(?:session|system|user|assistant|tool|subagent|hook|skill|permission)\.[a-z_]+$/;

const callFields = ["toolCallId", "name", "arguments", "type"];
const reasoningFields = ["reasoningText", "reasoningOpaque", "encryptedContent"];
const known = new Set(["transformedContent", "attachments", "toolRequests", "role", "model", ...reasoningFields]);

/**
 * Reads sessions of Copilot CLI. The user's text is the one that the model was sent; the words as typed are in
 * `extra.content`. Sub-agents are sessions of their own, behind the main one, with `meta.sidechain`. No message has
 * usage, because its event counts the output alone; the totals of each run are in `meta.modelMetrics`.
 */
export const copilotCli: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const first = head(source.entries);
    return first.some(isDocument) ? 0.95 : first.some(isEvent) ? 0.9 : 0;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const documents = source.entries.filter(isDocument).map(({ line, value }) => {
      const { chatMessages: messages, sessionId: id, selectedModel: model, startTime } = fieldsOf(value);
      return { line, value: defined({ messages, id, model, startTime }) };
    });
    const chats = openaiChat.decode({ ...source, entries: documents }).map((session) => ({ ...session, format }));
    const entries = source.entries.filter((entry) => !isDocument(entry));
    return entries.length === 0 ? chats : [...new EventLog().read({ ...source, entries }), ...chats];
  },
};

function isEvent({ value }: Entry): boolean {
  const { type, data, parentId } = fieldsOf(value);
  return parentId !== undefined && eventType.test(asName(type) ?? "") && asObject(data) !== undefined;
}

function isDocument({ value }: Entry): boolean {
  return asName(fieldsOf(value)["sessionId"]) !== undefined && asArray(fieldsOf(value)["chatMessages"]) !== undefined;
}

/** The conversations of a file of events: that of the main agent, and those of sub-agents. */
class EventLog {
  readonly #main = new TranscriptBuilder();
  readonly #agents = new Map<string, TranscriptBuilder>();
  /** The calls of tasks by their prompts: a sub-agent's first message may not say whose it is. */
  readonly #prompts = new Map<string, string>();
  readonly #systems = new Map<TranscriptBuilder, JsonValue | undefined>();
  readonly #compactions: JsonValue[] = [];
  readonly #modelMetrics: JsonValue[] = [];
  #about: JsonObject = {};
  #model: string | undefined;

  read({ name, entries }: TranscriptSource): readonly Transcript[] {
    for (const { line, value } of entries) {
      const { type, data, ...about } = fieldsOf(value);
      if (typeof type === "string" && asObject(data)) this.#add(type, fieldsOf(data), about);
      else this.#main.problem(line, "no event of Copilot CLI: it has no type or no data");
    }
    const id = asName(this.#about["sessionId"]) ?? name;
    const lists = Object.entries({ compactions: this.#compactions, modelMetrics: this.#modelMetrics });
    const told = Object.fromEntries(lists.filter(([, list]) => list.length > 0));
    const meta = { ...without(this.#about, "sessionId"), ...told };
    const agents = [...this.#agents].filter(([, { messages }]) => messages.length > 0);
    const sidechains = agents.map(([key, agent]) => agent.build(`${id}/${key}`, format, { meta: { sidechain: key } }));
    return [this.#main.build(id, format, { model: this.#model, meta }), ...sidechains];
  }

  #add(type: string, data: JsonObject, { id, timestamp, agentId }: JsonObject): void {
    const builder = this.#conversation(type, data, agentId);
    const said = defined({ id: asName(id), timestamp: isoTime(timestamp) });
    const role = /^(system|user|assistant)\.message$/.exec(type)?.[1] as Role | undefined;
    if (type === "tool.execution_complete") builder.add({ role: "tool", ...said, parts: [resultPart(data, builder)] });
    else if (role === undefined) this.#note(type, data, builder);
    // Each run repeats its system prompt.
    else if (role !== "system" || this.#systems.get(builder) !== data["content"])
      builder.add({ role, ...said, ...this.#spoken(role, data, builder) });
    if (role === "system") this.#systems.set(builder, data["content"]);
  }

  #conversation(type: string, data: JsonObject, agentId: JsonValue | undefined): TranscriptBuilder {
    const prompt = type === "user.message" ? textOf(data["content"]) : "";
    const agent = asName(agentId) ?? asName(data["parentToolCallId"]) ?? this.#prompts.get(prompt);
    this.#prompts.delete(prompt);
    const builder = agent === undefined ? this.#main : (this.#agents.get(agent) ?? new TranscriptBuilder());
    if (agent !== undefined) this.#agents.set(agent, builder);
    return builder;
  }

  #note(type: string, data: JsonObject, builder: TranscriptBuilder): void {
    const { sessionId, copilotVersion: version, context, newModel, selectedModel, modelMetrics, ...more } = data;
    const { cwd, branch: gitBranch } = fieldsOf(context);
    this.#about = { ...(defined({ sessionId, cwd, version, gitBranch }) as JsonObject), ...this.#about };
    const model = asName(newModel) ?? asName(selectedModel);
    if (model !== "auto") this.#model = model ?? this.#model;
    if (modelMetrics !== undefined) this.#modelMetrics.push(modelMetrics);
    const isCompaction = type === "session.compaction_complete" && more["success"] !== false && builder === this.#main;
    if (isCompaction) this.#compactions.push({ after: builder.messages.length, ...more });
  }

  #spoken(role: Role, data: JsonObject, builder: TranscriptBuilder): Omit<NewMessage, "role"> {
    const { content, transformedContent, reasoningText, source, model } = data;
    const [text, thought] = [asName(transformedContent) ?? textOf(content), asString(reasoningText) ?? ""];
    const signature = asName(data["reasoningOpaque"]) ?? asName(data["encryptedContent"]);
    const reasoning: Part = { type: "reasoning", text: thought, ...defined({ signature }) };
    const parts = [
      ...(thought !== "" || signature !== undefined ? [reasoning] : []),
      ...textParts(text),
      ...objectsOf(data["attachments"]).map(mediaPart),
      ...objectsOf(data["toolRequests"]).map((request) => this.#callPart(request, builder)),
    ];
    const extra = restOf(content === text ? without(data, "content") : data, known);
    const status = (asName(source) ?? "user").toLowerCase() === "user" ? undefined : ("synthetic" as const);
    const writer = asName(model) ?? (builder === this.#main ? this.#model : undefined);
    return { parts, ...defined({ status, model: role === "assistant" ? writer : undefined, extra }) };
  }

  #callPart(request: JsonObject, builder: TranscriptBuilder): Part {
    const [name, given] = [asName(request["name"]), callArguments(request["arguments"])];
    if (name === undefined) return opaquePart(request, format);
    const callId = builder.calls.call(asName(request["toolCallId"]), name);
    const prompt = asName(fieldsOf(given.args)["prompt"]);
    if (name === "task" && prompt !== undefined) this.#prompts.set(prompt, callId);
    return { type: "tool-call", callId, name, ...given, ...opaqueRest(request, callFields) };
  }
}

function resultPart({ result, error, success, ...data }: JsonObject, builder: TranscriptBuilder): Part {
  const { content, binaryResultsForLlm } = fieldsOf(result);
  const text = asName(content) ?? asName(fieldsOf(error)["message"]) ?? textOf(content ?? result ?? error);
  const media = objectsOf(binaryResultsForLlm).map(mediaPart);
  const shown = media.length === 0 ? text : resultContent([...textParts(text), ...media]);
  const of = builder.calls.result(asName(data["toolCallId"]));
  return { type: "tool-result", ...of, content: shown, ...(success === false && { isError: true }) };
}

function mediaPart(block: JsonObject): Part {
  const [data, mediaType] = [asName(block["data"]), asName(block["mimeType"])];
  if (data === undefined || mediaType === undefined) return opaquePart(block, format);
  return { type: mediaType.startsWith("image/") ? "image" : "file", mediaType, data };
}
