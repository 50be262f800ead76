/** Mastra's prompts in and out. */
import { describe, expect, it } from "vitest";
import { mastraAdapter, sessionIdOf } from "windrow/mastra";
import type { MastraMessage } from "windrow/mastra";
import { adapterConformance, register } from "windrow/testing";
import { readPrompt, systemText, writePrompt } from "../kit/inside/adapter.ts";
import { transcriptOf } from "./transcripts.ts";

const prompt = transcriptOf<MastraMessage>("mastra", "as Mastra writes it");
const takenApart = [{ name: "taken apart", messages: readPrompt(prompt).messages }];
register(adapterConformance(mastraAdapter, takenApart), { describe, it });

describe("a prompt", () => {
  it("is one message a result, without what only Mastra reads, and is put together again", () => {
    const { system, messages } = readPrompt(prompt);
    expect(systemText(system)).toBe("You fix builds.\nWorking memory: none.");
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    expect(JSON.stringify(messages)).not.toContain("mastra");
    expect(JSON.stringify(messages)).toContain("sig");
    const written = writePrompt({ system, messages });
    expect(written.map(({ role }) => role)).toEqual(prompt.map(({ role }) => role));
    expect(readPrompt(written)).toEqual({ system, messages });
    expect(readPrompt(readPrompt(prompt).system)).toEqual({ system, messages: [] });
  });

  it("is the same whenever Mastra made it", () => {
    const later = JSON.parse(JSON.stringify(prompt).replaceAll("createdAt", "at")) as typeof prompt;
    expect(readPrompt(later)).toEqual(readPrompt(prompt));
  });
});

describe("a thread", () => {
  it("has one session, whose id is a UUID that its name gives", () => {
    expect(sessionIdOf("user-7/thread-1")).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(sessionIdOf("a")).toBe(sessionIdOf("a"));
    expect(sessionIdOf("a")).not.toBe(sessionIdOf("b"));
  });
});
