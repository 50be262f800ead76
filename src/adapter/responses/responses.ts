/** Items of OpenAI's Responses API in and out, for loops that send the whole `input` themselves. */
import { responsesShape } from "../../shape/responses/responses.ts";
import type { ResponsesItem } from "../../shape/responses/responses.ts";
import type { Adapter } from "../adapter.ts";

export { fromResponses, toResponses } from "../../shape/responses/responses.ts";
export type { ResponsesItem, ResponsesRequest } from "../../shape/responses/responses.ts";
export type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";
export { responsesRecallTool } from "../host/responses-recall.ts";
export type { ResponsesRecallTool } from "../host/responses-recall.ts";

/** {@link fromResponses} and {@link toResponses} as an Adapter; `encode` leaves system messages in their places. */
export const responsesAdapter: Adapter<ResponsesItem> = responsesShape;
