/** Names of src/telemetry that tests use and no door exports. */
export { instrumentsOf } from "../../../src/telemetry/instruments.ts";
