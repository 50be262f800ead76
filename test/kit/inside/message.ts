/** Names of src/message that tests use and no door exports. */
export { interruptedText } from "../../../src/message/answers.ts";
export { hashJson, hashName, hashText } from "../../../src/message/hash.ts";
export { deepestJson, isObject, objectsOf } from "../../../src/message/json.ts";
export { messageText, ownText, resultMedia, resultText, toolCalls, toolResults } from "../../../src/message/message.ts";
export type { JsonObject, JsonValue, ReasoningPart, ResultContent, TextPart } from "../../../src/message/message.ts";
export { inlineName, looksStructural, quoteText, unquoteText } from "../../../src/message/quote.ts";
export type { EditRecord } from "../../../src/message/record.ts";
export { repairMessages, StepReader } from "../../../src/message/repair.ts";
export { codingSession, HistoryBuilder, sampleHistories } from "../../../src/message/samples.ts";
export { checkMessage, newMessageSchema } from "../../../src/message/schema.ts";
export { splitSentences } from "../../../src/message/sentences.ts";
export { groupSteps, pieceMark } from "../../../src/message/step.ts";
export type { NumberedMessage } from "../../../src/message/step.ts";
export { wireForms, wireId } from "../../../src/message/wire-form.ts";
