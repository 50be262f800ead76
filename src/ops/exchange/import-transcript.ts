/** Transcripts of other agents, imported as sessions of a store. */
import { hostname } from "node:os";
import type { JsonObject, Message } from "../../message/message.ts";
import { usedTokens } from "../../message/parts.ts";
import type { NewRecord } from "../../message/record.ts";
import { encodeRecord } from "../../store/format/record.ts";
import { encodeMetadata, encodeState, parseDocument } from "../../store/format/documents.ts";
import { lineText, numberedLine } from "../../store/format/lines.ts";
import { formatVersion, isSessionId, uuidOf } from "../../store/shared/rules.ts";
import { initialState } from "../../store/format/documents.ts";
import type { DumpedLine, LogName, Scope, SessionDump, SessionState } from "../../store/store.ts";
import { kindLogs } from "../../store/format/logs.ts";
import { countMessage } from "../../tokens/counter.ts";
import { counterOf } from "../../tokens/counters.ts";
import type { OtherCall, Transcript } from "../../transcript/transcript.ts";

/** Settings that the transcript does not give. */
export interface TranscriptSettings {
  readonly scope: Scope;
  /** Whether the session is over. */
  readonly finished: boolean;
  /** When it was, where the format has no times: ISO 8601, UTC. */
  readonly time: string;
}

const counter = "estimate";

/**
 * The session that a transcript becomes: a message record for each message, a usage record for each call that reports
 * usage, last for those whose answers it does not hold. Everything in it follows from the transcript and the settings, so
 * that two imports give the same session.
 */
export function transcriptDump(transcript: Transcript, settings: TranscriptSettings): SessionDump {
  const { id: source, format, model, meta, messages, otherCalls = [] } = transcript;
  const id = isSessionId(source) ? source : uuidOf([format, source, JSON.stringify(messages)]);
  const records = recordsOf(messages, otherCalls, settings.time);
  const [first] = records;
  const createdAt = first?.timestamp ?? settings.time;
  const { tenant, user } = settings.scope;
  const metadata = encodeMetadata({
    uuid: id,
    taskKey: { task_source: "import", format, session_id: source },
    createdAt,
    processId: 0,
    hostname: hostname(),
    config: {
      counter,
      ...(model !== undefined && { model }),
      import: { format, session_id: source, ...(meta && { meta }) },
    },
    ...(user !== undefined && { user }),
    ...(tenant !== undefined && { tenant }),
    format: formatVersion,
  });
  return {
    id,
    metadata: fields(metadata),
    state: fields(encodeState(stateOf(transcript, records, settings, createdAt))),
    async *lines() {
      yield* linesOf("messages", records);
      yield* linesOf("usage", records);
    },
  };
}

function recordsOf(messages: readonly Message[], otherCalls: readonly OtherCall[], time: string): readonly NewRecord[] {
  const counting = counterOf(counter);
  let timestamp = messages.find((message) => message.timestamp !== undefined)?.timestamp ?? time;
  const records = messages.flatMap((given): readonly NewRecord[] => {
    timestamp = given.timestamp ?? timestamp;
    const message = { ...given, timestamp };
    const tokenCount = countMessage(counting, message);
    const { usage } = message;
    return [
      { kind: "message", message, tokenCount, timestamp },
      ...(usage ? [usageRecord({ ...message, usage })] : []),
    ];
  });
  return [...records, ...otherCalls.map((call) => usageRecord({ timestamp, ...call }))];
}

function usageRecord({ model, usage, timestamp }: OtherCall & { readonly timestamp: string }): NewRecord {
  return { kind: "usage", purpose: "turn", ...(model && { model }), usage, timestamp };
}

function* linesOf(log: LogName, records: readonly NewRecord[]): Generator<DumpedLine> {
  let seq = 0;
  for (const [index, record] of records.entries()) {
    if (kindLogs[record.kind] !== log) continue;
    seq += 1;
    yield { log, line: numberedLine(lineText(encodeRecord(record)), seq, index + 1) };
  }
}

function stateOf(
  { messages, otherCalls = [] }: Transcript,
  records: readonly NewRecord[],
  { finished }: TranscriptSettings,
  createdAt: string,
): SessionState {
  const updatedAt = records.at(-1)?.timestamp ?? createdAt;
  const answers = messages.filter(({ role }) => role === "assistant");
  const calls = answers.flatMap(({ parts }) => parts.filter(({ type }) => type === "tool-call"));
  const used = [...answers, ...otherCalls].reduce((sum, { usage = {} }) => sum + usedTokens(usage), 0);
  return {
    ...initialState(createdAt),
    status: finished ? "completed" : "processing",
    updatedAt,
    completedAt: finished ? updatedAt : null,
    llmCallCount: answers.length,
    toolCallCount: calls.length,
    totalTokensUsed: used,
    lastActivity: "imported",
  };
}

function fields(text: string): JsonObject {
  return parseDocument(text) ?? {};
}
