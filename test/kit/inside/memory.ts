/** Names of src/memory that tests use and no door exports. */
export { fillByRank, shownMessage } from "../../../src/memory/lexical.ts";
export { Offloads } from "../../../src/memory/offload/offload.ts";
export { forgetByUser } from "../../../src/memory/forget.ts";
