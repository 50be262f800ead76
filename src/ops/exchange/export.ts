/** A session as a file: whole, as Windrow keeps it, or as another agent would have written its messages. */
import { WindrowError } from "../../errors.ts";
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject, Message } from "../../message/message.ts";
import { nearest } from "../../nearest.ts";
import { decodeRecord } from "../../store/format/record.ts";
import type { Scope, SessionDump, Store } from "../../store/store.ts";
import { isLossy, lossMessage, watchLosses } from "../../store/shared/transfer-losses.ts";
import { admit } from "../../store/shared/transfer.ts";
import { decoders } from "../../transcript/decoders.ts";
import { encoders } from "../../transcript/encoders.ts";
import type { TranscriptEncoder, TranscriptHead } from "../../transcript/encoder.ts";
import { lossBetween } from "../../transcript/loss.ts";
import type { Loss } from "../../transcript/loss.ts";
import { windrow } from "../../transcript/windrow/read.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import { sessionLines } from "../../transcript/windrow/session.ts";

export { lossKinds } from "../../transcript/loss.ts";
export type { Loss, LossKind } from "../../transcript/loss.ts";

/** The formats that are written: Windrow's own, then those of other programs. */
export const exportFormats: readonly string[] = ["windrow", ...encoders.map(({ format }) => format)];

/** How a session is written. */
export interface ExportOptions {
  /** One of {@link exportFormats}; `openai` is `openai-chat`. Default `windrow`. */
  readonly format?: string;
  /** Goes before everything that is written. Default: secrets of a known form. */
  readonly mask?: Mask;
}

/** A session on its way into a file. */
export interface ExportedSession {
  readonly id: string;
  readonly format: string;
  /** The file's lines, without line ends. Can be read once. */
  readonly lines: AsyncIterable<string>;
  /**
   * The losses of the format, found by reading back what was written and comparing; always empty for `windrow`, which
   * holds every record of every log.
   */
  readonly lost: readonly Loss[];
  /**
   * The records that the session lacked, by its own numbers and by what its state says of its logs, in a sentence;
   * undefined where nothing is missing. Known when the lines were read to their end.
   */
  missing(): string | undefined;
}

/**
 * Writes a session as a file's lines. `windrow` streams all its records with their numbers, and `importFile` brings back
 * the very session; every other format has the messages, and is read back before it is given out.
 *
 * @throws WindrowError `session-not-found`, `bad-option` for a format or a store that cannot be exported
 */
export async function exportSession(
  store: Store,
  scope: Scope,
  id: string,
  options: ExportOptions = {},
): Promise<ExportedSession> {
  const format = exportFormat(options.format ?? "windrow");
  const found = await store.transfer.dump(scope, id);
  const { tenant } = found.metadata;
  const owner = typeof tenant === "string" ? { tenant } : {};
  const watched = watchLosses(found);
  const { dump, metadata } = admit(owner, options.mask ?? createMask(), watched.dump);
  const missing = (): string | undefined => {
    const losses = watched.losses();
    return isLossy(losses) ? lossMessage(id, losses) : undefined;
  };
  const encoder = encoders.find((one) => one.format === format);
  if (!encoder) return { id, format, lines: sessionLines(dump), lost: [], missing };
  const messages = await messagesOf(dump);
  const { model } = metadata.config;
  const head = { id, createdAt: metadata.createdAt, ...(typeof model === "string" && { model }) };
  const values = encoder.encode(head, messages);
  const lost = lossBetween(messages, readBack(encoder, head, values));
  return { id, format, lines: textOf(values), lost, missing };
}

/**
 * The format that a name means.
 *
 * @throws WindrowError `bad-option`, with the nearest right name
 */
export function exportFormat(name: string): string {
  const format = name === "openai" ? "openai-chat" : name;
  if (exportFormats.includes(format)) return format;
  const message = `There is no format "${name}" to export to.${nearest(name, exportFormats)}`;
  throw new WindrowError("bad-option", message, { format: name, known: exportFormats });
}

async function messagesOf(dump: SessionDump): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const { log, line } of dump.lines()) {
    // To the end: that messages are missing may be known from the other logs alone.
    if (log !== "messages") continue;
    const record = decodeRecord("message", JSON.parse(line) as JsonObject);
    if (record.kind === "message") messages.push(record.message);
  }
  return messages;
}

function readBack(
  { format }: TranscriptEncoder,
  { id }: TranscriptHead,
  values: readonly JsonObject[],
): readonly Message[] {
  const entries = values.map((value, index) => ({ line: index + 1, value }));
  const [first] = decoders.find((decoder) => decoder.format === format)?.decode({ name: id, entries }) ?? [];
  return first?.messages ?? [];
}

async function* textOf(values: readonly JsonObject[]): AsyncGenerator<string> {
  for (const value of values) yield JSON.stringify(value);
}

/**
 * Reads a session of a store whole, as a file that `windrow export` writes would be read.
 *
 * @throws WindrowError `session-not-found`, `bad-option` for a store that gives no session out
 */
export async function storedTranscript(store: Store, scope: Scope, id: string): Promise<readonly Transcript[]> {
  const { lines } = await exportSession(store, scope, id);
  const entries: { line: number; value: unknown }[] = [];
  for await (const line of lines) entries.push({ line: entries.length + 1, value: JSON.parse(line) as unknown });
  return windrow.decode({ name: id, entries });
}
