/** A generated conversation for hosts: tasks, parallel calls, errors, reasoning, images and fields that nobody knows. */
import { createHash } from "node:crypto";
import type { Message, Part, ToolCallPart } from "../../src/message/message.ts";

/** A generator of numbers from 0 to 1: the same ones every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const picture = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
const tools = ["read", "run", "search"] as const;

/** One call of a model: what was said since the last one, and what it answers. */
export interface Step {
  /** The user's words, or results; one message for each result. */
  readonly before: readonly Message[];
  readonly answer: Message;
}

/** A conversation of so many steps. */
export function conversation(steps: number, seed = 7): readonly Step[] {
  const random = seeded(seed);
  const lines = (name: string): string => {
    const count = 6 + Math.floor(random() * 60);
    return Array.from({ length: count }, (_, line) => `${name}:${line} value ${Math.floor(random() * 1e6)}`).join("\n");
  };
  const made: Step[] = [];
  let open: readonly ToolCallPart[] = [];
  for (let at = 0; at < steps; at++) {
    const asks: readonly Part[] = [
      { type: "text", text: `Task ${at}: find why src/part${at % 9}.ts is slow, and say so in one line.` },
      ...(at % 16 === 8 ? [picture] : []),
    ];
    const before =
      open.length === 0 ? [messageOf(`u${at}`, "user", asks)] : open.map((call, place) => answered(call, place, at));
    const ends = at % 8 === 7;
    const count = ends ? 0 : 1 + (at % 3 === 1 ? 2 : 0);
    open = Array.from({ length: count }, (_, place): ToolCallPart => {
      const name = tools[(at + place) % tools.length] ?? "read";
      return { type: "tool-call", callId: `call_${at}_${place}`, name, args: { path: `src/part${at % 9}.ts`, at } };
    });
    const text = ends ? `It was the loop of part${at % 9}.` : at % 4 === 0 ? `I look at part${at % 9}.` : "";
    const spoken: readonly Part[] = text === "" ? [] : [{ type: "text", text }];
    made.push({ before, answer: messageOf(`a${at}`, "assistant", [...spoken, ...open]) });
  }
  return made;

  function answered({ callId, name }: ToolCallPart, place: number, at: number): Message {
    const failed = at % 7 === 3 && place === 0;
    const text = failed ? `Error: ENOENT src/part${at % 9}.ts` : lines(`part${at % 9}`);
    const shown = at % 11 === 5 ? [{ type: "text", text } as const, picture] : text;
    const result = { type: "tool-result", callId, name, content: shown, ...(failed && { isError: true }) } as const;
    return messageOf(`t${at}_${place}`, "tool", [result]);
  }
}

function messageOf(id: string, role: Message["role"], parts: readonly Part[]): Message {
  return { id, role, parts, timestamp: "2026-01-05T00:00:00.000Z" };
}

/** The calls of an answer. */
export function callsOf({ parts }: Message): readonly ToolCallPart[] {
  return parts.filter((part) => part.type === "tool-call");
}

/** The ids that a session makes: others in every run. */
const ids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** A SHA-256 of what was seen, one thing after another. */
export class Seen {
  readonly #hash = createHash("sha256");
  add(value: unknown): void {
    this.#hash.update(`${String(JSON.stringify(value)).replaceAll(ids, "id")}\n`);
  }

  /** Its first 16 hexadecimal digits. */
  get hash(): string {
    return this.#hash.copy().digest("hex").slice(0, 16);
  }
}

/** A hash of one value. */
export function hashOf(value: unknown): string {
  const seen = new Seen();
  seen.add(value);
  return seen.hash;
}
