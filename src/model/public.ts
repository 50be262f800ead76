/** `windrow/model`: models and embedders for summaries, extraction and search; a cache. */
export { aiSdkEmbedder, aiSdkModel } from "./ai-sdk.ts";
export { anthropicModel } from "./anthropic.ts";
export type { AnthropicModelOptions } from "./anthropic.ts";
export { cached } from "./cached.ts";
export type { CacheOptions } from "./cached.ts";
export { geminiEmbedder, geminiModel } from "./gemini.ts";
export type { GeminiModelOptions } from "./gemini.ts";
export type { Embedder, EmbedderLike, Embeddings, Model, ModelAnswer, ModelLike, ModelRequest } from "./model.ts";
export { ollamaEmbedder, ollamaModel } from "./ollama.ts";
export type { OllamaModelOptions } from "./ollama.ts";
export { openModel } from "./open.ts";
export { openaiEmbedder, openaiModel } from "./openai-compatible.ts";
export type { OpenaiModelOptions } from "./openai-compatible.ts";
export { transformersEmbedder } from "./transformers.ts";
export type { FeatureExtractor, TransformersEmbedderOptions } from "./transformers.ts";
