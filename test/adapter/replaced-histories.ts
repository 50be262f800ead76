/** A conversation whose host replaces its history again and again, and what recall answers for every id that a note names. */
import { randomUUID } from "node:crypto";
import type { Message } from "windrow";
import type * as Managers from "windrow";
import { testedHosts } from "./hosts.ts";
import type { HostConversation, HostOptions, Load, TestedHost } from "./hosts.ts";

/** A reading of a file: what a call asked for, and what the tool answered. */
export interface Reading {
  readonly id: string;
  readonly path: string;
  readonly text: string;
}

/** What files of one name held. */
export function readings(name: string, count: number): readonly Reading[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${name}-${at}`,
    path: `src/${name}${at}.txt`,
    text: `content of ${name}${at} here\n`.repeat(40),
  }));
}

/** A question and its readings. */
export function readingMessages(given: readonly Reading[]): readonly Message[] {
  const timestamp = "2026-11-01T00:00:00.000Z";
  const parts = [{ type: "text", text: "Read them all." }] as const;
  return [
    { id: `ask-${given[0]?.id}`, timestamp, role: "user", parts },
    ...given.flatMap(({ id, path, text: content }): Message[] => {
      const call = { callId: id, name: "read" };
      return [
        { id: `a-${id}`, timestamp, role: "assistant", parts: [{ type: "tool-call", ...call, args: { path } }] },
        { id: `t-${id}`, timestamp, role: "tool", parts: [{ type: "tool-result", ...call, content }] },
      ];
    }),
  ];
}

/** The text of a window. */
export const textOf = (window: readonly object[]): string => JSON.stringify(window).replaceAll("\\n", "\n");

/** What the notes of a window say about single files: the path and the id that should bring it back. */
export function notedPaths(window: string): readonly { readonly path: string; readonly id: string }[] {
  const lines = window.matchAll(/--- src\/([a-z]+\d+)\.txt \((m\d+)\)/g);
  return [...lines].map(([, path = "", id = ""]) => ({ path, id }));
}

/** Hosts over a session, and those that work without one; several conversations come through some of these. */
export const hostings: readonly (readonly [name: string, host: TestedHost, isFree: boolean])[] = testedHosts.flatMap(
  (host) => [
    ...(host.profile === undefined ? [] : [[host.name, host, false] as const]),
    ...(host.isFree ? [[`${host.name} without a session`, host, true] as const] : []),
  ],
);

/**
 * Begins a conversation.
 *
 * @param store - a store's URL; the session in it is `id`, resumed where it is there
 */
export async function begin(
  [, host, isFree]: (typeof hostings)[number],
  load: Load,
  store: string,
  id: string = randomUUID(),
  options: HostOptions = {},
): Promise<HostConversation & { close(): Promise<void> }> {
  const budget = 3_000;
  if (isFree) return { ...(await host.open(load, { budget, ...options })), close: async () => undefined };
  const { SessionManager } = await load<typeof Managers>("session/manager/manager");
  const manager = await SessionManager.open({ store, budget, profile: host.profile! });
  const session = await manager.session(id).catch(() => manager.create({ id }));
  return { ...(await host.open(load, { session, ...options }, manager)), close: () => manager.close() };
}

/**
 * Lets a host replace its history, grow the new one, replace that, and go on after a resume.
 *
 * @param step - told what each window's notes name, and how many of them recall answered with something else
 */
export async function replaceHistories(
  hosting: (typeof hostings)[number],
  load: Load,
  store: string,
  step: (noted: number, lies: readonly string[], when: string) => void,
): Promise<void> {
  const id = randomUUID();
  const [, { isShared }, isFree] = hosting;
  const check = async (conversation: HostConversation, given: readonly Reading[], when: string): Promise<void> => {
    const noted = notedPaths(textOf(await conversation.send(readingMessages(given))));
    if (isFree && isShared) await conversation.send(readingMessages(readings("elsewhere", 19)), true);
    const lies: string[] = [];
    for (const { path, id: place } of noted) {
      const answer = await conversation.recall({ id: place });
      const whole = answer.includes(`content of ${path} here`);
      if (!whole) lies.push(`the note says ${path} is ${place}; recall answers ${answer.slice(0, 80)}`);
    }
    step(noted.length, lies, when);
  };
  let conversation = await begin(hosting, load, store, id);
  await check(conversation, readings("old", 12), "in the first history");
  await check(conversation, readings("new", 15), "after another history took its place");
  await check(conversation, readings("new", 19), "when that one has grown");
  await check(conversation, readings("third", 14), "after it was replaced again");
  await conversation.close();
  conversation = await begin(hosting, load, store, id);
  await check(conversation, readings("new", 19), "after a resume");
  await conversation.close();
}
