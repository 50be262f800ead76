/** Names of src/shape that tests use and no door exports. */
export { overflowText, smallerBudget } from "../../../src/shape/faults.ts";
export { contentsOf } from "../../../src/shape/gemini/gemini.ts";
