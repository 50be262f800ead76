/** Chat-completions messages in and out, for loops that speak to a provider themselves. */
import { chatShape } from "../../shape/openai-chat/openai-chat.ts";
import type { ChatMessage } from "../../shape/openai-chat/openai-chat.ts";
import type { Adapter } from "../adapter.ts";

export { fromChat, toChat } from "../../shape/openai-chat/openai-chat.ts";
export type { ChatMessage } from "../../shape/openai-chat/openai-chat.ts";
export type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";
export { chatRecallTool } from "./recall.ts";
export type { ChatRecallTool } from "./recall.ts";
export { responsesRecallTool } from "../host/responses-recall.ts";
export type { ResponsesRecallTool } from "../host/responses-recall.ts";

/** {@link fromChat} and {@link toChat} as an Adapter. */
export const chatAdapter: Adapter<ChatMessage> = chatShape;
