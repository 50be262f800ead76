/**
 * The contract of a transcript decoder: sessions that other agents wrote, read into Windrow's messages. One file a
 * format; the format is recognised from the content, never asked for.
 */
import type { JsonObject, Message } from "../message/message.ts";

/** One session as a decoder read it. */
export interface Transcript {
  /** The session's own id where the format has one, else the file's name. */
  readonly id: string;
  /** The decoder's name: `windrow`, `openai-chat`, `pi`, `claude-code`, `codex`, `gemini-cli`, `trajectory`. */
  readonly format: string;
  /** The model that wrote most assistant messages, where the format tells. */
  readonly model?: string;
  readonly messages: readonly Message[];
  /** Lines that could not be read; the rest went on. */
  readonly problems: readonly TranscriptProblem[];
  /** What else the format said of the session (working folder, version …). */
  readonly meta?: JsonObject;
}

/** A line that was no record of the format. */
export interface TranscriptProblem {
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

/** A line of a JSONL file, parsed. A whole JSON document comes as one entry with line 1. */
export interface Entry {
  readonly line: number;
  readonly value: unknown;
}

/** What a decoder is given. */
export interface TranscriptSource {
  /** The file's name, for ids and messages. */
  readonly name: string;
  /** Parsed lines, or the one document. */
  readonly entries: readonly Entry[];
}

/** Reads one format. */
export interface TranscriptDecoder {
  readonly format: string;
  /**
   * How sure the decoder is that it wrote this, from 0 (not mine) to 1 (certain). Looks at the first entries only and
   * never throws. The surest decoder reads.
   */
  recognise(source: TranscriptSource): number;
  /** One or several sessions. An entry that is no record of the format becomes a problem, not an exception. */
  decode(source: TranscriptSource): readonly Transcript[];
}
