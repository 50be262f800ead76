/** `windrow/testing`: the contracts of stores, passes, strategies and adapters as runnable cases, and scripted parts. */
export { register } from "./conformance.ts";
export type { CaseRunner, ConformanceCase } from "./conformance.ts";
export { adapterConformance } from "./adapter/conformance.ts";
export type { HostTranscript } from "./adapter/conformance.ts";
export { passConformance, strategyConformance } from "./window/conformance.ts";
export { storeConformance } from "./store/testing/conformance.ts";
export type { StoreFixture } from "./store/testing/conformance.ts";
export { storeCrashCases } from "./store/testing/crash-cases.ts";
export type { CrashTarget } from "./store/testing/crash-cases.ts";
export { faultyStore } from "./store/testing/faulty.ts";
export type { FaultyStore } from "./store/testing/faulty.ts";
export { scripted } from "./model/scripted.ts";
export type { ScriptedModel, ScriptStep } from "./model/scripted.ts";
export { countTools } from "./tokens/counter.ts";
export { estimate } from "./tokens/estimate.ts";
