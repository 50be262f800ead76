/** Names of src/tokens that tests use and no door exports. */
export { correct, countFor, initialCalibration, observe } from "../../../src/tokens/calibrate.ts";
export type { CalibrationState } from "../../../src/tokens/calibrate.ts";
export { countMessage, countOnce, countPart } from "../../../src/tokens/counter.ts";
export { chars4Ceil, chars4Floor, counterNames, counterOf, isExactName } from "../../../src/tokens/counters.ts";
export { imageSize } from "../../../src/tokens/image-size.ts";
export { modelOf, models } from "../../../src/tokens/models.ts";
export { estimate } from "../../../src/tokens/estimate.ts";
