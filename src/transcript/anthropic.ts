/**
 * Messages of the Anthropic Messages API: an array, as Cline keeps in `api_conversation_history.json`, `{ messages }`, or
 * JSON lines. Cline adds the time, the model and the counts of each.
 */
import { asArray, asName, asObject, defined, fieldsOf, isoTime, objectsOf, restOf } from "../message/json.ts";
import type { JsonObject } from "../message/message.ts";
import { countsOf, usage } from "../message/parts.ts";
import { contentParts } from "../shape/anthropic/parts.ts";
import { anthropicUsage } from "../shape/anthropic/usage.ts";
import { anthropicFault } from "../shape/anthropic/value.ts";
import { flatly } from "../shape/keeper.ts";
import { head, listed, sessionsIn } from "./builder.ts";
import type { TranscriptBuilder } from "./builder.ts";
import type { TranscriptDecoder, TranscriptSource } from "./transcript.ts";

const format = "anthropic";

const blocks = flatly(format);

/** Blocks that tell the API from others with messages of a role and a content. */
const ownBlocks: ReadonlySet<unknown> = new Set(["tool_use", "tool_result", "thinking", "redacted_thinking"]);

const foreignFields = ["parts", "tool_calls", "reasoning_content"];

const known: ReadonlySet<string> = new Set(["id", "role", "content", "ts", "type", "model", "usage"]);

/** Reads messages of the Messages API. Results of tools become messages of their own, before the user's words. */
export const anthropicMessages: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const sessions = sessionsIn({ ...source, entries: head(source.entries) });
    const values = sessions.flatMap((session) => session.messages.map(({ value }) => value));
    const messages = objectsOf(values).filter((message) => anthropicFault(message) === undefined);
    if (messages.length === 0 || messages.length * 2 < values.length || objectsOf(values).some(isForeign)) return 0;
    const blocks = messages.map(({ content }) => asArray(content));
    const isOwn = blocks.some((some) => objectsOf(some).some(({ type }) => ownBlocks.has(type)));
    // Cline notes the time or the model beside lists of blocks.
    const isCline = blocks.every((some) => some !== undefined) && messages.some(isNoted);
    return isOwn || isCline ? 0.9 : 0;
  },
  decode: (source) =>
    listed(source, format, (value, builder) => {
      const message = asObject(value);
      if (!message || anthropicFault(message) !== undefined)
        return "no message of the Messages API: it has no known role, or no content";
      addMessage(message, builder);
      return undefined;
    }),
};

function isNoted({ ts, modelInfo }: JsonObject): boolean {
  return typeof ts === "number" || asObject(modelInfo) !== undefined;
}

/** Whether a message has what other providers' messages have, and the Messages API does not. */
function isForeign(message: JsonObject): boolean {
  if (message["role"] === "tool" || foreignFields.some((name) => name in message)) return true;
  return objectsOf(message["content"]).some(({ type }) => type === "image_url");
}

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
