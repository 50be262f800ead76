/** `windrow doctor`: what is wrong with a store, and mending it. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import Table from "cli-table3";
import type { Command } from "commander";
import { doctor } from "../ops/doctor.ts";
import type { Diagnosis, StoreCount } from "../ops/doctor.ts";
import { openStore } from "../store/open.ts";
import type { Finding } from "../store/store.ts";
import { exitStatus } from "./command.ts";
import type { CliIo, ExitStatus } from "./command.ts";
import { Progress } from "./progress.ts";
import { languageOption, wordsFor } from "./text-language.ts";
import type { Words } from "./text-words.ts";
import { count } from "./text.ts";

/** Findings that are shown one by one; `--json` has all. */
const shownFindings = 100;

interface DoctorFlags {
  readonly store: string;
  readonly mend?: boolean;
  readonly lang?: string;
  readonly json?: boolean;
}

/** Adds the command to a program. */
export function addDoctor(
  program: Command,
  io: CliIo,
  finish: (status: ExitStatus) => void,
  signal?: AbortSignal,
): void {
  program
    .command("doctor")
    .summary("say what is wrong with a store, and mend it")
    .description(
      "Reads everything in a store and says what is wrong with it. Changes nothing without --mend.\n" +
        "It concerns everybody's sessions: where the configuration names a user, it takes --admin.\n" +
        "With it, what must be taken out is copied beside its file or moved into aside/, never deleted, and\n" +
        "everything is counted again. What a live process writes is left alone. Ends with status 1 while\n" +
        "there is damage that is not mended. Tells of trouble too: a full disk, locks that linger, failing summaries.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--mend", "mend what can be mended")
    .addOption(languageOption())
    .option("--json", "one JSON document on stdout")
    .addHelpText("after", "\nExamples:\n  windrow doctor\n  windrow doctor --mend --store sqlite:agents.db\n")
    .action(async (flags: DoctorFlags) => finish(await runDoctor(flags, io, signal)));
}

async function runDoctor(flags: DoctorFlags, io: CliIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const words = await wordsFor(flags.lang, io);
  const store = await openStore(flags.store, { create: false });
  const folder = folderOf(flags.store);
  const progress = new Progress(io);
  try {
    const onProgress = (done: number): void => progress.update("examining", done, done);
    const diagnosis = await doctor(
      store,
      { mend: flags.mend === true, ...(folder !== undefined && { folder }), onProgress },
      signal,
    );
    progress.end();
    if (flags.json) io.stdout.write(`${JSON.stringify(diagnosis, null, 2)}\n`);
    else io.stdout.write(`${reportOf(diagnosis, words)}\n`);
    return diagnosis.open === 0 && diagnosis.addsUp ? exitStatus.done : exitStatus.failed;
  } finally {
    progress.end();
    await store.close();
  }
}

/** The folder that a store's disk is seen from; undefined where it has none, or none yet. */
function folderOf(target: string): string | undefined {
  const [, scheme = "file", path = target] = /^([a-z][a-z0-9+.-]+):(.*)$/i.exec(target) ?? [];
  const plain = path.startsWith("//") ? new URL(target).pathname : path;
  const folder = scheme === "sqlite" ? dirname(plain) : plain;
  return (scheme === "file" || scheme === "sqlite") && existsSync(folder) ? folder : undefined;
}

function reportOf({ findings, open, before, after, addsUp }: Diagnosis, words: Words): string {
  const { doctor: labels } = words;
  const blocks: string[] = [];
  if (findings.length > 0) blocks.push(tableOf(findings.slice(0, shownFindings), words));
  if (findings.length > shownFindings) blocks.push(labels.more(count(findings.length - shownFindings)));
  if (after) {
    const verdict = addsUp ? labels.nothingLost : labels.lost;
    blocks.push(`${labels.before}${countOf(before, words)}\n${labels.after}${countOf(after, words)}\n${verdict}`);
  } else blocks.push(countOf(before, words));
  const hint = findings.some(({ severity, mended }) => severity === "damage" && !mended) && !after;
  if (open > 0) blocks.push(hint ? labels.runMend(count(open)) : labels.cannotMend(count(open)));
  else blocks.push(findings.length > 0 ? labels.noDamage : labels.nothingWrong);
  return blocks.join("\n\n");
}

function tableOf(findings: readonly Finding[], { doctor: labels }: Words): string {
  const table = new Table({
    head: [...labels.head],
    style: { head: [], border: [] },
    colWidths: [46, 20, 8, 70],
    wordWrap: true,
    wrapOnWordBoundary: false,
  });
  for (const { file = "", offset, length, problem, severity, mended, message, keptAs } of findings) {
    const place = offset === undefined ? "" : labels.place(offset, length);
    const state = labels.states[severity === "notice" ? "notice" : mended ? "mended" : "damage"];
    const what = keptAs === undefined ? message : `${message}${labels.keptAs(keptAs)}`;
    table.push([`${file}${place}`, problem, state, what]);
  }
  return table.toString();
}

function countOf({ sessions, records, goodBytes, badBytes }: StoreCount, { doctor: labels }: Words): string {
  return labels.counted(count(sessions), count(records), count(goodBytes), count(badBytes));
}
