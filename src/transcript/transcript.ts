/**
 * The contract of a transcript decoder: it reads another agent's sessions into Windrow's messages. Each format has one
 * folder; its decoder recognises it from the content.
 */
import type { JsonObject, Message } from "../message/message.ts";
import type { SentBlocks } from "../window/sent.ts";

/** One session of a file. */
export interface Transcript {
  /** The session's own id, or the file's name when the format has none. */
  readonly id: string;
  /**
   * The decoder's name: `windrow`, `openai-chat`, `anthropic`, `pi`, `claude-code`, `codex`, `gemini-cli`, `qwen-code`,
   * `copilot-cli`, `opencode`, `trajectory`.
   */
  readonly format: string;
  /** The model of most assistant messages, when the format names it. */
  readonly model?: string;
  readonly messages: readonly Message[];
  /** Lines that could not be read. Reading continued after each. */
  readonly problems: readonly TranscriptProblem[];
  /** Calls that were paid for, and whose answers are in no message: abandoned, taken back, or not kept by the file. */
  readonly otherCalls?: readonly OtherCall[];
  /** The system prompts and tools of its requests, oldest first, where the format keeps them. */
  readonly sent?: readonly TranscriptBlocks[];
  /** Further facts of the session (working folder, version …). */
  readonly meta?: JsonObject;
}

/** A call whose answer is no part of the session. */
export type OtherCall = Required<Pick<Message, "usage">> & Pick<Message, "model" | "timestamp">;

/** The blocks that went with requests beside the messages, until the next ones did. */
export interface TranscriptBlocks extends SentBlocks {
  /** How many messages stood before the first of these requests. */
  readonly at: number;
}

/** A line that is no record of the format. */
export interface TranscriptProblem {
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

/** A parsed line of a JSONL file. A whole JSON document is one entry with line 1. */
export interface Entry {
  readonly line: number;
  readonly value: unknown;
}

/** The input of a decoder. */
export interface TranscriptSource {
  /** The file's name, for ids and messages. */
  readonly name: string;
  /** Parsed lines, or the one document. */
  readonly entries: readonly Entry[];
}

/** A decoder for one transcript format. */
export interface TranscriptDecoder {
  readonly format: string;
  /**
   * How sure the decoder is that the source has its format, from 0 (no) to 1 (certain). Examines the first entries and
   * never throws. The surest decoder reads.
   */
  recognise(source: TranscriptSource): number;
  /** One or several sessions. An entry that is no record of the format becomes a problem, not an exception. */
  decode(source: TranscriptSource): readonly Transcript[];
}
