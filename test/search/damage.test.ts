/** An index whose files were torn, cut, zeroed or taken away: it is built anew, and answers as one that never was damaged. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { storeMemory } from "windrow/memory";
import { estimate } from "windrow/testing";
import { everybody, messageRecord, newSession, ramStore, stateOf } from "../kit/inside/store.ts";

const words = "heron stork login form crash staging database postgres redis deploy kettle violin".split(" ");
const questions = ["heron login", "violin kettle crash", "postgres redis deploy"];
const store = ramStore();
const base = mkdtempSync(join(tmpdir(), "windrow-damage-"));
const whole = join(base, "whole");

/** Numbers that look random and are the same in every run. */
let state = 7;
function below(most: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return (state >>> 8) % most;
}

async function answers(index?: string): Promise<readonly (readonly string[])[]> {
  const memory = storeMemory(store, index === undefined ? {} : { index });
  const all: string[][] = [];
  for (const text of questions) {
    const passages = await memory.query({ text, maxTokens: 200, counter: estimate });
    all.push(passages.map(({ sessionId, seq }) => `${sessionId} ${seq}`));
  }
  return all;
}

beforeAll(async () => {
  const manager = await SessionManager.open({ store, budget: 8_000 });
  for (let round = 0; round < 7; round++) {
    const session = await manager.create();
    for (let at = 0; at < 8; at++) await session.append(Array.from({ length: 6 }, () => words[below(12)]).join(" "));
    await session.finish("completed");
    // The last session is not in the index yet.
    if (round < 6) await answers(whole);
  }
});

afterAll(async () => {
  await store.close();
  rmSync(base, { recursive: true });
});

/** The damage that a power cut or a hand does to a file. */
const damages: Readonly<Record<string, (path: string, bytes: Buffer) => void>> = {
  "cut off": (path, bytes) => truncateSync(path, below(bytes.length)),
  "cut off behind a line": (path, bytes) => {
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 10);
    truncateSync(path, (ends[below(Math.max(1, ends.length))] ?? 0) + 1);
  },
  "taken away": (path) => rmSync(path),
  "a folder in its place": (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  "zeroed at its end": (path, bytes) => writeFileSync(path, bytes.fill(0, below(bytes.length))),
};

/** Changes in the table, whose lines have checksums. */
const changes: Readonly<Record<string, (path: string, bytes: Buffer) => void>> = {
  "another digit": (path, bytes) => {
    const digits = [...bytes.keys()].filter((at) => bytes[at]! >= 48 && bytes[at]! <= 57);
    bytes[digits[below(digits.length)]!] = 48 + below(10);
    writeFileSync(path, bytes);
  },
  "other bytes": (path, bytes) =>
    writeFileSync(
      path,
      bytes.map(() => below(256)),
    ),
  "a line of another hand": (path, bytes) => {
    const lines = ['{"reserved":1e15}', '{"session":"x","number":-5,"from":1,"count":9000000000}', "\0\0\0", "{{{"];
    writeFileSync(path, Buffer.concat([bytes, Buffer.from(`${lines[below(lines.length)]}\n`)]));
  },
};

it.each([...Object.keys(damages), ...Object.keys(changes)])("answers as ever: %s", { timeout: 60_000 }, async (how) => {
  const right = await answers();
  const postings = readdirSync(whole).filter((name) => name.endsWith(".postings"));
  for (let round = 0; round < 15; round++) {
    const folder = join(base, "damaged");
    cpSync(whole, folder, { recursive: true });
    const damage = damages[how];
    const names = damage ? ["sessions.jsonl", "facts", postings[below(postings.length)]!] : ["sessions.jsonl"];
    const name = names[round % names.length]!;
    const path = join(folder, name);
    (damage ?? changes[how])?.(path, readFileSync(path));
    expect(await answers(folder), name).toEqual(right);
    expect(await answers(folder), `${name}, asked again`).toEqual(right);
    rmSync(folder, { recursive: true });
  }
});

it("finds nothing of the logs that a memory keeps in the store", async () => {
  const lock = await store.create(everybody, newSession({ config: { purpose: "memory" } }));
  await store.append(lock, [messageRecord("a flamingo")]);
  await store.finish(lock, stateOf("completed"));
  expect(await storeMemory(store).query({ text: "flamingo", maxTokens: 200, counter: estimate })).toEqual([]);
});
