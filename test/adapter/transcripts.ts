/** Every adapter of messages, and conversations as its host records them: all that its messages can hold. */
import { readFileSync } from "node:fs";
import type { Message } from "windrow";
import type { Adapter } from "windrow/adapter";
import { aiSdkAdapter } from "windrow/ai-sdk";
import { anthropicAdapter } from "windrow/anthropic";
import { chatAdapter } from "windrow/chat";
import { geminiAdapter } from "windrow/gemini";
import { genkitAdapter } from "windrow/genkit";
import { langchainAdapter } from "windrow/langchain";
import { mastraAdapter } from "windrow/mastra";
import { openaiAgentsAdapter } from "windrow/openai-agents";
import { piAdapter } from "windrow/pi";
import { responsesAdapter } from "windrow/responses";
import type { HostTranscript } from "windrow/testing";

const named = {
  "ai-sdk": aiSdkAdapter,
  "anthropic": anthropicAdapter,
  "gemini": geminiAdapter,
  "genkit": genkitAdapter,
  "langchain": langchainAdapter,
  "mastra": mastraAdapter,
  "openai-agents": openaiAgentsAdapter,
  "openai-chat": chatAdapter,
  "pi": piAdapter,
  "responses": responsesAdapter,
};
export const adapters = Object.entries(named as object) as [string, Adapter<object>][];

/** The conversations of fixtures/, by their host. */
export function transcriptsOf<Host = object>(name: keyof typeof named): readonly HostTranscript<Host>[] {
  const path = new URL(`fixtures/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as readonly HostTranscript<Host>[];
}

/** The messages of one of them. */
export function transcriptOf<Host>(name: keyof typeof named, transcript: string): readonly Host[] {
  return transcriptsOf<Host>(name).find((one) => one.name === transcript)!.messages;
}

/** A task and so many readings of files, each answered at length. */
export function longRun(steps: number): readonly Message[] {
  const timestamp = "2026-11-01T00:00:00.000Z";
  const parts = [{ type: "text", text: "Find where the window is composed." }] as const;
  const read = Array.from({ length: steps }, (_, at): readonly Message[] => {
    const call = { callId: `c${at}`, name: "read" };
    const content = `line of ${at}: export const value = compute(${at});\n`.repeat(30);
    return [
      {
        ...{ id: `a${at}`, timestamp, role: "assistant" },
        parts: [{ type: "tool-call", ...call, args: { path: `src/${at % 4}.ts` } }],
      },
      { id: `t${at}`, timestamp, role: "tool", parts: [{ type: "tool-result", ...call, content }] },
    ];
  });
  return [{ id: "u", timestamp, role: "user", parts }, ...read.flat()];
}
