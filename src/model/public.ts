/** `windrow/model`: models and embedders for summaries, extraction and search; a cache. */
export { aiSdkEmbedder, aiSdkModel } from "./ai-sdk.ts";
export { cached } from "./cached.ts";
export type { CacheOptions } from "./cached.ts";
export { anthropicModel, geminiEmbedder, geminiModel, ollamaEmbedder, ollamaModel } from "./clients.ts";
export { openaiEmbedder, openaiModel } from "./clients.ts";
export type { ClientOptions, ModelOptions } from "./clients.ts";
export type { Embedder, EmbedderLike, Embeddings, Model, ModelAnswer, ModelLike, ModelRequest } from "./model.ts";
export { openModel } from "./open.ts";
export { transformersEmbedder } from "./transformers.ts";
export type { FeatureExtractor, TransformersEmbedderOptions } from "./transformers.ts";
