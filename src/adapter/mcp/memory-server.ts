/** The tools of a memory on an MCP server. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { MemoryFilter } from "../../memory/memory.ts";
import { defined } from "../../message/json.ts";
import { addTool, writes } from "./add-tool.ts";
import type { McpMemory } from "./memory.ts";

const statuses = ["completed", "failed", "timeout", "unfinished"] as const;

/** Registers `windrow_memory_search`, `windrow_memory_facts`, `windrow_memory_files`, and those that write where they may. */
export function addMemoryTools(server: McpServer, memory: McpMemory): void {
  addTool(
    server,
    "windrow_memory_search",
    "Finds what earlier sessions said about something, as passages in their own words: causes that were found, " +
      "decisions, what worked. Ask before you investigate what may be known already.",
    {
      query: z.string().min(1).describe("A question, words, a path, an error"),
      project: z.string().optional().describe("Only sessions whose task names this project"),
      status: z.enum(statuses).optional().describe("Only sessions that ended so"),
      since: z.iso.date().optional().describe("Only what was said on this day or later: 2026-01-31"),
      max_tokens: z.number().int().positive().optional().describe("Most tokens of the answer; 2000 without"),
    },
    ({ query, project, status, since, max_tokens: maxTokens }, signal) => {
      const where = defined({ project, status, since: since === undefined ? undefined : new Date(since) });
      return memory.search(query, maxTokens, where as MemoryFilter, signal);
    },
  );
  addTool(
    server,
    "windrow_memory_facts",
    "Lists facts that were read from sessions, each with its id and the message that says it.",
    {
      about: z.string().optional().describe("Words; without, the newest ones"),
      history: z.boolean().optional().describe("Also those that newer ones took the place of"),
    },
    ({ about, history }) => memory.facts(about, history),
  );
  addTool(
    server,
    "windrow_memory_files",
    "Lists the files that agents keep for later sessions, or shows one.",
    { path: z.string().optional().describe("A file or a folder below /memories") },
    ({ path }) => memory.files(path),
  );
  if (!memory.isWritable) return;
  addTool(
    server,
    "windrow_memory_remember",
    "Writes a note for later sessions: one fact, decision or preference that they will need.",
    {
      text: z.string().min(1).describe("One sentence that stands alone"),
      topic: z.string().optional().describe("What it is about, in a word or two"),
    },
    ({ text, topic }) => memory.remember(text, topic),
    writes,
  );
  addTool(
    server,
    "windrow_memory_correct",
    "Puts a text in the place of a fact; the old one stays as its history.",
    { id: z.string().describe("As windrow_memory_facts names it"), text: z.string().min(1) },
    ({ id, text }) => memory.correct(id, text),
    writes,
  );
  addTool(
    server,
    "windrow_memory_forget",
    "Takes a fact out for good, with its history. It cannot be undone.",
    { id: z.string().describe("As windrow_memory_facts names it") },
    ({ id }) => memory.forget(id),
    { ...writes, destructiveHint: true },
  );
}
