/** Every command by name, with the line about it in the help; its file is loaded only where it is needed. */
import type { AddCommand } from "./command.ts";

/** A command of the program. */
export interface CatalogueEntry {
  readonly name: string;
  /** The line about it in the program's help and in completions. */
  readonly summary: string;
  /** Loads its file. */
  readonly load: () => Promise<AddCommand>;
}

/** The commands in the order of the help. */
export const catalogue: readonly CatalogueEntry[] = [
  {
    name: "init",
    summary: "write an agent that survives its process into a project, for the host it has; runs without a key",
    load: async () => (await import("./commands/init.ts")).addInit,
  },
  {
    name: "usage",
    summary: "what coding agents used on this machine, by day, project and model: tokens, cache, money",
    load: async () => (await import("./usage/usage.ts")).addUsage,
  },
  {
    name: "advise",
    summary: "which budget pays: recorded sessions at each, their cost, and what stays in view",
    load: async () => (await import("./replay/advise.ts")).addAdvise,
  },
  {
    name: "replay",
    summary: "run recorded agent sessions through strategies, and compare tokens, cost and what was lost",
    load: async () => (await import("./replay/replay.ts")).addReplay,
  },
  {
    name: "compose",
    summary: "the window for the next call of a transcript or a session, and why it is as it is",
    load: async () => (await import("./commands/compose.ts")).addCompose,
  },
  {
    name: "view",
    summary: "show a session: what it is, its messages, tools, epochs, and the window of its next call",
    load: async () => (await import("./commands/view.ts")).addView,
  },
  {
    name: "serve",
    summary: "a page in the browser: the window of every call, what became of each message, live",
    load: async () => (await import("./commands/serve.ts")).addServe,
  },
  {
    name: "gateway",
    summary: "a server between any agent and its provider: what passes is kept, and composed where a budget is given",
    load: async () => (await import("./commands/gateway.ts")).addGateway,
  },
  {
    name: "stats",
    summary: "how many sessions, what they take on disk, how they went, by user",
    load: async () => (await import("./commands/stats.ts")).addStats,
  },
  {
    name: "logs",
    summary: "what sessions did, line by line",
    load: async () => (await import("./commands/logs.ts")).addLogs,
  },
  {
    name: "top",
    summary: "the sessions that are running: who holds them, calls, tokens, last activity",
    load: async () => (await import("./commands/top.ts")).addTop,
  },
  {
    name: "search",
    summary: "full text over all sessions, and whether a hit is still in its window",
    load: async () => (await import("./commands/search.ts")).addSearch,
  },
  {
    name: "similar",
    summary: "find past sessions like a task: how they ended, what they did, what mended their errors",
    load: async () => (await import("./commands/similar.ts")).addSimilar,
  },
  {
    name: "recall",
    summary: "print a session's messages by id, by words or by path, as its recall tool answers",
    load: async () => (await import("./commands/recall.ts")).addRecall,
  },
  {
    name: "memory",
    summary: "facts and files that outlive sessions: list, show, correct, forget",
    load: async () => (await import("./commands/memory.ts")).addMemory,
  },
  {
    name: "copy",
    summary: "copy sessions between two stores, and check every line of the copy",
    load: async () => (await import("./commands/copy.ts")).addCopy,
  },
  {
    name: "backup",
    summary: "back up sessions into a folder, seven generations deep",
    load: async () => (await import("./commands/backup.ts")).addBackup,
  },
  {
    name: "restore",
    summary: "bring sessions of a backup into a store",
    load: async () => (await import("./commands/restore.ts")).addRestore,
  },
  {
    name: "export",
    summary: "write a session as a file: Windrow's, OpenAI chat, Claude Code, Codex, pi, Gemini CLI",
    load: async () => (await import("./commands/export.ts")).addExport,
  },
  {
    name: "import",
    summary: "bring sessions of other agents, or exported ones, into a store",
    load: async () => (await import("./commands/import.ts")).addImport,
  },
  {
    name: "mcp",
    summary: "serve recall, search, pins and stats to agents that speak MCP",
    load: async () => (await import("./commands/mcp.ts")).addMcp,
  },
  {
    name: "monitor",
    summary: "end sessions whose process died or whose time is up; tell of what is over its limit",
    load: async () => (await import("./commands/monitor.ts")).addMonitor,
  },
  {
    name: "doctor",
    summary: "say what is wrong with a store, and mend it",
    load: async () => (await import("./commands/doctor.ts")).addDoctor,
  },
  {
    name: "scan",
    summary: "find secrets that lie in clear in a store",
    load: async () => (await import("./commands/scan.ts")).addScan,
  },
  {
    name: "compact",
    summary: "summarise a session's older messages now",
    load: async () => (await import("./commands/compact.ts")).addCompact,
  },
  {
    name: "unlock",
    summary: "free a session that another process holds",
    load: async () => (await import("./commands/unlock.ts")).addUnlock,
  },
  {
    name: "finish",
    summary: "end a session that its program left open",
    load: async () => (await import("./commands/finish.ts")).addFinish,
  },
  {
    name: "cleanup",
    summary: "compress old sessions; with --yes put older ones into the trash",
    load: async () => (await import("./commands/cleanup.ts")).addCleanup,
  },
  {
    name: "keep",
    summary: "mark a session so that no clean-up touches it",
    load: async () => (await import("./commands/keep.ts")).addKeep,
  },
  {
    name: "unkeep",
    summary: "take the mark of keep away",
    load: async () => (await import("./commands/keep.ts")).addKeep,
  },
  {
    name: "archive",
    summary: "put finished sessions into an archive, or compress them; --undo brings them back, also from the trash",
    load: async () => (await import("./commands/archive.ts")).addArchive,
  },
  {
    name: "erase",
    summary: "remove sessions for good, from everywhere, with a receipt",
    load: async () => (await import("./commands/erase.ts")).addErase,
  },
  {
    name: "audit",
    summary: "who read, wrote, exported or erased which session, and when",
    load: async () => (await import("./commands/audit.ts")).addAudit,
  },
  {
    name: "config",
    summary: "what is configured here, and where each value came from",
    load: async () => (await import("./commands/config.ts")).addConfig,
  },
];
