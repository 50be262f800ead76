/** `windrow/viewer`: the page that shows what the model saw, for one's own server, and as single files. docs/viewer.md describes it. */
export { newToken } from "../http/bearer.ts";
export { encodeReplay, replayFile } from "./file/replay-file.ts";
export type { EncodedReplay, ReplayFileOptions } from "./file/replay-file.ts";
export { viewerFile } from "./file/viewer-file.ts";
export type { ViewerFileOptions } from "./file/viewer-file.ts";
export type * from "./requests.ts";
export { viewerHandler } from "./serve/handler.ts";
export type { ViewerHandlerOptions } from "./serve/handler.ts";
export { serveViewer } from "./serve/server.ts";
export type { ServeViewerOptions, ViewerServer } from "./serve/server.ts";
export { storedSource } from "./stored-source.ts";
export type { StoredSourceOptions } from "./stored-source.ts";
export type * from "./viewer.ts";
