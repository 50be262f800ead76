/** Names of src/http that tests use and no door exports. */
export { answerWith } from "../../../src/http/fetch.ts";
export { serveHttp } from "../../../src/http/http.ts";
export type { HttpServer, HttpServerOptions } from "../../../src/http/http.ts";
