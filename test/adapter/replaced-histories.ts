/** A conversation whose host replaces its history again and again, and what recall answers for every id that a note names. */
import { randomUUID } from "node:crypto";

/** A reading of a file: what a call asked for, and what the tool answered. */
export interface Reading {
  readonly id: string;
  readonly path: string;
  readonly text: string;
}

/** One conversation of a host. */
export interface HostConversation {
  /** Sends a question and its readings; the text of the window, as the model would get it. */
  window(readings: readonly Reading[]): Promise<string>;
  /** What the recall tool answers. */
  recall(query: { readonly id?: string; readonly query?: string }): Promise<string>;
}

/** A host under test. */
export interface TestedHost {
  readonly name: string;
  /**
   * Begins a conversation.
   *
   * @param load - imports a module of the product by its path below `src/`, without the ending
   * @param store - a store's URL; the session in it is `id`, resumed where it is there
   */
  open(load: Load, store: string, id: string): Promise<HostConversation & { close(): Promise<void> }>;
}

/** Imports a module of the product. */
export type Load = <Module>(path: string) => Promise<Module>;

/** What files of one name held. */
export function readings(name: string, count: number): readonly Reading[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${name}-${at}`,
    path: `src/${name}${at}.txt`,
    text: `content of ${name}${at} here\n`.repeat(40),
  }));
}

/** What the notes of a window say about single files: the path and the id that should bring it back. */
export function notedPaths(window: string): readonly { readonly path: string; readonly id: string }[] {
  const lines = window.matchAll(/--- src\/([a-z]+\d+)\.txt \((m\d+)\)/g);
  return [...lines].map(([, path = "", id = ""]) => ({ path, id }));
}

/**
 * Lets a host replace its history, grow the new one, replace that, and go on after a resume.
 *
 * @param step - told what each window's notes name, and how many of them recall answered with something else
 */
export async function replaceHistories(
  host: TestedHost,
  load: Load,
  store: string,
  step: (noted: number, lies: readonly string[], when: string) => void,
): Promise<void> {
  const id = randomUUID();
  const check = async (conversation: HostConversation, given: readonly Reading[], when: string): Promise<void> => {
    const window = await conversation.window(given);
    const noted = notedPaths(window);
    const lies: string[] = [];
    for (const { path, id: place } of noted) {
      const answer = await conversation.recall({ id: place });
      const whole = answer.includes(`content of ${path} here`);
      if (!whole) lies.push(`the note says ${path} is ${place}; recall answers ${answer.slice(0, 80)}`);
    }
    step(noted.length, lies, when);
  };
  let conversation = await host.open(load, store, id);
  await check(conversation, readings("old", 12), "in the first history");
  await check(conversation, readings("new", 22), "after another history took its place");
  await check(conversation, readings("new", 30), "when that one has grown");
  await check(conversation, readings("third", 14), "after it was replaced again");
  await conversation.close();
  conversation = await host.open(load, store, id);
  await check(conversation, readings("new", 30), "after a resume");
  await conversation.close();
}
