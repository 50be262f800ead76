/** Gemini's `Content[]` in and out (`@google/genai`, the REST API, ADK), for loops that speak to the API themselves. */
import { geminiShape } from "../../shape/gemini/gemini.ts";
import type { GeminiContent } from "../../shape/gemini/gemini.ts";
import type { Adapter } from "../adapter.ts";

export { fromContents, toContents } from "../../shape/gemini/gemini.ts";
export type { GeminiContent, GeminiRequest } from "../../shape/gemini/gemini.ts";
export type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";
export { geminiRecallTool } from "./recall.ts";
export type { GeminiRecallTool } from "./recall.ts";

/** {@link fromContents} and {@link toContents} as an Adapter; what the host had in two contents stays in two. */
export const geminiAdapter: Adapter<GeminiContent> = geminiShape;
