/** A session's numbers, counted again from its logs: the same that a living session keeps in its state. */
import type { JsonObject } from "../../message/message.ts";
import { usedTokens } from "../../message/parts.ts";
import type { EditRecord, StoredRecordOf } from "../../message/record.ts";
import type { FinalStatus, SessionState } from "../store.ts";

/** The numbers of a state that its logs hold. */
export type CountedState = Pick<
  SessionState,
  | "llmCallCount"
  | "toolCallCount"
  | "totalTokensUsed"
  | "currentContextTokens"
  | "compressionCount"
  | "epochCount"
  | "updatedAt"
>;

/** The type of the edit that tells how a session ended, where it ended with an error. */
export const endedType = "finished";

/** The end of a session, as its log tells it. */
export interface EndedState {
  readonly status: FinalStatus;
  readonly error: string;
}

/** The edit that tells of an end with an error, so that a lost state can be made again. */
export function endedRecord({ status, error }: EndedState, timestamp: string): EditRecord {
  return { kind: "edit", type: endedType, data: { status, error }, timestamp };
}

function endedIn({ status, error }: JsonObject): EndedState | undefined {
  const isKnown = status === "completed" || status === "failed" || status === "timeout";
  return isKnown && typeof error === "string" ? { status, error } : undefined;
}

/** A line that is counted. */
type Counted = Pick<StoredRecordOf<"usage">, UsageField> | Line;
type UsageField = "kind" | "purpose" | "usage" | "toolCalls" | "window" | "pos" | "timestamp";
type Line =
  | Pick<StoredRecordOf<"edit">, "kind" | "type" | "data" | "pos" | "timestamp">
  | Pick<StoredRecordOf<"tool">, "kind" | "pos" | "timestamp">;

/** Counts the lines of `usage.jsonl`, `tools.jsonl` and `edits.jsonl`, in any order of the files. */
export class StateCount {
  #llmCalls = 0;
  #toolCalls = 0;
  #tokens = 0;
  #summaries = 0;
  #epochs = 0;
  #window = { pos: 0, tokens: 0 };
  #ended: EndedState | undefined;
  #last: string;

  /** @param createdAt - when the session was made */
  constructor(createdAt: string) {
    this.#last = createdAt;
  }

  /** Takes the next line of a file. */
  take(line: Counted): void {
    if (line.timestamp > this.#last) this.#last = line.timestamp;
    if (line.kind === "tool") this.#toolCalls++;
    if (line.kind === "edit" && line.type === "epoch") this.#epoch(line.data, line.pos);
    // A session that was gone on with has not ended.
    if (line.kind === "edit" && line.type === "resumed") this.#ended = undefined;
    if (line.kind === "edit" && line.type === endedType) this.#ended = endedIn(line.data);
    if (line.kind !== "usage") return;
    const { purpose, usage, toolCalls = 0, window, pos } = line;
    this.#toolCalls += toolCalls;
    if (purpose === "turn") this.#llmCalls++;
    this.#tokens += usedTokens(usage);
    this.#seen(window?.tokens, pos);
  }

  /** The end that the lines tell of; undefined where they tell of none, or of one without an error. */
  get ended(): EndedState | undefined {
    return this.#ended;
  }

  /** The numbers so far. */
  get numbers(): CountedState {
    return {
      llmCallCount: this.#llmCalls,
      toolCallCount: this.#toolCalls,
      totalTokensUsed: this.#tokens,
      currentContextTokens: this.#window.tokens,
      compressionCount: this.#summaries,
      epochCount: this.#epochs,
      updatedAt: this.#last,
    };
  }

  #epoch({ epoch, summaries, tokens_after: tokens }: JsonObject, pos: number): void {
    this.#epochs = Math.max(this.#epochs, Number(epoch) || 0);
    this.#summaries += Number(summaries) > 0 ? 1 : 0;
    this.#seen(tokens, pos);
  }

  /** The newest of windows and epochs says how large the window is. */
  #seen(tokens: unknown, pos: number): void {
    if (typeof tokens === "number" && pos >= this.#window.pos) this.#window = { pos, tokens };
  }
}

/** A state with the numbers that were counted again. Numbers of another program, which has no such logs, stay. */
export function atLeast(state: SessionState, counted: CountedState): SessionState {
  const most = (name: keyof SessionState & keyof CountedState): number =>
    Math.max(Number(state[name]), Number(counted[name]));
  return {
    ...state,
    llmCallCount: most("llmCallCount"),
    toolCallCount: most("toolCallCount"),
    totalTokensUsed: most("totalTokensUsed"),
    compressionCount: most("compressionCount"),
    epochCount: most("epochCount"),
    currentContextTokens: counted.currentContextTokens || state.currentContextTokens,
  };
}
