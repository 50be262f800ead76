/** The data of a single file, made from a source by its own questions. */
import { maskJson } from "../../mask/mask.ts";
import type { SecretRules } from "../../mask/text.ts";
import type { JsonValue } from "../../message/message.ts";
import type { RequestRow } from "../requests.ts";
import type { CallRow, EpochRow, ViewerMessage, ViewerSource } from "../viewer.ts";
import { fileVersion } from "./data.ts";
import type { FileData, FileMessage, FileRow, FileSession } from "./data.ts";
import { FileImages } from "./images.ts";
import { WindowPacker } from "./pack.ts";

/** Messages, calls, requests and characters that one question asks for. */
const step = { messages: 200, calls: 1_000, requests: 500, characters: 500_000 } as const;

/** The progress of an encoding, in windows. */
export interface FileProgress {
  readonly done: number;
  readonly total: number;
}

/** The settings of an encoding. */
export interface EncodeOptions {
  /** Goes before everything that is put into the file. Default: nothing does. */
  readonly mask?: SecretRules;
  readonly onProgress?: (progress: FileProgress) => void;
  readonly signal?: AbortSignal;
}

/**
 * Reads sessions out of a source, each with all of its windows.
 *
 * @throws WindrowError what the source throws; the signal's reason where it fires
 */
export async function encodeSessions(
  source: ViewerSource,
  ids: readonly string[],
  options: EncodeOptions = {},
): Promise<FileData> {
  const sessions: FileSession[] = [];
  for (const id of ids) sessions.push(await encodeSession(source, id, options));
  return { version: fileVersion, sessions };
}

/** A session without its windows. */
export type FileLog = Pick<FileSession, "session" | "messages" | "recalls" | "requests" | "images">;

/** Reads what a file holds of a session beside its windows. */
export async function encodeLog(source: ViewerSource, id: string, options: EncodeOptions): Promise<FileLog> {
  const masked = maskedBy(options.mask);
  const session = masked(await source.session(id));
  const found = new FileImages();
  const messages = await messagesOf(source, id, session.messages, options, found);
  const { images } = found;
  const requests = session.line ? await requestsOf(source, id, options) : [];
  return {
    session,
    messages,
    recalls: masked(await source.recalls(id)),
    ...(requests.length > 0 && { requests: masked(requests) }),
    ...(Object.keys(images).length > 0 && { images }),
  };
}

async function encodeSession(source: ViewerSource, id: string, options: EncodeOptions): Promise<FileSession> {
  const masked = maskedBy(options.mask);
  const log = await encodeLog(source, id, options);
  const replays = await source.replay(id);
  const packer = new WindowPacker();
  const rows: FileRow[] = [];
  const places = replays.length === 0 ? [undefined] : replays.keys();
  for (const place of places) {
    const replay = place === undefined ? undefined : replays[place];
    const [calls, epochs] = [await callsOf(source, id, place), await source.epochs(id, place)];
    const windows =
      replay?.hasWindows === false ? [] : await windowsOf(source, id, place, { calls, epochs, packer }, options);
    rows.push({ ...(replay && { replay }), calls, epochs, windows });
  }
  return { ...log, rows: masked(rows), pool: masked(packer.pool()) };
}

/** The mask as a function of values; the data of a file are plain JSON. */
function maskedBy(mask: SecretRules | undefined): <T>(value: T) => T {
  return (value) => (mask ? (maskJson(mask, value as JsonValue) as typeof value) : value);
}

async function messagesOf(
  source: ViewerSource,
  id: string,
  count: number,
  { signal, mask }: EncodeOptions,
  images: FileImages,
): Promise<readonly FileMessage[]> {
  const masked = maskedBy(mask);
  const found: FileMessage[] = [];
  for (let from = 1; from <= count; from += step.messages) {
    signal?.throwIfAborted();
    const to = Math.min(count, from + step.messages - 1);
    const rows = new Map((await source.outline(id, from, to)).map((row) => [row.seq, row]));
    for (const message of await source.messages(id, from, to)) {
      await images.take(source, id, message);
      const { head = "", tools = [], isError = false } = rows.get(message.seq) ?? {};
      found.push(
        masked({
          head,
          ...(tools.length > 0 && { tools }),
          ...(isError && { isError }),
          message: await wholeMessage(source, id, message),
        }),
      );
    }
  }
  return found;
}

/** A message with the texts that were cut put back. */
async function wholeMessage(source: ViewerSource, id: string, message: ViewerMessage): Promise<ViewerMessage> {
  const { cut, ...rest } = message;
  if (!cut) return message;
  let whole: ViewerMessage = rest;
  for (const [place, length] of Object.entries(cut)) {
    let text = "";
    for (let from = 0; from < length; from += step.characters) {
      text += await source.text(id, message.seq, place, from, Math.min(length, from + step.characters));
    }
    whole = withText(whole, place, text);
  }
  return whole;
}

/** A message with another text at a place. */
function withText(message: ViewerMessage, place: string, text: string): ViewerMessage {
  const [index, piece] = place.split(".").map(Number);
  const parts = message.parts.map((part, at) => {
    if (at !== index) return part;
    switch (part.type) {
      case "text":
      case "reasoning":
        return { ...part, text };
      case "tool-call":
        return { ...part, argsText: text };
      case "opaque":
        return { ...part, data: text };
      case "tool-result": {
        if (piece === undefined || typeof part.content === "string") return { ...part, content: text };
        const content = part.content.map((one, nth) =>
          nth !== piece
            ? one
            : one.type === "text"
              ? { ...one, text }
              : one.type === "opaque"
                ? { ...one, data: text }
                : one,
        );
        return { ...part, content };
      }
      default:
        return part;
    }
  });
  return { ...message, parts };
}

/** All calls of a session, or of a row of a replay. */
export async function callsOf(source: ViewerSource, id: string, row?: number): Promise<readonly CallRow[]> {
  const found: CallRow[] = [];
  for (;;) {
    const { total, calls } = await source.calls(id, found.length + 1, found.length + step.calls, row);
    found.push(...calls);
    if (found.length >= total || calls.length === 0) return found;
  }
}

/** All requests of a gateway's line. */
async function requestsOf(source: ViewerSource, id: string, { signal }: EncodeOptions): Promise<readonly RequestRow[]> {
  const found: RequestRow[] = [];
  for (let from = 1; ; from += step.requests) {
    signal?.throwIfAborted();
    const page = await source.requests?.(id, from, from + step.requests - 1);
    found.push(...(page?.requests ?? []));
    if (from + step.requests > (page?.total ?? 0)) return found;
  }
}

interface RowSoFar {
  readonly calls: readonly CallRow[];
  readonly epochs: readonly EpochRow[];
  readonly packer: WindowPacker;
}

async function windowsOf(
  source: ViewerSource,
  id: string,
  row: number | undefined,
  { calls, epochs, packer }: RowSoFar,
  { onProgress, signal }: EncodeOptions,
): Promise<FileRow["windows"]> {
  packer.begin();
  const windows: FileRow["windows"][number][] = [];
  for (const call of calls) {
    signal?.throwIfAborted();
    const window = await source.window(id, call.call, { origins: true, ...(row !== undefined && { row }) });
    const epoch = epochs.findLast((one) => one.epoch === window.epoch);
    windows.push(packer.pack(window, call, epoch));
    onProgress?.({ done: windows.length, total: calls.length });
  }
  return windows;
}
