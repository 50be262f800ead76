/** The measures of windows that the benchmarks alone look at. */
export { textEdits } from "../../bench/window/lab/edit-shape.ts";
export { patchedFiles } from "../../bench/window/lab/patch-shape.ts";
export { editQuotes, findQuotes, patchQuotes, QuoteReader, QuoteTally } from "../../bench/window/lab/quote-metric.ts";
export { StaleTally } from "../../bench/window/lab/stale-metric.ts";
