/** Names of src/search that tests use and no door exports. */
export { catchUp } from "../../../src/search/catch-up.ts";
export { SearchIndex } from "../../../src/search/search.ts";
export type { IndexedEntry } from "../../../src/search/table.ts";
