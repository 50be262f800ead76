/** Names of src/loop that tests use and no door exports. */
export { withoutGain } from "../../../src/loop/gain.ts";
export { families } from "../../../src/loop/jobs/families.ts";
export { fieldOf, lineWith } from "../../../src/loop/jobs/need.ts";
export { View } from "../../../src/loop/jobs/view.ts";
export type { SeenMessage } from "../../../src/loop/jobs/view.ts";
export { plainPolicy, policies, policiesOf } from "../../../src/loop/policy.ts";
export { chanceOverlooked, inOwnWords, Reader } from "../../../src/loop/reader.ts";
export type { ReaderFaults } from "../../../src/loop/reader.ts";
export { familiesOf, familyNames, runStudy, totalsOf } from "../../../src/loop/study.ts";
export type { LoopRun, StudyOptions } from "../../../src/loop/study.ts";
