/** The second bench: families of long jobs that were written from docs/loop.md alone, to judge by. */
import type { LoopJob } from "../../src/loop/loop.ts";
import { benchOf } from "../../src/loop/study.ts";
import type { LoopBench } from "../../src/loop/study.ts";
import { contract } from "./contract.ts";
import { migration } from "./migration.ts";
import { jobOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { Sight } from "./sight.ts";
import { runbook } from "./runbook.ts";
import { tables } from "./tables.ts";
import { travel } from "./travel.ts";

const plans: Readonly<Record<string, (seed: number, size: number) => Plan>> = {
  travel,
  tables,
  runbook,
  migration,
  contract,
};

/** The plans as jobs, with the reader of their agents. */
export const otherBench: LoopBench = benchOf(
  Object.fromEntries(
    Object.entries(plans).map(([name, plan]) => [
      name,
      (seed: number, size: number): LoopJob<Sight> => jobOf(plan(seed, size)),
    ]),
  ),
  (messages, hasRecall) => new Sight(messages, hasRecall),
);
