/** `windrow view`: what a session is and how it went (seed 001 §9.1). */
import type { Command } from "commander";
import type { SessionView, Shown, ViewedEpoch, ViewedMessage, ViewedSummary, ViewedTool } from "../ops/view.ts";
import type { WindowPreview } from "../ops/compose.ts";
import { exitStatus, reportError, statusOf } from "./command.ts";
import type { CliIo, ExitStatus } from "./command.ts";
import { readSystem } from "./compose-options.ts";
import { tokensOf } from "./replay-options.ts";
import { count, durationLabel, oneLine, printable, timeLabel } from "./text.ts";

interface ViewFlags {
  readonly messages?: boolean;
  readonly summaries?: boolean;
  readonly tools?: boolean;
  readonly window?: boolean;
  readonly epochs?: boolean;
  readonly system?: string;
  readonly store: string;
  readonly last?: string;
  readonly json?: boolean;
}

/** Characters of a message on its line. */
const lineLength = 100;

/** Adds the command to a program. */
export function addView(program: Command, io: CliIo, finish: (status: ExitStatus) => void): void {
  program
    .command("view")
    .summary("show a session: what it is, its messages, tools, epochs, and the window of its next call")
    .description(
      "Shows a session, whether it is being written, closed or finished. Nothing is written, and no lock is taken.\n" +
        "Without a section it shows the newest messages.",
    )
    .argument("<id>", "the session: its id, at least its first four characters, or latest")
    .option("--messages", "every message, one line each")
    .option("--summaries", "the summaries")
    .option("--tools", "every tool run")
    .option("--window", "the window for the next call, as the model would see it")
    .option("--epochs", "when the window was rewritten, why, and how far")
    .option("--system <file>", "count this file's text as the system prompt of --window")
    .option("--last <n>", "only the newest n messages, tool runs or epochs (default: 10 messages without a section)")
    .option("--store <path>", "where the sessions are", "./contexts")
    .option("--json", "one JSON document on stdout")
    .addHelpText("after", "\nExamples:\n  windrow view latest\n  windrow view 550e --tools --last 20\n")
    .action(async (id: string, flags: ViewFlags) => finish(await runView(id, flags, io)));
}

async function runView(id: string, flags: ViewFlags, io: CliIo): Promise<ExitStatus> {
  const last = flags.last === undefined ? undefined : tokensOf("--last", flags.last);
  const system = await readSystem(flags.system);
  const [{ openStore }, { viewSession }] = await Promise.all([import("../store/open.ts"), import("../ops/view.ts")]);
  const store = await openStore(flags.store);
  try {
    const { messages = false, tools = false, epochs = false, window = false, summaries = false } = flags;
    const plain = !(messages || tools || epochs || window || summaries);
    const view = await viewSession(store, {}, id, {
      messages: messages || plain,
      tools,
      epochs,
      window: window && system !== undefined ? { system } : window,
      last: last ?? (plain ? 10 : Infinity),
    });
    io.stdout.write(flags.json ? `${JSON.stringify(view, null, 2)}\n` : `${viewText(view, summaries || plain)}\n`);
    return exitStatus.done;
  } catch (error) {
    reportError(io, error, flags.store);
    return statusOf(error);
  } finally {
    await store.close();
  }
}

/** A session as text for a terminal. */
export function viewText(view: SessionView, summaries: boolean): string {
  const { statistics } = view;
  const blocks = [
    headerOf(view),
    [
      "Statistics:",
      `  LLM calls: ${count(statistics.llmCalls)}`,
      `  Tool calls: ${count(statistics.toolCalls)}`,
      `  Total tokens: ${count(statistics.totalTokens)}`,
      `  Compressions: ${count(statistics.compressions)}`,
    ],
    ...(view.messages ? [section("Messages", view.messages, messageLine)] : []),
    ...(summaries ? [section("Summaries", view.summaries, summaryLine)] : []),
    ...(view.tools ? [section("Tools", view.tools, toolLine)] : []),
    ...(view.epochs ? [section("Epochs", view.epochs, epochLine)] : []),
    ...(view.window ? [windowLines(view.window)] : []),
  ];
  return blocks.map((lines) => lines.join("\n")).join("\n\n");
}

function headerOf(view: SessionView): readonly string[] {
  const other = Object.keys(view.taskKey).length > 0 ? oneLine(JSON.stringify(view.taskKey), lineLength) : "–";
  const running = view.completedAt === null;
  return [
    `Task UUID: ${view.id}`,
    `Status: ${view.status}`,
    `Repository: ${view.repository === null ? "–" : oneLine(view.repository, lineLength)}`,
    `Task: ${view.task === null ? other : oneLine(view.task, lineLength)}`,
    `Started: ${timeLabel(view.startedAt)}`,
    `Completed: ${view.completedAt === null ? "not yet" : timeLabel(view.completedAt)}`,
    `Duration: ${durationLabel(view.durationMs)}${running ? " so far" : ""}`,
    `Location: ${view.location}`,
    ...(view.error === null ? [] : [`Error: ${oneLine(view.error, lineLength)}`]),
    ...inDoubt(view),
    ...(view.damage.length === 0 ? [] : [`Damaged: ${count(view.damage.length)} spans of the log were skipped`]),
  ];
}

function inDoubt({ openCalls, completedAt }: SessionView): readonly string[] {
  if (openCalls.length === 0) return [];
  const still = completedAt === null ? "running still, or their process died" : "the session ended without it";
  return [
    `In doubt: ${count(openCalls.length)} (tool runs without a recorded result: ${still}; never run again)`,
    ...openCalls.map(({ callId, toolName, arguments: given, timestamp }) => {
      const call = `${toolName}(${JSON.stringify(given)})`;
      return `  [${oneLine(callId, 40)}] ${oneLine(call, lineLength)} since ${timeLabel(timestamp)}`;
    }),
  ];
}

function section<T>(name: string, { total, shown }: Shown<T>, line: (item: T) => string): readonly string[] {
  const some = shown.length < total ? ` (showing last ${count(shown.length)})` : "";
  return [`${name}: ${count(total)}${some}`, ...shown.map((item) => `  ${line(item)}`)];
}

function messageLine({ seq, role, text, results }: ViewedMessage): string {
  if (results.length === 0) return `[${seq}] ${role}: ${oneLine(text, lineLength)}`;
  const ends = results.map(({ tool, isError }) => `${oneLine(tool, 60)} -> ${isError ? "Error" : "Success"}`);
  return `[${seq}] ${role}: ${ends.join(", ")}`;
}

function toolLine(run: ViewedTool): string {
  const call = oneLine(`${run.toolName}(${JSON.stringify(run.arguments)})`, lineLength);
  const end = run.status === "error" ? `Error: ${oneLine(run.error ?? "", 60)}` : "Success";
  return `[${run.seq}] ${timeLabel(run.timestamp)} ${call} -> ${end}, ${durationLabel(run.durationMs)}`;
}

function summaryLine({ id, from, to, summary }: ViewedSummary): string {
  return `[${id}] seq ${from}-${to}: ${oneLine(summary, lineLength)}`;
}

function epochLine(epoch: ViewedEpoch): string {
  const edits = Object.entries(epoch.edits).map(([pass, edited]) => `${pass} ${count(edited)}`);
  return (
    `[${epoch.epoch}] ${timeLabel(epoch.timestamp)} ${epoch.reason} at message ${epoch.opened}: ` +
    `${count(epoch.tokensBefore)} -> ${count(epoch.tokensAfter)} tokens; ${edits.join(", ") || "no edits"}; ` +
    `prefix ${epoch.prefixHash}`
  );
}

function windowLines({ messages, tokens, missing, report }: WindowPreview): readonly string[] {
  const budget = report.budget === null ? "" : ` of ${count(report.budget)}`;
  const opens = report.opened ? `; this call opens it: ${report.opened.reason}` : "";
  const system = missing.length > 0 ? `; not on disk and not counted: ${missing.join(", ")}` : "";
  const title = `Window: ${count(messages.length)} messages, ${count(tokens)}${budget} tokens, epoch ${report.epoch}`;
  return [`${title}${opens}${system}`, ...messages.flatMap((message) => ["", ...messageLines(message)])];
}

function messageLines(message: WindowPreview["messages"][number]): readonly string[] {
  return [`--- ${message.role} [${message.id}]`, printable(textOf(message))];
}

function textOf({ parts }: WindowPreview["messages"][number]): string {
  const lines = parts.map((part) => {
    switch (part.type) {
      case "text":
        return part.text;
      case "reasoning":
        return `(reasoning) ${part.text}`;
      case "tool-call":
        return `(call ${part.callId}) ${part.name}(${part.argsText ?? JSON.stringify(part.args)})`;
      case "tool-result": {
        const content =
          typeof part.content === "string" ? part.content : textOf({ ...emptyMessage, parts: part.content });
        return `(result of ${part.callId}${part.isError ? ", an error" : ""}) ${content}`;
      }
      case "image":
      case "file":
        return `(${part.type}, ${part.mediaType})`;
      case "opaque":
        return `(${part.kind})`;
    }
  });
  return lines.join("\n");
}

const emptyMessage = { id: "", role: "tool" } as const;
