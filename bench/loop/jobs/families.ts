/** The families of jobs by name. */
import { bughunt } from "./bughunt.ts";
import type { Job } from "./job.ts";
import { operations } from "./operations.ts";
import { refactor } from "./refactor/refactor.ts";
import { research } from "./research.ts";
import { service } from "./service/service.ts";

/** Makes a job of a seed, with about so many calls. */
export type MakeJob = (seed: number, size: number) => Job;

/** The maker of jobs of each family. */
export const families: Readonly<Record<string, MakeJob>> = {
  service,
  refactor,
  operations,
  bughunt,
  research,
};
