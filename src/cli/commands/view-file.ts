/** `windrow view FILE`: a session of another agent where it lies, and what its own compactions dropped. */
import { readTranscripts } from "../../transcript/read.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import { compactionsOf } from "../../replay/compaction.ts";
import type { Compaction, KeptShare } from "../../replay/compaction.ts";
import { estimate } from "../../tokens/estimate.ts";
import { exitStatus, writeReport } from "../command.ts";
import type { CommandIo, ExitStatus } from "../command.ts";
import { fittedLine, textWidth } from "../text/columns.ts";
import { wrapped } from "../text/paragraph.ts";
import { plainTable } from "../text/table.ts";
import { count, moneyLabel } from "../text/text.ts";

/** The files that are listed of those that a compaction's calls read again. */
const listedFiles = 10;

/** Shows every session of a file; the file is only read. */
export async function viewFile(path: string, flags: { readonly json?: boolean }, io: CommandIo): Promise<ExitStatus> {
  const sessions = (await readTranscripts(path)).map((transcript) => ({
    transcript,
    compactions: compactionsOf(transcript, estimate),
  }));
  const document = sessions.map(({ transcript: { id, format, model = null, messages, meta = {} }, compactions }) => {
    return { id, format, model, title: meta["title"] ?? null, messages: messages.length, compactions };
  });
  const text = (): string =>
    `${sessions.map(({ transcript, compactions }) => sessionText(transcript, compactions, io.stdout.columns ?? 0)).join("\n\n")}\n`;
  writeReport(io, flags, { sessions: document }, text);
  return exitStatus.done;
}

function sessionText(
  { id, format, model, messages, meta }: Transcript,
  compactions: readonly Compaction[],
  width: number,
): string {
  const calls = messages.filter(({ role }) => role === "assistant").length;
  const title = typeof meta?.["title"] === "string" ? [`Title: ${meta["title"]}`] : [];
  const head = [
    `Session: ${id}`,
    ...title,
    `Written by: ${[format, model].filter((name) => name !== undefined).join(", ")}`,
    `Messages: ${count(messages.length)}, ${count(calls)} of the model`,
    `Compactions: ${compactions.length === 0 ? "none that the file tells of" : totalOf(compactions)}`,
  ].map((line) => fittedLine(line, width, 200));
  return [head.join("\n"), ...compactions.map((one, place) => compactionText(one, place + 1, width))].join("\n\n");
}

function totalOf(compactions: readonly Compaction[]): string {
  const again = compactions.flatMap((one) => one.again);
  const tokens = again.reduce((sum, one) => sum + one.tokens, 0);
  const priced = compactions.flatMap(({ dollars }) => dollars ?? []);
  const money = priced.length === 0 ? "" : `, $${moneyLabel(priced.reduce((sum, one) => sum + one, 0))}`;
  return `${count(compactions.length)}; read again since: ${results(again.length)}, ${count(tokens)} tokens${money}`;
}

function results(number: number): string {
  return `${count(number)} ${number === 1 ? "result" : "results"}`;
}

function compactionText(compaction: Compaction, number: number, width: number): string {
  const { after, left, summary, kept, input, window, again, calls, dollars } = compaction;
  const off = window === null || input.after === null ? undefined : Math.abs(window / input.after - 1);
  const check =
    off === undefined
      ? "What the window held then is not known: the file has no summary, or no usage."
      : `By what the file holds the second was ${count(window ?? 0)}, within ${Math.ceil(100 * off)} %.`;
  const share = (name: string, { kept: some, of }: KeptShare): string => `${count(some)} of ${count(of)} ${name}`;
  const about =
    summary.text === ""
      ? "The summary is not in the file."
      : `The summary, ${count(summary.tokens)} tokens, names ${share("files", kept.files)}, ${share("names", kept.names)}, ` +
        `and ${share("numbers", kept.numbers)} of what tools had shown.`;
  const [before, behind] = [input.before, input.after].map((tokens) => (tokens === null ? "?" : count(tokens)));
  const sentences = [
    `Compaction ${number}, behind message ${count(after)}: ${count(left.messages)} messages of ${count(left.tokens)} tokens left ` +
      `the window. Its requests, system prompt and tools among them, went from ${before} to ${behind} tokens.`,
    check,
    about,
    again.length === 0
      ? "Nothing of it was read again."
      : `Read again: ${results(again.length)}, ${count(again.reduce((sum, one) => sum + one.tokens, 0))} tokens; ` +
        `${calls === 0 ? "no call was" : calls === 1 ? "1 call was" : `${count(calls)} calls were`} made for that alone` +
        `${dollars === null ? "" : `, $${moneyLabel(dollars)} in all`}.`,
  ];
  const rows = againRows(again, width);
  const table = rows.length === 0 ? [] : [plainTable(["message", "tool", "read again", "tokens"], rows, [3])];
  return [wrapped([sentences.join(" ")], width).join("\n"), ...table].join("\n\n");
}

/** Columns of a row beside those of the tool and of what it read: message, tokens, and the space between them. */
const otherColumns = 23;
/** Columns of a tool's name. */
const toolColumns = 16;

function againRows(again: Compaction["again"], width: number): readonly (readonly string[])[] {
  const listed = again.toSorted((one, other) => other.tokens - one.tokens).slice(0, listedFiles);
  const tools = listed.map(({ tool }) => fittedLine(tool, toolColumns, toolColumns));
  const rest = width - otherColumns - Math.max(4, ...tools.map(textWidth));
  return listed.map(({ index, subject, tokens }, place) => [
    `m${index + 1}`,
    tools[place] ?? "",
    fittedLine(subject, width > 0 ? Math.max(10, rest) : 0, 60),
    count(tokens),
  ]);
}
