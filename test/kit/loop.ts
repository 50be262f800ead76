/** The closed loop of the benchmarks. */
export { withoutGain } from "../../bench/loop/gain.ts";
export { families } from "../../bench/loop/jobs/families.ts";
export { fieldOf, lineWith } from "../../bench/loop/jobs/need.ts";
export { View } from "../../bench/loop/jobs/view.ts";
export type { SeenMessage } from "../../bench/loop/jobs/view.ts";
export { plainPolicy, policies, policiesOf } from "../../bench/loop/policy.ts";
export type { LoopSetting } from "../../bench/loop/policy.ts";
export { chanceOverlooked, inOwnWords, Reader } from "../../bench/loop/reader.ts";
export type { ReaderFaults } from "../../bench/loop/reader.ts";
export { familiesOf, familyNames, runStudy, totalsOf } from "../../bench/loop/study.ts";
export type { LoopRun, StudyOptions } from "../../bench/loop/study.ts";
