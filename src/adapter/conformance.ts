/**
 * The contract of an adapter as cases that any test runner can run. Give your adapter and recorded messages of its host to
 * {@link adapterConformance} and register the cases.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { ConformanceCase } from "../conformance.ts";
import { isWindrowError } from "../errors.ts";
import type { Message, Part } from "../message/message.ts";
import { checkMessage } from "../message/schema.ts";
import { composeWindow } from "../window/compose.ts";
import { anthropic, openaiChat } from "../window/provider/profile.ts";
import type { Profile } from "../window/provider/profile.ts";
import { validateWindow } from "../window/provider/validate.ts";
import type { Adapter } from "./adapter.ts";

/** A conversation as its host holds it. */
export interface HostTranscript<Host> {
  readonly name: string;
  readonly messages: readonly Host[];
}

/** Tokens of the windows that are composed of each transcript. */
const budgets = [400, 2_000, 16_000];

const stubText = "[Windrow: an excerpt; the whole is m1]";

/**
 * The cases for one adapter.
 *
 * @param transcripts - as the host records them, with all that its messages can hold; plain JSON
 */
export function adapterConformance<Host>(
  adapter: Adapter<Host>,
  transcripts: readonly HostTranscript<Host>[],
): readonly ConformanceCase[] {
  const group = `adapter ${adapter.name}`;
  const cases: readonly (readonly [name: string, run: (host: readonly Host[]) => void])[] = [
    ["gives the host its own messages back", (host) => givesBack(adapter, host)],
    ["gives them back after a way through a store", (host) => survivesStore(adapter, host)],
    ["reads one message a host message, with an id of its own", (host) => readsEach(adapter, host)],
    ["reads a grown array as the same messages and more", (host) => grows(adapter, host)],
    ["keeps calls, ids and other fields where results are edited", (host) => keepsPairs(adapter, host)],
    ["writes windows that read back without a fault", (host) => writesWindows(adapter, host)],
    ["refuses what is no message, with its place", (host) => refuses(adapter, host)],
  ];
  return transcripts.flatMap((transcript) =>
    cases.map(([name, run]) => ({
      group,
      name: `${name}: ${transcript.name}`,
      run: async () => {
        const before = structuredClone(transcript.messages);
        const instance = before.findIndex((message, place) => !isDeepStrictEqual(message, transcript.messages[place]));
        assert.equal(instance, -1, `message ${instance} is no plain JSON: give what JSON says of it`);
        run(deepFreeze(structuredClone(transcript.messages)));
        assert.deepEqual(transcript.messages, before, "the host's messages were changed");
      },
    })),
  );
}

function givesBack<Host>(adapter: Adapter<Host>, host: readonly Host[]): void {
  const back = adapter.encode(adapter.decode(host));
  assert.deepEqual(back, host);
  back.forEach((message, index) => assert.equal(message, host[index], `message ${index} is not the host's own object`));
}

function survivesStore<Host>(adapter: Adapter<Host>, host: readonly Host[]): void {
  assert.deepEqual(adapter.encode(stored(adapter.decode(host))), host);
}

function readsEach<Host>(adapter: Adapter<Host>, host: readonly Host[]): void {
  const messages = adapter.decode(host);
  assert.equal(messages.length, host.length);
  assert.equal(new Set(messages.map((message) => message.id)).size, messages.length, "an id stands twice");
  for (const message of messages) assert.deepEqual(checkMessage(message), message);
}

function grows<Host>(adapter: Adapter<Host>, host: readonly Host[]): void {
  const whole = adapter.decode(host);
  assert.deepEqual(adapter.decode(host), whole, "the same array gives other messages");
  for (let length = 0; length < host.length; length++) {
    assert.deepEqual(adapter.decode(host.slice(0, length)), whole.slice(0, length), `the first ${length}`);
  }
}

function keepsPairs<Host>(adapter: Adapter<Host>, host: readonly Host[]): void {
  const messages = adapter.decode(host);
  const edited = messages.map((message): Message => ({ ...message, parts: message.parts.map(stubbed) }));
  const written = adapter.encode(stored(edited));
  const back = adapter.decode(written);
  assert.deepEqual(pairs(back), pairs(messages), "a call or result has another id");
  const changed = back.flatMap((message) => message.parts).filter((part) => part.type === "tool-result");
  for (const result of changed) assert.equal(result.content, stubText);
  messages.forEach((message, index) => {
    const allowed = message.parts.some((part) => part.type === "tool-result") ? 1 : 0;
    const differing = differences(written[index], host[index]);
    assert(differing.length <= allowed, `message ${index} is not the host's in ${differing.join(", ")}`);
  });
}

function writesWindows<Host>(adapter: Adapter<Host>, host: readonly Host[]): void {
  const messages = adapter.decode(host);
  for (const profile of [anthropic, openaiChat]) {
    for (const budget of budgets) {
      const window = compose(messages, profile, budget);
      if (!window) continue;
      const frozen = deepFreeze(structuredClone(window));
      for (const written of [window, frozen]) {
        const back = adapter.decode(adapter.encode(written));
        const faults = validateWindow(back, { ...profile, rules: { ...profile.rules, systemFirst: false } });
        assert.deepEqual(faults, [], `${profile.name} at ${budget}`);
        assert.deepEqual(joints(back), joints(written), `${profile.name} at ${budget}`);
      }
    }
  }
}

function refuses<Host>(adapter: Adapter<Host>, host: readonly Host[]): void {
  for (const value of [null, undefined, 42, "text", true, []]) {
    assert.throws(
      () => adapter.decode([...host, value as Host]),
      (error) => isWindrowError(error, "bad-message") && error.data["index"] === host.length,
      `took ${JSON.stringify(value)} for a message`,
    );
  }
}

function compose(messages: readonly Message[], profile: Profile, budget: number): readonly Message[] | undefined {
  try {
    return composeWindow({ messages, profile, budget }).messages;
  } catch (error) {
    assert(isWindrowError(error, "over-budget") || isWindrowError(error, "budget-too-small"), String(error));
    return undefined;
  }
}

/** The calls and results of a history by id, in order. */
function pairs(messages: readonly Message[]): readonly string[] {
  const parts = messages.flatMap((message) => message.parts);
  return parts.flatMap((part) => ("callId" in part ? [`${part.type} ${part.callId}`] : []));
}

/** Which results answer which calls, by their order: hosts without ids count anew in every window. */
function joints(messages: readonly Message[]): readonly string[] {
  const order = new Map<string, number>();
  return messages
    .flatMap((message) => message.parts)
    .flatMap((part) => {
      if (!("callId" in part)) return [];
      const place = order.get(part.callId) ?? order.size;
      order.set(part.callId, place);
      return [`${part.type} ${place}`];
    })
    .toSorted();
}

/** The fields in which two of the host's messages differ. */
function differences(left: unknown, right: unknown): readonly string[] {
  const [one, other] = [left, right].map((message) => (message ?? {}) as Readonly<Record<string, unknown>>);
  const keys = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  return [...keys].filter((key) => !isDeepStrictEqual(one?.[key], other?.[key]));
}

function stubbed(part: Part): Part {
  return part.type === "tool-result" ? { ...part, content: stubText } : part;
}

function stored<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
