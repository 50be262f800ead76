/** `windrow bench`: what strategies cost and lose, measured on this machine. */
import type { Command } from "commander";
import { loadCounter } from "../../tokens/exact.ts";
import { gainLines, loopRow, traceText } from "../../loop/report.ts";
import { policiesOf, policies } from "../../loop/policy.ts";
import { familiesOf, familyNames, runStudy, totalsOf } from "../../loop/study.ts";
import { exitStatus, writeReport } from "../command.ts";
import type { CommandContext, CommandIo, ExitStatus } from "../command.ts";
import { Progress } from "../text/progress.ts";
import { plainTable } from "../text/table.ts";
import { countOf, tokenListOf } from "../values.ts";

interface BenchFlags {
  readonly policy?: string;
  readonly family?: string;
  readonly seed: string;
  readonly size: string;
  readonly budget: string;
  readonly counter: string;
  readonly families?: boolean;
  readonly trace?: boolean;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addBench(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Runs scripted agents through long jobs with tools in memory. They decide from the text of their windows alone,\n" +
        "so that what they get wrong is what their windows lacked: a full history solves every job. Nothing is read or\n" +
        "written; the same options give the same figures.\n" +
        "Void: actions on facts that had been replaced. Cost: million input tokens, cached ones at 0.1, written ones at 1.25.",
    )
    .addArgument(command.createArgument("<bench>", "which one").choices(["loop"]))
    .option("--policy <names>", `separated by commas: ${policies.map(({ name }) => name).join(", ")}, or a strategy`)
    .option("--family <names>", `separated by commas: ${familyNames.join(", ")} (default: all)`)
    .option("--seed <numbers>", "one job of each family for each, separated by commas", "1")
    .option("--size <calls>", "calls of the model that a job takes with its full history, about", "160")
    .option("-b, --budget <tokens>", "tokens a request may use, separated by commas", "8k,16k")
    .option("--counter <name>", "how tokens are counted: estimate, o200k, cl100k …", "estimate")
    .option("--families", "each family in rows of its own")
    .option("--trace", "every call: what was needed, where it was found, what went wrong")
    .option("--json", "one JSON document: { runs, totals }")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow bench loop --policy none,adaptive,adaptive+recall\n" +
        "  windrow bench loop --family service --budget 8k,16k,32k --families\n" +
        "  windrow bench loop --policy adaptive+recall --family operations --budget 16k --trace\n",
    )
    .action(async (_bench: string, flags: BenchFlags) => finish(await runBench(flags, io, signal)));
}

async function runBench(flags: BenchFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const options = {
    policies: flags.policy === undefined ? policies : policiesOf(flags.policy.split(",")),
    families: familiesOf(flags.family?.split(",")),
    seeds: flags.seed.split(",").map((text) => countOf("--seed", text)),
    size: countOf("--size", flags.size),
    budgets: tokenListOf("--budget", flags.budget),
    counter: await loadCounter(flags.counter),
  };
  const progress = new Progress(io);
  try {
    const runs = await runStudy(
      {
        ...options,
        onJob: (done, of, { policy, family }) => progress.update(`${policy}, ${family}`, done, of),
        ...(flags.trace === true && {
          onCall: (run, call) => void io.stdout.write(`${traceText(run, call, false)}\n`),
        }),
      },
      signal,
    );
    progress.end();
    const totals = [...totalsOf(runs), ...(flags.families === true ? totalsOf(runs, true) : [])];
    writeReport(io, flags, { runs, totals }, () =>
      [tableOf(totals.map(loopRow)), ...gainLines(totals).map((line) => `${line}\n`)].join(""),
    );
    return exitStatus.done;
  } finally {
    progress.end();
  }
}

function tableOf(rows: readonly ReturnType<typeof loopRow>[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => columns.map((column) => String(row[column])));
  const right = columns.flatMap((column, at) => (["policy", "family"].includes(column) ? [] : [at]));
  return `${plainTable(columns, cells, right)}\n`;
}
