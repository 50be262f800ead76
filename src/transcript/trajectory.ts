/**
 * Normalised trajectories, one session a line: `{ id, messages }`, with messages `{ role, content, thinking?,
 * tool_calls?: [{ id, name, args }], tool_call_id?, name? }`.
 */
import { chatMessage, isChatMessage } from "../shape/openai-chat/loose.ts";
import type { JsonObject } from "../message/message.ts";
import { UniqueIds } from "../message/parts.ts";
import { head, TranscriptBuilder, withStrays } from "./builder.ts";
import { asArray, asName, asObject, defined, objectsOf } from "../message/json.ts";
import type { Entry, Transcript, TranscriptDecoder, TranscriptSource } from "./transcript.ts";

const format = "trajectory";

/** Reads normalised trajectories; every line is a session of its own. */
export const trajectory: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const first = head(trajectoryEntries(source)).find((entry) => asArray(asObject(entry.value)?.["messages"]));
    const value = asObject(first?.value);
    const messages = objectsOf(value?.["messages"]);
    if (!value || asName(value["id"]) === undefined || !messages.every(isChatMessage)) return 0;
    const calls = messages.flatMap((message) => objectsOf(message["tool_calls"]));
    if (calls.some((call) => "function" in call)) return 0.4;
    return calls.some((call) => "args" in call) ? 0.95 : 0.85;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const ids = new UniqueIds();
    const transcripts: Transcript[] = [];
    const strays: { line: number; problem: string }[] = [];
    for (const { line, value } of trajectoryEntries(source)) {
      const session = asObject(value);
      const messages = asArray(session?.["messages"]);
      if (!session || !messages) {
        strays.push({ line, problem: "no trajectory: it has no messages" });
        continue;
      }
      const builder = new TranscriptBuilder();
      messages.forEach((item, index) => {
        const message = chatMessage(item, format, builder.calls);
        if (message) builder.add(message);
        else builder.problem(line, `message ${index + 1} has no known role or no content`);
      });
      transcripts.push(
        builder.build(ids.take(asName(session["id"]) ?? source.name), format, {
          model: asName(session["model"]),
          meta: defined({
            agent: session["agent"],
            source: session["source"],
            ...asObject(session["meta"]),
          }) as JsonObject,
        }),
      );
    }
    return withStrays(transcripts, strays);
  },
};

function trajectoryEntries(source: TranscriptSource): readonly Entry[] {
  const list = source.entries.length === 1 ? asArray(source.entries[0]?.value) : undefined;
  return list === undefined ? source.entries : list.map((value) => ({ line: 1, value }));
}
