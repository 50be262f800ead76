/** A gateway's lines and requests, as a page shows them: times ISO 8601 in UTC, figures of tokens by the session's counter. */
import type { Usage } from "../message/message.ts";

/** A line of a gateway: one of the conversations that a client's session holds. */
export interface GatewayLine {
  /** The program: `claude-code`, `codex`, or the first word of its user agent. */
  readonly client: string;
  /** `main`, `agent`, `side`, or `line-2` and so on. */
  readonly line: string;
  /** The client's own id of its session, and of the agent in it. */
  readonly session?: string;
  readonly agent?: string;
  /** The session in the store that this line goes on from. */
  readonly parent?: { readonly id: string; readonly reason: string };
}

/** One request that passed a gateway. */
export interface RequestRow {
  /** From 1, in the order of the log. */
  readonly request: number;
  readonly at: string;
  /** `turn`, `side`, or `compaction`. */
  readonly kind: string;
  /** From 1; a client that asks again with nothing new makes the next one. */
  readonly attempt: number;
  /** The provider's status; 0 where it could not be reached. */
  readonly status: number | null;
  readonly firstByteMs: number | null;
  readonly totalMs: number | null;
  /** Bytes of the body as the client sent it, and as it went on. */
  readonly bytesIn: number | null;
  readonly bytesOut: number | null;
  readonly model: string | null;
  /** The value of the response's header `x-windrow`. */
  readonly note: string;
  /** Why the client's own bytes went on where they would have been composed. */
  readonly bypassed: string | null;
  /** Why such a request is never composed. */
  readonly fixed: string | null;
  readonly stop: string | null;
  readonly error: string | null;
  /** Tokens of the client's request that its provider took out before its model read it; null where it said none. */
  readonly clearedTokens: number | null;
  /** The mends that were tried after errors. */
  readonly mends: readonly string[];
  readonly isAborted: boolean;
  readonly isIncomplete: boolean;
  /** The call of the session that its answer is, from 1; null where no usage was reported, and where no call has it. */
  readonly call: number | null;
  /** Tokens of its window as counted, and those of them expected to be cached; null where it was not composed. */
  readonly tokens: number | null;
  readonly predictedCached: number | null;
  /** As the provider reported it. */
  readonly usage: Usage | null;
}

/** Requests in a row, and how many there are. */
export interface RequestPage {
  readonly total: number;
  readonly requests: readonly RequestRow[];
}
