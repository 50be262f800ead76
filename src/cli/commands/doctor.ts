/** `windrow doctor`: what is wrong with a store, and mending it. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { doctor } from "../../ops/doctor/doctor.ts";
import type { Diagnosis, StoreCount } from "../../ops/doctor/doctor.ts";
import type { Finding } from "../../store/store.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { hanging } from "../text/paragraph.ts";
import { languageOption, wordsFor } from "../text/language.ts";
import type { Words } from "../text/words.ts";
import { count } from "../text/text.ts";

/** Findings that are shown one by one; `--json` has all. */
const shownFindings = 100;

/** Sessions whose command is shown. */
const shownSessions = 20;

/** Columns of a paragraph where the terminal's are not known. */
const usualColumns = 80;

interface DoctorFlags {
  readonly store: string;
  readonly mend?: boolean;
  readonly backup?: string;
  readonly lang?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addDoctor(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Reads everything in a store and says what is wrong with it. Changes nothing without --mend.\n" +
        "It concerns everybody's sessions: where the configuration names a user, it takes --admin.\n" +
        "With it, what must be taken out is copied beside its file or moved into aside/, never deleted, and\n" +
        "everything is counted again. What a live process writes is left alone. Ends with status 1 while\n" +
        "there is damage that is not mended, or records are missing. Tells of trouble too: a full disk, locks that linger, failing summaries.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--mend", "mend what can be mended")
    .option("--backup <folder>", "the store's backups, for the commands that are shown")
    .addOption(languageOption())
    .option("--json", "one JSON document on stdout")
    .addHelpText("after", "\nExamples:\n  windrow doctor\n  windrow doctor --mend --store sqlite:agents.db\n")
    .action(async (flags: DoctorFlags) => finish(await runDoctor(flags, io, signal)));
}

async function runDoctor(flags: DoctorFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const words = await wordsFor(flags.lang, io);
  return onStore(io, { store: flags.store }, async (store, _scope, progress) => {
    const folder = folderOf(flags.store);
    const onProgress = (done: number): void => progress.update("examining", done, done);
    const diagnosis = await doctor(
      store,
      { mend: flags.mend === true, ...(folder !== undefined && { folder }), onProgress },
      signal,
    );
    progress.end();
    writeReport(io, flags, diagnosis, () => {
      const view = { folder: pathsFrom(flags.store, folder), columns: io.stdout.columns ?? usualColumns };
      return `${reportOf(diagnosis, words, flags, view)}\n`;
    });
    return diagnosis.open === 0 && diagnosis.addsUp ? exitStatus.done : exitStatus.failed;
  });
}

/** The folder that a store's disk is seen from; undefined where it has none, or none yet. */
function folderOf(target: string): string | undefined {
  const [, scheme = "file", path = target] = /^([a-z][a-z0-9+.-]+):(.*)$/i.exec(target) ?? [];
  const plain = path.startsWith("//") ? new URL(target).pathname : path;
  const folder = scheme === "sqlite" ? dirname(plain) : plain;
  return (scheme === "file" || scheme === "sqlite") && existsSync(folder) ? folder : undefined;
}

/** The place of a report: the store's folder, which paths are shown from, and the terminal. */
interface DoctorView {
  readonly folder: string | undefined;
  readonly columns: number;
}

/** The folder that paths of findings start from; undefined where they lie in a database. */
function pathsFrom(target: string, folder: string | undefined): string | undefined {
  return /^sqlite:/i.test(target) ? undefined : folder;
}

function reportOf(diagnosis: Diagnosis, words: Words, flags: DoctorFlags, view: DoctorView): string {
  const { findings, before, after, addsUp, lost } = diagnosis;
  const { doctor: labels } = words;
  const blocks = findings.slice(0, shownFindings).map((finding) => findingText(finding, words, view));
  if (findings.length > shownFindings) blocks.push(labels.more(count(findings.length - shownFindings)));
  const counts = after
    ? [`${labels.before}${countOf(before, words)}`, `${labels.after}${countOf(after, words)}`]
    : [countOf(before, words)];
  if (!addsUp) counts.push(labels.lost);
  else if (after && lost === 0 && diagnosis.toRestore === 0) counts.push(labels.nothingLost);
  if (lost > 0) counts.push(labels.records(count(lost)));
  blocks.push(counts.join("\n"), ...whatToDo(diagnosis, words, flags));
  return blocks.join("\n\n");
}

/** A paragraph each: where, uncut on a line of its own to be copied, and under it what. */
function findingText(finding: Finding, { doctor: labels }: Words, { folder, columns }: DoctorView): string {
  const { file = "", sessionId, offset, length, problem, severity, mended, message, keptAs } = finding;
  const state = labels.states[severity === "notice" ? "notice" : mended ? "mended" : "damage"];
  const place = offset === undefined ? "" : labels.place(offset, length);
  const from = (path: string): string => (folder === undefined || path === "" ? path : join(folder, path));
  const path = from(file);
  const where = sessionId === undefined || file.includes(sessionId) ? [path] : [sessionId, path];
  const what = `${state}: ${problem}${place}. ${message}${keptAs === undefined ? "" : labels.keptAs(from(keptAs))}`;
  const paths = where.filter((line) => line !== "").map(printable);
  return [...paths, ...hanging(printable(what), columns - 2).map((line) => `  ${line.trimStart()}`)].join("\n");
}

/** The commands, and as the last line how much each helps against, and the next one. */
function whatToDo(diagnosis: Diagnosis, { doctor: labels }: Words, flags: DoctorFlags): readonly string[] {
  const { findings, open, toMend, toRestore, byHand, restore, after } = diagnosis;
  if (open === 0) return [findings.length > 0 ? labels.noDamage : labels.nothingWrong];
  const blocks: string[] = [];
  const store = quoted(flags.store);
  const mend = `windrow doctor --store ${store} --mend`;
  const isBusy = toMend > 0 && (after !== undefined || flags.mend === true);
  if (isBusy) blocks.push(labels.beingWritten(mend));
  const from = flags.backup === undefined ? "BACKUP" : quoted(flags.backup);
  const commands = restore.map((id) => `windrow restore ${id} --from ${from} --to ${store} --replace`);
  if (toRestore > 0) {
    const shown = commands.slice(0, shownSessions);
    const more = commands.length > shown.length ? [labels.more(count(commands.length - shown.length))] : [];
    blocks.push(labels.runRestore([...shown, ...more].join("\n  ")));
  }
  if (byHand > 0) blocks.push(labels.byHand);
  const next = toMend > 0 && !isBusy ? mend : (commands[0] ?? (isBusy ? mend : undefined));
  return [...blocks, labels.open(count(open), count(toMend), count(toRestore), count(byHand), next)];
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function countOf({ sessions, records, goodBytes, badBytes }: StoreCount, { doctor: labels }: Words): string {
  return labels.counted(count(sessions), count(records), count(goodBytes), count(badBytes));
}
