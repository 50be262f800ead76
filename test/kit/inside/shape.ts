/** Names of src/shape that tests use and no door exports. */
export { overflowText, smallerBudget } from "../../../src/shape/faults.ts";
export { contentsOf } from "../../../src/shape/gemini/gemini.ts";
export { anthropicShape } from "../../../src/shape/anthropic/anthropic.ts";
export { geminiShape } from "../../../src/shape/gemini/gemini.ts";
export { ollamaShape } from "../../../src/shape/ollama/ollama.ts";
export { chatShape } from "../../../src/shape/openai-chat/openai-chat.ts";
export { responsesShape } from "../../../src/shape/responses/responses.ts";
export type { Answer, Shape } from "../../../src/shape/shape.ts";
