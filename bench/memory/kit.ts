/** Conversations with questions, stores made of them, and generated text of words as frequent as in language. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { openStore } from "../../src/access/open.ts";
import type { Message, Role } from "../../src/message/message.ts";
import type { Embedder } from "../../src/model/model.ts";
import type { Store } from "../../src/store/store.ts";

/** A session of a conversation, and when it was held. */
export interface Held {
  readonly id: string;
  readonly day?: string;
  readonly messages: readonly { readonly role: Role; readonly text: string }[];
}

/** A question, and the messages that answer it: any of a group, all of the groups. */
export interface Question {
  readonly text: string;
  /** Places in a session, by `seq`. */
  readonly evidence: readonly { readonly id: string; readonly seq: number }[];
  /** Whether one of them is enough. */
  readonly isAny: boolean;
}

/** Sessions that are searched together, and questions about them. */
export interface Told {
  readonly sessions: readonly Held[];
  readonly questions: readonly Question[];
}

const open = "../shared/data/open/";

/** LoCoMo: each conversation by itself, with the messages that its authors name as evidence. */
export function locomo(): readonly Told[] | undefined {
  const file = `${open}locomo/conversations.jsonl.gz`;
  if (!existsSync(file)) return undefined;
  interface Conversation {
    readonly messages: readonly { id: string; role: "user" | "assistant"; speaker: string; content: string }[];
    readonly questions: readonly { readonly q: string; readonly evidence: readonly string[] }[];
  }
  const lines = gunzipSync(readFileSync(file)).toString().trim().split("\n");
  return lines.map((line) => {
    const { messages, questions } = JSON.parse(line) as Conversation;
    const id = randomUUID();
    const places = new Map(messages.map((message, at) => [message.id, at + 1]));
    return {
      sessions: [
        { id, messages: messages.map(({ role, speaker, content }) => ({ role, text: `${speaker}: ${content}` })) },
      ],
      questions: questions.map(({ q, evidence }) => ({
        text: q,
        evidence: evidence.flatMap((name) => (places.has(name) ? [{ id, seq: places.get(name)! }] : [])),
        isAny: false,
      })),
    };
  });
}

/**
 * MemoryBank: the fifteen people's days together, a session a day. Its questions name no evidence; those that name a day
 * have it by that: one message of the day that the asker spoke is enough. The messages themselves name no day.
 */
export function memoryBank(language: "en" | "cn"): Told | undefined {
  const folder = `${open}memorybank/`;
  if (!existsSync(folder)) return undefined;
  type History = Readonly<Record<string, readonly { readonly query: string; readonly response: string }[]>>;
  const people = Object.values(
    JSON.parse(gunzipSync(readFileSync(`${folder}memory_bank_${language}.json.gz`)).toString()) as Readonly<
      Record<string, { readonly history: History }>
    >,
  );
  const asked = readFileSync(`${folder}probing_questions_${language}.jsonl`, "utf8").trim().split("\n");
  const sessions: Held[] = [];
  const questions: Question[] = [];
  for (const [place, { history }] of people.entries()) {
    const days = Object.entries(history).map(([day, talk]) => ({
      id: randomUUID(),
      day,
      messages: talk.flatMap(({ query, response }) => [
        { role: "user" as const, text: query },
        { role: "assistant" as const, text: response },
      ]),
    }));
    sessions.push(...days);
    for (const text of Object.values(
      JSON.parse(asked[place] ?? "{}") as Readonly<Record<string, readonly string[]>>,
    ).flat()) {
      const named = dayOf(text);
      const held = days.find(({ day }) => named !== undefined && day.endsWith(named));
      if (!held) continue;
      questions.push({ text, evidence: held.messages.map((_, at) => ({ id: held.id, seq: at + 1 })), isAny: true });
    }
  }
  return { sessions, questions };
}

/** The day that a question names, as `05-02`. */
function dayOf(text: string): string | undefined {
  const [, month, day] = /(\d{1,2})月(\d{1,2})[日号]/.exec(text) ?? [];
  const [, name, number] = /\b(April|May)\s+(\d{1,2})/.exec(text) ?? [];
  const of = name === undefined ? month : name === "April" ? "4" : "5";
  const at = number ?? day;
  return of === undefined || at === undefined ? undefined : `${of.padStart(2, "0")}-${at.padStart(2, "0")}`;
}

/** The sentence model that `npm run test:interop energetic` installs, each text embedded once; undefined without it. */
export async function sentenceModel(): Promise<Embedder | undefined> {
  const folder = resolve("interop/energetic");
  if (!existsSync(`${folder}/node_modules/@energetic-ai/embeddings`)) return undefined;
  const { energeticEmbedder } = (await import(pathToFileURL(`${folder}/embedder.mjs`).href)) as {
    readonly energeticEmbedder: () => Promise<Embedder>;
  };
  const embed = await energeticEmbedder();
  const known = new Map<string, readonly number[]>();
  return async (texts) => {
    const fresh = [...new Set(texts.filter((text) => !known.has(text)))];
    const { vectors } = fresh.length > 0 ? await embed(fresh) : { vectors: [] };
    for (const [place, text] of fresh.entries()) known.set(text, vectors[place] ?? []);
    return { vectors: texts.map((text) => known.get(text) ?? []), usage: {} };
  };
}

/** A store in memory that holds these sessions, ended. */
export async function storeOf(sessions: readonly Held[], target = "ram:"): Promise<Store> {
  const store = await openStore(target, target === "ram:" ? {} : { durability: "group" });
  for (const held of sessions) await writeSession(store, held);
  return store;
}

/** Writes a session and ends it. */
export async function writeSession(
  store: Store,
  { id, day = "2024-01-15", messages }: Held,
  given: readonly Message[] = messages.map(({ role, text }, at) => ({
    id: `m${at + 1}`,
    role,
    parts: [{ type: "text" as const, text }],
  })),
  status: "completed" | "failed" = "completed",
): Promise<void> {
  const timestamp = `${day}T12:00:00.000Z`;
  const lock = await store.create({}, { uuid: id, taskKey: {}, config: {}, createdAt: timestamp });
  await store.append(
    lock,
    given.map((message) => ({ kind: "message", message, tokenCount: 1, timestamp })),
  );
  const { state } = await store.info({}, id);
  await store.finish(lock, { ...state, status, completedAt: timestamp });
}

/** Numbers from 0 to 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const functionWords = (
  "the of and to a in is it you that he was for on are with as his they at be this from have or by had not but what all " +
  "were when we there can an your which their if do will each how them then many some so these would has two could than " +
  "been who its now did my no"
).split(" ");
const syllables = "ba ce di fo gu ha je ki lo mu na pe qi ro su ta ve wi xo yu".split(" ");

/** A word of generated language: the n-th most frequent is n times as rare as the first, which join others. */
export function wordOf(random: () => number): string {
  const rank = Math.floor(Math.exp(random() * Math.log(50_000)));
  const joining = functionWords[rank - 1];
  if (joining !== undefined) return joining;
  let word = "";
  for (let left = rank + 400; left > 0; left = Math.floor(left / 20)) word += syllables[left % 20];
  return word;
}

/** Generated words. */
export function wordsOf(random: () => number, count: number): string {
  return Array.from({ length: count }, () => wordOf(random)).join(" ");
}

/** The mean of shares in per cent, with one digit. */
export function percent(shares: readonly number[]): number {
  return Number(((100 * shares.reduce((sum, share) => sum + share, 0)) / Math.max(1, shares.length)).toFixed(1));
}
