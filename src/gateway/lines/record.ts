/** The record of a request in its line's log, and the usage of its answer. */
import { defined } from "../../message/json.ts";
import type { JsonObject } from "../../message/message.ts";
import { messageText } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import type { Clearing, SentAnswer, WireRequest } from "../gateway.ts";
import { withoutKeys } from "../tenant.ts";

/** The type of the record. */
export const requestType = "request";

/** Most characters of an answer that broke off which its record keeps. */
const mostPartial = 65_536;

/** The facts of how a request was sent. */
export interface SentFacts {
  readonly time: string;
  /** From 1; a client that asks again with nothing new makes the next one. */
  readonly attempt: number;
  readonly bytesOut: number;
  readonly note: string;
  /** The epoch of the window that was sent; 0 for the client's own bytes. */
  readonly epoch: number;
  readonly reason?: string | undefined;
  /** The question to the provider. */
  readonly asked?: Clearing | undefined;
  /** The mends that were tried after errors. */
  readonly mends: readonly string[];
  /** Whether the answer became a message of the log. */
  readonly isKept: boolean;
  /** Tool calls of the answer, where it became a message. */
  readonly toolCalls: number;
}

/** The record as it is kept (docs/format.md). */
export function requestRecord(request: WireRequest, sent: SentAnswer, facts: SentFacts): JsonObject {
  const { answer, status, isAborted, firstByteMs, totalMs, requestId } = sent;
  const model = answer.model ?? request.model;
  const partial = facts.isKept ? undefined : partialOf(request, sent);
  return {
    time: facts.time,
    kind: request.kind,
    attempt: facts.attempt,
    bytes_in: request.call.body.length,
    bytes_out: facts.bytesOut,
    note: facts.note,
    epoch: facts.epoch,
    status,
    first_byte_ms: Math.round(firstByteMs),
    total_ms: Math.round(totalMs),
    ...(model !== undefined && { model }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(answer.id !== undefined && { answer_id: answer.id }),
    ...(answer.stop !== undefined && { stop: answer.stop }),
    ...(answer.error && { error: errorOf(request, answer.error) }),
    ...(facts.asked && { asked: askedOf(facts.asked) }),
    ...(answer.appliedEdits && { applied_edits: [...answer.appliedEdits] }),
    ...(isAborted && { aborted: true }),
    ...(!answer.isComplete && { incomplete: true }),
    ...(facts.reason !== undefined && { bypassed: facts.reason }),
    ...(facts.mends.length > 0 && { mends: facts.mends }),
    ...(request.fixed !== undefined && { fixed: request.fixed }),
    ...(partial !== undefined && partial !== "" && { partial }),
  };
}

function askedOf({ trigger, keep, exclude }: Clearing): JsonObject {
  return { trigger, keep, ...(exclude.length > 0 && { exclude: [...exclude] }) };
}

/** A provider's error, which may quote the key that it refused. */
function errorOf({ call }: WireRequest, { type, message }: NonNullable<SentAnswer["answer"]["error"]>): JsonObject {
  return { type: withoutKeys(type, call), message: withoutKeys(message, call) };
}

function partialOf({ api, kind }: WireRequest, { answer }: SentAnswer): string | undefined {
  if (!answer.message || (kind !== "turn" && answer.isComplete)) return undefined;
  try {
    const text = api.adapter.decode([answer.message]).map(messageText).join("\n");
    return text.slice(0, mostPartial).toWellFormed();
  } catch {
    return undefined;
  }
}

/** Writes the record of a request, and what it used. */
export async function keepRecord(
  session: Session,
  request: WireRequest,
  sent: SentAnswer,
  facts: SentFacts,
): Promise<void> {
  const { requestId, answer } = sent;
  const { usage, model = request.model, id: answerId } = answer;
  const names = defined({ model, answerId, requestId });
  await Promise.all([
    session.records.append(requestType, requestRecord(request, sent, facts)),
    usage && session.endStep({ usage, ...names, toolCalls: facts.toolCalls }),
  ]);
}
