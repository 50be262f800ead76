/** Sessions that a transcript becomes when an agent lives it: a window before every answer, each remembered by its hash. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { SessionManager } from "windrow";
import type { ManagerOptions, Message } from "windrow";
import { readTranscripts } from "windrow/transcript";
import type { Transcript } from "./inside/transcript.ts";
import { cutParts, windowText } from "./inside/viewer.ts";

/** A session, and the hash of the text of each window that `compose` returned. */
export interface LiveSession {
  readonly id: string;
  readonly windows: readonly string[];
}

/** The SHA-256 of a window's text. */
export function textHash(messages: readonly Message[]): string {
  const shown = messages.map((message) => ({ ...message, ...cutParts(0, message.parts, Infinity) }));
  return createHash("sha256").update(windowText(shown)).digest("hex");
}

/** Lives a transcript in a store, named by its folder. */
export async function liveSession(
  store: string,
  messages: readonly Message[],
  options: Omit<ManagerOptions, "store"> = {},
  taskKey: Readonly<Record<string, string>> = {},
): Promise<LiveSession> {
  const manager = await SessionManager.open({ ...options, store });
  const session = await manager.create({ taskKey });
  const windows: string[] = [];
  const first = messages.findIndex(({ role }) => role !== "system");
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant" && index > first) {
      const { messages: sent, tokens } = await session.compose();
      windows.push(textHash(sent));
      await session.append(message);
      await session.endStep({ usage: { input: tokens, output: 10 }, model: "claude-sonnet-4-5" });
    } else await session.append(message);
  }
  // Closed, and not finished: it stays where it is.
  await manager.close();
  return { id: session.id, windows };
}

/** The first transcript of a file that one asks for; undefined, with a word about it, where the file is not there. */
export async function transcriptOf(
  file: string,
  wanted: (transcript: Transcript) => boolean = () => true,
): Promise<Transcript | undefined> {
  if (!existsSync(file)) {
    console.warn(`left out: ${file} is not there`);
    return undefined;
  }
  return (await readTranscripts(file)).find(wanted);
}
