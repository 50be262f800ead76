/** The second bench: families of long jobs that were written from docs/loop.md alone, to judge by. */
import type { LoopJob } from "../loop/loop.ts";
import { benchOf } from "../loop/study.ts";
import type { LoopBench } from "../loop/study.ts";
import { newsroom } from "./newsroom.ts";
import { notebook } from "./notebook.ts";
import { jobOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { porting } from "./porting.ts";
import { Sight } from "./sight.ts";
import { timetable } from "./timetable.ts";
import { warehouse } from "./warehouse.ts";

const plans: Readonly<Record<string, (seed: number, size: number) => Plan>> = {
  notebook,
  newsroom,
  warehouse,
  timetable,
  porting,
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
