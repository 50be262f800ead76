/** Names of src/model that tests use and no door exports. */
export type { AiSdkEmbeddingModel, AiSdkLanguageModel } from "../../../src/model/ai-sdk.ts";
export type { RetryOptions } from "../../../src/model/retry.ts";
