/** `windrow doctor`: what is wrong with a store, and mending it. */
import Table from "cli-table3";
import type { Command } from "commander";
import { doctor } from "../ops/doctor.ts";
import type { Diagnosis, StoreCount } from "../ops/doctor.ts";
import { openStore } from "../store/open.ts";
import type { Finding } from "../store/store.ts";
import { exitStatus } from "./command.ts";
import type { CliIo, ExitStatus } from "./command.ts";
import { Progress } from "./progress.ts";

/** Findings that are shown one by one; `--json` has all. */
const shownFindings = 100;

interface DoctorFlags {
  readonly store: string;
  readonly mend?: boolean;
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
        "With it, what must be taken out is copied beside its file or moved into aside/, never deleted, and\n" +
        "everything is counted again. What a live process writes is left alone. Ends with status 1 while\n" +
        "there is damage that is not mended.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--mend", "mend what can be mended")
    .option("--json", "one JSON document on stdout")
    .action(async (flags: DoctorFlags) => finish(await runDoctor(flags, io, signal)));
}

async function runDoctor(flags: DoctorFlags, io: CliIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const store = await openStore(flags.store);
  const progress = new Progress(io);
  try {
    const onProgress = (done: number): void => progress.update("examining", done, done);
    const diagnosis = await doctor(store, { mend: flags.mend === true, onProgress }, signal);
    progress.end();
    if (flags.json) io.stdout.write(`${JSON.stringify(diagnosis, null, 2)}\n`);
    else io.stdout.write(`${reportOf(diagnosis)}\n`);
    return diagnosis.open === 0 && diagnosis.addsUp ? exitStatus.done : exitStatus.failed;
  } finally {
    progress.end();
    await store.close();
  }
}

function reportOf({ findings, open, before, after, addsUp }: Diagnosis): string {
  const blocks: string[] = [];
  if (findings.length > 0) blocks.push(tableOf(findings.slice(0, shownFindings)));
  if (findings.length > shownFindings) blocks.push(`and ${findings.length - shownFindings} more (--json shows all)`);
  if (after) {
    const verdict = addsUp ? "Nothing was lost." : "The counts do NOT add up: keep this folder as it is and report it.";
    blocks.push(`before: ${countOf(before)}\nafter:  ${countOf(after)}\n${verdict}`);
  } else blocks.push(countOf(before));
  const hint = findings.some(({ severity, mended }) => severity === "damage" && !mended) && !after;
  if (open > 0) blocks.push(`${open} to mend${hint ? ": run it again with --mend" : " that --mend cannot mend"}.`);
  else blocks.push(findings.length > 0 ? "No damage is left." : "Nothing is wrong.");
  return blocks.join("\n\n");
}

function tableOf(findings: readonly Finding[]): string {
  const table = new Table({
    head: ["where", "problem", "", "what"],
    style: { head: [], border: [] },
    colWidths: [46, 20, 8, 70],
    wordWrap: true,
    wrapOnWordBoundary: false,
  });
  for (const { file = "", offset, length, problem, severity, mended, message, keptAs } of findings) {
    const place = offset === undefined ? "" : ` at ${offset}${length === undefined ? "" : `, ${length} bytes`}`;
    const state = severity === "notice" ? "notice" : mended ? "mended" : "damage";
    table.push([`${file}${place}`, problem, state, keptAs === undefined ? message : `${message} Kept as ${keptAs}.`]);
  }
  return table.toString();
}

function countOf({ sessions, records, goodBytes, badBytes }: StoreCount): string {
  const [all, good, bad] = [records, goodBytes, badBytes].map((number) => number.toLocaleString("en-US"));
  return `${sessions.toLocaleString("en-US")} sessions, ${all} records in ${good} bytes; ${bad} bytes that hold none`;
}
