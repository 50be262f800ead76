/** Names of src/viewer that tests use and no door exports. */
export { fileDataId } from "../../../src/viewer/file/data.ts";
export type { FileData } from "../../../src/viewer/file/data.ts";
export { fileSource, unpackFile } from "../../../src/viewer/file/decode.ts";
export { encodeSessions } from "../../../src/viewer/file/encode.ts";
export type { EncodeOptions } from "../../../src/viewer/file/encode.ts";
export { fileHtml } from "../../../src/viewer/file/html.ts";
export { cutParts, textCap } from "../../../src/viewer/page/cut.ts";
export { partsText, windowMessages, windowText } from "../../../src/viewer/page/window-text.ts";
export { pageFolder } from "../../../src/viewer/serve/pages.ts";
export { Newest } from "../../../src/viewer/stored/newest.ts";
