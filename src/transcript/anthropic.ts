/**
 * Messages of the Anthropic Messages API: an array, as Cline keeps in `api_conversation_history.json`, `{ messages }`, or
 * JSON lines. Cline adds the time, the model and the counts of each.
 */
import { asName, asObject, defined, fieldsOf, isoTime, objectsOf, restOf } from "../message/json.ts";
import type { JsonObject } from "../message/message.ts";
import { countsOf, usage } from "../message/parts.ts";
import { UniqueIds } from "../message/unique-ids.ts";
import { contentParts } from "../shape/anthropic/parts.ts";
import { anthropicUsage } from "../shape/anthropic/usage.ts";
import { anthropicFault } from "../shape/anthropic/value.ts";
import { flatly } from "../shape/keeper.ts";
import { head, sessionsIn, TranscriptBuilder } from "./builder.ts";
import type { Transcript, TranscriptDecoder, TranscriptSource } from "./transcript.ts";

const format = "anthropic";

const blocks = flatly(format);

/** Blocks that tell the API from others with messages of a role and a content. */
const ownBlocks: ReadonlySet<unknown> = new Set(["tool_use", "tool_result", "thinking", "redacted_thinking"]);

const known: ReadonlySet<string> = new Set(["id", "role", "content", "ts", "type", "model", "usage"]);

/** Reads messages of the Messages API. Results of tools become messages of their own, before the user's words. */
export const anthropicMessages: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const sessions = sessionsIn({ ...source, entries: head(source.entries) });
    const messages = sessions.flatMap((session) => objectsOf(session.messages.slice(0, 50).map(({ value }) => value)));
    if (messages.length === 0 || messages.some((message) => "parts" in message || "tool_calls" in message)) return 0;
    if (!messages.every((message) => anthropicFault(message) === undefined)) return 0;
    const isOwn = messages.some(({ content }) => objectsOf(content).some(({ type }) => ownBlocks.has(type)));
    const isCline = messages.some(({ ts, modelInfo }) => typeof ts === "number" || asObject(modelInfo) !== undefined);
    return isOwn || isCline ? 0.9 : 0;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const ids = new UniqueIds();
    return sessionsIn(source).map(({ about, messages }, index) => {
      const builder = new TranscriptBuilder();
      for (const { line, value } of messages) {
        const message = asObject(value);
        if (message && anthropicFault(message) === undefined) addMessage(message, builder);
        else builder.problem(line, "no message of the Messages API: it has no known role, or no content");
      }
      const id = asName(about["id"]) ?? (index === 0 ? source.name : `${source.name}-${index + 1}`);
      return builder.build(ids.take(id), format, { model: asName(about["model"]) });
    });
  },
};

function addMessage(message: JsonObject, builder: TranscriptBuilder): void {
  const parts = contentParts(message["content"], builder.calls, blocks);
  const { prompt: input, completion: output, cached: cacheRead } = fieldsOf(fieldsOf(message["metrics"])["tokens"]);
  const said = defined({
    id: asName(message["id"]),
    timestamp: isoTime(message["ts"]),
    model: asName(message["model"]) ?? asName(fieldsOf(message["modelInfo"])["modelId"]),
    usage: anthropicUsage(message["usage"]) ?? usage(countsOf({ input, output, cacheRead })),
    extra: restOf(message, known),
  });
  if (message["role"] === "user") builder.addUser(said, parts);
  else builder.add({ ...said, role: message["role"] === "system" ? "system" : "assistant", parts });
}
