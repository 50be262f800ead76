/** Hashes of turns: by them a turn that a client sends back is known, whatever its client did to its white space. */
import { hash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { WireApi, WireMessage } from "../gateway.ts";
import type { Spoken } from "../../shape/shape.ts";
import { hashJson } from "../wire/hash.ts";
import type { SaidTurn } from "./shape.ts";

/** The facts of a turn by its words, its calls and the signatures of its reasoning. */
export function saidTurn({ text, calls }: Spoken, ids: readonly string[], seals: readonly string[]): SaidTurn {
  const said = hashJson([text.replaceAll(/\s+/g, ""), [...calls]]);
  const traces = [
    ...ids.map((id) => `c:${id}`),
    ...seals.map((seal) => `s:${hash("sha256", seal, "hex").slice(0, 32)}`),
  ];
  return { said, traces, isSigned: seals.length > 0 };
}

const plain = new WeakMap<JsonObject, string>();

/** The hash of a message without reasoning, which some clients leave out when they send it again. */
function plainHash(api: WireApi, { value, hash: whole }: WireMessage): string {
  const known = plain.get(value);
  if (known !== undefined) return known;
  const rest = api.withoutReasoning(value);
  const found = rest === value ? whole : hashJson(rest);
  plain.set(value, found);
  return found;
}

/** Hashes of what stands before each message; the last one is of all messages. */
export function places(api: WireApi, messages: readonly WireMessage[]): readonly string[] {
  const found = [""];
  for (const message of messages) {
    const isBare = isNothing(api.withoutReasoning(message.value));
    const before = found.at(-1) ?? "";
    found.push(isBare ? before : hash("sha256", `${before}\n${plainHash(api, message)}`, "hex"));
  }
  return found;
}

function isNothing(value: JsonValue): boolean {
  return Object.keys(value as JsonObject).length === 0;
}

/** The trace of a turn by the place where it stands. */
export function placeTrace(before: string, said: string): string {
  return `p:${hash("sha256", `${before}\n${said}`, "hex").slice(0, 40)}`;
}
