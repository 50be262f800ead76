/** Sessions whose every window is remembered as it was composed, to compare with what a source makes again. */
import assert from "node:assert/strict";
import type { ManagerOptions, Message, Session, Store } from "windrow";
import { openStore } from "windrow/store";
import type { Mask } from "windrow/store";
import { storedSource } from "windrow/viewer";
import type { LiveEvent, ViewerMessage, ViewerSource, ViewerWindow } from "windrow/viewer";
import type { SessionComposeOptions } from "../kit/inside/session.ts";
import { newFolder, openManager } from "../kit/sessions.ts";
import { cutParts, windowMessages, windowText } from "../kit/inside/viewer.ts";

/** A store, a manager over it that is closed when the test ends, and the page's source; in a folder of its own if not named. */
export async function opened(options: Partial<ManagerOptions> = {}, where?: string, mask?: Mask) {
  const store = await openStore(where ?? (await newFolder()), mask && { mask });
  const manager = await openManager({ budget: 4_000, ...options, store });
  return { store, manager, source: storedSource(store, {}) };
}

/** Follows a session by a clock of the test's; `next` has the source look again, and is what it tells then. */
export function followed(store: Store, id: string) {
  let look = (): void => undefined;
  let told: (event: LiveEvent) => void = () => undefined;
  const clock = { now: () => 0, every: (_: number, work: () => void) => ((look = work), () => undefined) };
  const left = new AbortController();
  const events: LiveEvent[] = [];
  const heard = (): Promise<LiveEvent> => new Promise((resolve) => (told = resolve));
  const first = heard();
  const source = storedSource(store, {}, { clock });
  const ended = source.follow(id, (event) => (events.push(event), told(event)), left.signal);
  const next = (): Promise<LiveEvent> => {
    const event = heard();
    look();
    return event;
  };
  return { first, next, events, stop: () => (left.abort(), ended) };
}

/** A window as it was returned. */
export interface Composed {
  readonly messages: readonly Message[];
  readonly tokens: number;
}

/** Composes, ends the step, and remembers the window. */
export async function call(
  session: Session,
  seen: Composed[],
  options: SessionComposeOptions = {},
): Promise<readonly Message[]> {
  const { messages, tokens } = await session.compose(options);
  // Taken as JSON: what the session goes on with is its own.
  seen.push({ messages: JSON.parse(JSON.stringify(messages)) as readonly Message[], tokens });
  await session.endStep({ usage: { input: tokens, output: 10 }, model: "a-model" });
  return messages;
}

/** Appends messages, with a call before each answer. */
export async function talk(
  session: Session,
  seen: Composed[],
  messages: readonly Message[],
  options: SessionComposeOptions = { system: "You mend code." },
): Promise<void> {
  for (const message of messages) {
    if (message.role === "assistant") await call(session, seen, options);
    await session.append(message);
  }
}

/** The messages of a rebuilt window, each whole; `logged` remembers those of the log. */
export async function wholeWindow(
  source: ViewerSource,
  id: string,
  { entries }: ViewerWindow,
  logged: Map<number, ViewerMessage>,
): Promise<readonly ViewerMessage[]> {
  for (const { seq, message } of entries) {
    if (message || logged.has(seq)) continue;
    for (const one of await source.messages(id, seq, seq + 63)) {
      if (!logged.has(one.seq)) logged.set(one.seq, await whole(source, id, one));
    }
  }
  return windowMessages(entries, (seq) => logged.get(seq));
}

async function whole(source: ViewerSource, id: string, message: ViewerMessage): Promise<ViewerMessage> {
  const parts = [...message.parts];
  for (const [place, length] of Object.entries(message.cut ?? {})) {
    const text = await source.text(id, message.seq, place, 0, length);
    assert.equal(text.length, length);
    const [part = "", piece] = place.split(".");
    const found = parts[Number(part)];
    if (found?.type === "text" || found?.type === "reasoning") parts[Number(part)] = { ...found, text };
    else if (found?.type === "tool-call") parts[Number(part)] = { ...found, args: {}, argsText: text };
    else if (found?.type === "tool-result" && typeof found.content === "string")
      parts[Number(part)] = { ...found, content: text };
    else if (found?.type === "tool-result" && typeof found.content !== "string") {
      const content = found.content.map((one, at) =>
        at === Number(piece) && one.type === "text" ? { ...one, text } : one,
      );
      parts[Number(part)] = { ...found, content };
    }
  }
  return { ...message, parts };
}

/** Asserts that every call's window is made again as it was, and is verified; returns how many there are. */
export async function assertWindows(source: ViewerSource, id: string, seen: readonly Composed[]): Promise<number> {
  const { total } = await source.calls(id, 1, 1);
  assert.equal(total, seen.length);
  const logged = new Map<number, ViewerMessage>();
  for (const [index, { messages, tokens }] of seen.entries()) {
    const window = await source.window(id, index + 1);
    const at = `call ${index + 1}`;
    assert.deepEqual(window.verified.problem, undefined, at);
    assert.equal(window.verified.isVerified, true, at);
    assert.equal(window.verified.remark, undefined, at);
    assert.equal(window.tokens, tokens, at);
    const { system, tools, pinned, digest, stubs, history, rest } = window.blocks;
    assert.equal(system + tools + pinned + digest + stubs + history + rest, tokens, at);
    const expected = messages.map((message) => ({ ...message, parts: cutParts(0, message.parts, Infinity).parts }));
    assert.equal(windowText(await wholeWindow(source, id, window, logged)), windowText(expected), at);
  }
  return total;
}
