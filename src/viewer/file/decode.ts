/** The data of a single file as a source. It runs in the page: nothing here is of Node. */
import { cutParts, cutText, partAt } from "../page/cut.ts";
import { SearchedTexts, shownText } from "../page/searched.ts";
import type { Searched } from "../page/searched.ts";
import { partsText } from "../page/window-text.ts";
import type {
  CallPage,
  ListedSession,
  OutlineRow,
  ViewerHit,
  ViewerMessage,
  ViewerSource,
  ViewerWindow,
  WindowEntry,
} from "../viewer.ts";
import { fatesInEpoch, fileVersion } from "./data.ts";
import type { FileData, FileEntry, FileMessage, FileRow, FileSession } from "./data.ts";

/** An error with a code, as a server's answer has one. */
export interface FileFault extends Error {
  readonly code: string;
}

function fault(code: string, message: string): FileFault {
  return Object.assign(new Error(message), { code });
}

/**
 * Unpacks the text of the data element: base64 of gzipped JSON.
 *
 * @throws FileFault `format-newer` for data of a newer version, `store-corrupt` for what is none
 */
export async function unpackFile(base64: string): Promise<FileData> {
  let data: FileData;
  try {
    const bytes = bytesOf(base64.trim());
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    data = (await new Response(unpacked).json()) as FileData;
  } catch {
    throw fault("store-corrupt", "The data of this file is damaged. Ask for the file again.");
  }
  if (data.version > fileVersion) throw fault("format-newer", "This file was made by a newer Windrow than its page.");
  return data;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Hits that a search gives at most, and characters around a match. */
const mostHits = 200;
const aroundMatch = 80;

/** A source over the data of a single file. */
export function fileSource(data: FileData): ViewerSource {
  const sessions = new Map(data.sessions.map((session) => [session.session.id, new SessionReader(session)]));
  const reader = (id: string): SessionReader => {
    const found = sessions.get(id);
    if (found) return found;
    throw fault("session-not-found", `This file holds no session ${id}.`);
  };
  return {
    kind: "file",
    async sessions({ status, text }) {
      const words = text?.toLowerCase();
      const listed = data.sessions
        .map(({ session }): ListedSession => session)
        .filter((one) => status === undefined || one.status === status)
        .filter((one) => words === undefined || `${one.id} ${one.title}`.toLowerCase().includes(words));
      return { sessions: listed, looked: data.sessions.length, unreadable: [] };
    },
    session: async (id) => reader(id).file.session,
    outline: async (id, from, to) => reader(id).outline(from, to),
    messages: async (id, from, to) => reader(id).messages(from, to),
    text: async (id, seq, place, from, to) => reader(id).text(seq, place).slice(from, to),
    async blob(id, seq, place) {
      const image = reader(id).file.images?.[`${seq}/${place}`];
      if (image) return { mediaType: image.mediaType, data: bytesOf(image.data) };
      const message =
        "This file does not hold this image: it holds those that can be read, of up to 512 KB, 8 MB in all.";
      throw fault("not-found", message);
    },
    calls: async (id, from, to, row = 0) => reader(id).calls(from, to, row),
    epochs: async (id, row = 0) => reader(id).row(row).epochs,
    async window(id, call, { row = 0, strategy, budget } = {}) {
      if (strategy === undefined && budget === undefined) return reader(id).window(call, row);
      const message = "Another window than the recorded one is composed by `windrow serve`; a file cannot compose.";
      throw fault("not-found", message);
    },
    recalls: async (id) => reader(id).file.recalls,
    async requests(id, from, to) {
      const { requests = [] } = reader(id).file;
      return { total: requests.length, requests: requests.slice(Math.max(0, from - 1), Math.max(0, to)) };
    },
    async search(words, id) {
      const searched = id === undefined ? [...sessions.values()] : [reader(id)];
      return searched.flatMap((one) => one.search(words)).slice(0, mostHits);
    },
    replay: async (id) => reader(id).file.rows.flatMap(({ replay }) => replay ?? []),
    // Nothing grows in a file.
    follow: (_id, _onEvent, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      }),
  };
}

/** Windows apart at which one is kept, so that any is near one that is known. */
const keptEvery = 32;

/** The answers about one session. */
class SessionReader {
  readonly file: FileSession;
  #texts: readonly Searched[] | undefined;
  readonly #windows = new Map<number, ReadonlyMap<number, readonly number[]>>();
  readonly #entries = new Map<number, WindowEntry>();

  constructor(file: FileSession) {
    this.file = file;
  }

  row(place: number): FileRow {
    const row = this.file.rows[place];
    if (row) return row;
    throw fault("bad-option", `This file has ${this.file.rows.length} rows, and no row ${place}.`);
  }

  outline(from: number, to: number): readonly OutlineRow[] {
    return this.#range(from, to).map(({ head, tools = [], isError = false, message }) => {
      const { seq, role, tokens, timestamp = "" } = message;
      return { seq, role, tokens, timestamp, head, tools, isError };
    });
  }

  messages(from: number, to: number): readonly ViewerMessage[] {
    return this.#range(from, to).map(({ message }) => ({ ...message, ...cutParts(message.seq, message.parts) }));
  }

  text(seq: number, place: string): string {
    const part = partAt(this.#message(seq).message, place);
    const text = part && cutText(part);
    if (text !== undefined) return text;
    throw fault("not-found", `Message ${seq} has no text ${place}.`);
  }

  calls(from: number, to: number, row: number): CallPage {
    const { calls } = this.row(row);
    return { total: calls.length, calls: calls.slice(Math.max(0, from - 1), to) };
  }

  window(call: number, place: number): ViewerWindow {
    const row = this.row(place);
    const [packed, about] = [row.windows[call - 1], row.calls[call - 1]];
    if (!packed || !about) throw fault("not-found", `There is no window of call ${call} here.`);
    const { own, keep: _, add: _added, fates, system, tools, ...rest } = packed;
    const { pool } = this.file;
    const said = {
      call,
      lastSeq: about.lastSeq,
      epoch: about.epoch,
      tokens: about.tokens ?? 0,
      blocks: about.blocks ?? noBlocks,
      ...own,
    };
    const epoch = row.epochs.findLast((one) => one.epoch === said.epoch);
    return {
      ...rest,
      ...said,
      entries: this.#placesOf(place, call).map((entry) => this.#entry(entry)),
      fates: (fates === undefined ? undefined : pool.fates[fates]) ?? fatesInEpoch(epoch?.fates ?? [], said.lastSeq),
      ...(system !== undefined && { system: pool.systems[system] ?? "" }),
      tools: pool.tools[tools] ?? [],
    };
  }

  search(words: string): readonly ViewerHit[] {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const [first] = wanted;
    if (first === undefined) return [];
    const hits: ViewerHit[] = [];
    for (const [place, searched] of this.#searched().entries()) {
      const { message } = this.file.messages[place] as FileMessage;
      const lower = searched.text.toLowerCase();
      if (!wanted.every((word) => lower.includes(word))) continue;
      const { text, at } = shownText(searched, first);
      const excerpt = text
        .slice(Math.max(0, at - aroundMatch), at + first.length + aroundMatch)
        .replaceAll(/\s+/g, " ");
      hits.push({ sessionId: this.file.session.id, seq: message.seq, role: message.role, excerpt });
    }
    return hits;
  }

  #searched(): readonly Searched[] {
    if (this.#texts) return this.#texts;
    const texts = new SearchedTexts();
    return (this.#texts = this.file.messages.map(({ message: { parts } }) => texts.of(parts, partsText(parts))));
  }

  #range(from: number, to: number): readonly FileMessage[] {
    return this.file.messages.slice(Math.max(0, from - 1), Math.max(0, to));
  }

  #message(seq: number): FileMessage {
    const found = this.file.messages[seq - 1];
    if (found) return found;
    throw fault("not-found", `There is no message ${seq} here.`);
  }

  /** The entries of a window by their places in the pool, made from the nearest window before it that is kept. */
  #placesOf(row: number, call: number): readonly number[] {
    const { windows } = this.row(row);
    const kept = this.#keptOf(row);
    const start = Math.floor((call - 1) / keptEvery) * keptEvery;
    let places = kept.get(start) ?? [];
    for (let place = start; place < call; place += 1) {
      const window = windows[place];
      if (window) places = grown(places, window.keep, window.add);
    }
    return places;
  }

  /** The windows before every thirty-second one, by its place. */
  #keptOf(row: number): ReadonlyMap<number, readonly number[]> {
    const known = this.#windows.get(row);
    if (known) return known;
    const kept = new Map<number, readonly number[]>();
    let places: readonly number[] = [];
    this.row(row).windows.forEach((window, place) => {
      if (place % keptEvery === 0) kept.set(place, places);
      if (window) places = grown(places, window.keep, window.add);
    });
    this.#windows.set(row, kept);
    return kept;
  }

  #entry(place: number): WindowEntry {
    const known = this.#entries.get(place);
    if (known) return known;
    const packed = this.file.pool.entries[place];
    if (!packed) throw fault("store-corrupt", "The data of this file is damaged. Ask for the file again.");
    const entry = this.#unpacked(packed);
    this.#entries.set(place, entry);
    return entry;
  }

  #unpacked({ shown, origins, ...entry }: FileEntry): WindowEntry {
    const message = shown === undefined ? undefined : this.file.pool.shown[shown];
    if (!origins) return { ...entry, ...(message && { message }) };
    const lines = Array.from({ length: origins.length / 3 }, (_, index) => {
      const [line = 0, seq = 0, at = 0] = origins.slice(3 * index, 3 * index + 3);
      return { line, seq, at };
    });
    return { ...entry, ...(message && { message }), origins: lines };
  }
}

const noBlocks = { system: 0, tools: 0, pinned: 0, digest: 0, stubs: 0, history: 0, rest: 0 } as const;

/** The places of a window by those of the one before it. */
function grown(before: readonly number[], keep: number, add: readonly number[]): readonly number[] {
  const places = before.slice(0, keep);
  for (let index = 0; index < add.length; index += 2) {
    const [first = 0, count = 0] = add.slice(index, index + 2);
    for (let step = 0; step < count; step += 1) places.push(first + step);
  }
  return places;
}
