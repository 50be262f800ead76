/** `windrow view`: one session, with its messages, tool runs, epochs and next window. */
import type { Command } from "commander";
import type { SessionView, Shown, ViewedEpoch, ViewedMessage, ViewedSummary, ViewedTool } from "../../ops/look/view.ts";
import { placeOf } from "../../ops/look/unreadable.ts";
import type { WindowPreview } from "../../ops/look/compose.ts";
import { printable, printableLines } from "../../printable.ts";
import { reportUnreadable, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { readSystem } from "../read-system.ts";
import { languageOption, wordsFor } from "../text/language.ts";
import type { Words } from "../text/words.ts";
import { changeText, toolText } from "../text/sent.ts";
import { count, oneLine, timeLabel } from "../text/text.ts";
import { countOf } from "../values.ts";

interface ViewFlags {
  readonly messages?: boolean;
  readonly summaries?: boolean;
  readonly tools?: boolean;
  readonly window?: boolean;
  readonly epochs?: boolean;
  readonly system?: string;
  readonly store: string;
  readonly last?: string;
  readonly lang?: string;
  readonly json?: boolean;
}

/** Characters of a message on its line. */
const lineLength = 100;

/** Gives the command its options and its action. */
export function addView(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Shows a session, whether it is being written, closed or finished. Nothing is written, and no lock is taken.\n" +
        "Without a section it shows the newest messages.",
    )
    .argument("<id>", "the session: its id, at least its first four characters, or latest")
    .option("--messages", "every message, one line each")
    .option("--summaries", "the summaries")
    .option("--tools", "every tool run")
    .option("--window", "the window for the next call, as the model would see it, with the system prompt and the tools")
    .option("--epochs", "when the window was rewritten, why, and how far")
    .option("--system <file>", "take this file's text as the system prompt of --window (default: the one on disk)")
    .option("--last <n>", "only the newest n messages, tool runs or epochs (default: 10 messages without a section)")
    .option("--store <path>", "where the sessions are", "./contexts")
    .addOption(languageOption())
    .option("--json", "one JSON document on stdout")
    .addHelpText("after", "\nExamples:\n  windrow view latest\n  windrow view 550e --tools --last 20\n")
    .action(async (id: string, flags: ViewFlags) => finish(await runView(id, flags, io)));
}

async function runView(id: string, flags: ViewFlags, io: CommandIo): Promise<ExitStatus> {
  const words = await wordsFor(flags.lang, io);
  const last = flags.last === undefined ? undefined : countOf("--last", flags.last);
  const system = await readSystem(flags.system);
  const { viewSession } = await import("../../ops/look/view.ts");
  return onStoreAbout(io, { store: flags.store }, flags.store, async (store) => {
    const { messages = false, tools = false, epochs = false, window = false, summaries = false } = flags;
    const plain = !(messages || tools || epochs || window || summaries);
    const view = await viewSession(store, {}, id, {
      messages: messages || plain,
      tools,
      epochs,
      window: window && system !== undefined ? { system } : window,
      last: last ?? (plain ? 10 : Infinity),
    });
    writeReport(io, flags, view, () => `${viewText(view, summaries || plain, words)}\n`);
    const damaged = view.damage.filter(({ problem }) => problem === "damaged");
    const about = { sessionId: view.id, code: "store-corrupt" };
    const told = damaged.map((span) => ({
      ...about,
      message: `${placeOf(span)} cannot be read; all around it is shown.`,
    }));
    return reportUnreadable(io, told);
  });
}

/**
 * A session as text for a terminal.
 *
 * @param summaries - whether to show them
 */
export function viewText(view: SessionView, summaries: boolean, words: Words): string {
  const { statistics } = view;
  const { view: labels } = words;
  const blocks = [
    headerOf(view, words).map(printable),
    [
      `${labels.statistics}:`,
      `  ${labels.llmCalls}: ${count(statistics.llmCalls)}`,
      `  ${labels.toolCalls}: ${count(statistics.toolCalls)}`,
      `  ${labels.totalTokens}: ${count(statistics.totalTokens)}`,
      `  ${labels.compressions}: ${count(statistics.compressions)}`,
    ],
    ...(view.messages ? [section(labels.messages, view.messages, messageLine, words)] : []),
    ...(summaries ? [section(labels.summaries, view.summaries, summaryLine, words)] : []),
    ...(view.tools ? [section(labels.tools, view.tools, toolLine, words)] : []),
    ...(view.epochs ? [section(labels.epochs, view.epochs, epochLine, words)] : []),
    ...(view.window ? [windowLines(view.window, words)] : []),
  ];
  return blocks.map((lines) => lines.join("\n")).join("\n\n");
}

function headerOf(view: SessionView, words: Words): readonly string[] {
  const { view: labels } = words;
  const other = Object.keys(view.taskKey).length > 0 ? oneLine(JSON.stringify(view.taskKey), lineLength) : "–";
  const duration = words.duration(view.durationMs);
  return [
    `${labels.uuid}: ${view.id}`,
    `${labels.status}: ${view.status}`,
    `${labels.repository}: ${view.repository === null ? "–" : oneLine(view.repository, lineLength)}`,
    `${labels.task}: ${view.task === null ? other : oneLine(view.task, lineLength)}`,
    `${labels.started}: ${timeLabel(view.startedAt)}`,
    `${labels.completed}: ${view.completedAt === null ? labels.notYet : timeLabel(view.completedAt)}`,
    `${labels.duration}: ${view.completedAt === null ? labels.soFar(duration) : duration}`,
    `${labels.location}: ${view.location}`,
    ...(view.error === null ? [] : [`${labels.error}: ${oneLine(view.error, lineLength)}`]),
    ...inDoubt(view, words),
    ...damageLines(view, words),
  ];
}

function inDoubt({ openCalls, completedAt }: SessionView, { view: labels }: Words): readonly string[] {
  if (openCalls.length === 0) return [];
  return [
    `${labels.inDoubt}: ${labels.inDoubtWhy(count(openCalls.length), completedAt === null)}`,
    ...openCalls.map(({ callId, toolName, arguments: given, timestamp }) => {
      const call = `${toolName}(${JSON.stringify(given)})`;
      return `  [${oneLine(callId, 40)}] ${oneLine(call, lineLength)} ${labels.since(timeLabel(timestamp))}`;
    }),
  ];
}

/** Lines for records that the reader does not see: spans that were skipped, and records that are gone. */
function damageLines({ damage }: SessionView, { view: labels }: Words): readonly string[] {
  const gone = damage.filter(({ problem }) => problem === "missing");
  const spans = damage.length - gone.length;
  const records = gone.reduce((sum, { records: some = 0 }) => sum + some, 0);
  return [
    ...(spans === 0 ? [] : [`${labels.damaged}: ${labels.damagedSpans(count(spans))}`]),
    ...(records === 0 ? [] : [`${labels.missing}: ${labels.missingRecords(count(records))}`]),
  ];
}

function section<T>(
  name: string,
  { total, shown }: Shown<T>,
  line: (item: T, words: Words) => string,
  words: Words,
): readonly string[] {
  const some = shown.length < total ? words.view.showingLast(count(shown.length)) : "";
  return [`${name}: ${count(total)}${some}`, ...shown.map((item) => `  ${printable(line(item, words))}`)];
}

function messageLine({ seq, role, text, results }: ViewedMessage, { view: labels }: Words): string {
  if (results.length === 0) return `[${seq}] ${role}: ${oneLine(text, lineLength)}`;
  const ends = results.map(
    ({ tool, isError }) => `${oneLine(tool, 60)} -> ${isError ? labels.failure : labels.success}`,
  );
  return `[${seq}] ${role}: ${ends.join(", ")}`;
}

function toolLine(run: ViewedTool, { view: labels, duration }: Words): string {
  const call = oneLine(`${run.toolName}(${JSON.stringify(run.arguments)})`, lineLength);
  const end = run.status === "error" ? `${labels.failure}: ${oneLine(run.error ?? "", 60)}` : labels.success;
  return `[${run.seq}] ${timeLabel(run.timestamp)} ${call} -> ${end}, ${duration(run.durationMs)}`;
}

function summaryLine({ id, from, to, summary }: ViewedSummary): string {
  return `[${id}] seq ${from}-${to}: ${oneLine(summary, lineLength)}`;
}

function epochLine(epoch: ViewedEpoch, { view: labels }: Words): string {
  const edits = Object.entries(epoch.edits).map(([pass, edited]) => `${pass} ${count(edited)}`);
  const change = [count(epoch.tokensBefore), count(epoch.tokensAfter), edits.join(", ") || labels.noEdits] as const;
  return (
    `[${epoch.epoch}] ${timeLabel(epoch.timestamp)} ` +
    `${labels.epoch(epoch.reason, epoch.opened, ...change)}; prefix ${epoch.prefixHash}` +
    (epoch.changed ? `; ${changeText(epoch.changed)}` : "")
  );
}

function windowLines(window: WindowPreview, { view: labels }: Words): readonly string[] {
  const { messages, tools, tokens, missing, report } = window;
  const budget = report.budget === null ? undefined : count(report.budget);
  const size = labels.windowSize(count(messages.length), count(tokens), budget, report.epoch);
  const opens = report.opened ? labels.opensEpoch(report.opened.reason) : "";
  const absent = missing.length > 0 ? labels.notCounted(missing.join(", ")) : "";
  return [
    printable(`${labels.window}: ${size}${opens}${absent}`),
    ...tools.flatMap((tool) => ["", ...headed(`tool [${tool.name}]`, toolText(tool))]),
    ...messages.flatMap((message) => ["", ...headed(`${message.role} [${message.id}]`, textOf(message))]),
  ];
}

function headed(head: string, text: string): readonly string[] {
  // Indented, so that no line of a text reads as the head of a message.
  return [printable(`--- ${head}`), printableLines(text).replaceAll(/^(?=.)/gm, "  ")];
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
