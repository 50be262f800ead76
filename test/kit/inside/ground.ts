/** Names of the files beside the rooms of src that tests use and no door exports. */
export { parseAddress, withoutSecrets } from "../../../src/address.ts";
export { errorCodes } from "../../../src/errors.ts";
export { withPackage } from "../../../src/peer.ts";
export { printable, printableLines } from "../../../src/printable.ts";
export { atOnce } from "../../../src/turns.ts";
