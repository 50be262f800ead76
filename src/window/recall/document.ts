/** Documents: the texts of a message as recall reads them, each with a head that says whose it is. */
import { resultText } from "../../message/message.ts";
import type { Message, Part, ToolCallPart } from "../../message/message.ts";
import { inlineName, quoteText } from "../../message/quote.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { nameLine, recallId, subjectOf } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";

/** A text of a message: of what was said, of one call, or of one result. */
export interface RecallDocument {
  readonly seq: number;
  /** The speaker, or the tool and the subject of its call. */
  readonly label: string;
  readonly text: string;
  /** A call or its result. */
  readonly callId?: string;
  readonly isCall?: boolean;
}

/** Calls without a result that are remembered. */
const mostCalls = 4_096;

/** Makes documents of messages, in the log's order: a result is named by its call. */
export class Documents {
  readonly #calls = new Map<string, string>();
  readonly #mask: TextMask;

  /** @param mask - replaces the secrets of subjects that are cut */
  constructor(mask: TextMask) {
    this.#mask = mask;
  }

  /** Takes note of a message's calls without reading their texts. */
  note(message: Message): void {
    for (const part of message.parts) if (part.type === "tool-call") this.#label(part);
  }

  /** The texts of a message; those of one speaker are one. */
  of({ seq, message }: NumberedMessage): readonly RecallDocument[] {
    const documents: RecallDocument[] = [];
    const said: string[] = [];
    for (const part of message.parts) {
      const { callId } = part as { readonly callId?: string };
      if (part.type === "tool-call") {
        const label = `${message.role} ${this.#label(part)}`;
        documents.push({ seq, label, text: readable(part.args), callId: part.callId, isCall: true });
      } else if (part.type === "tool-result" && callId !== undefined) {
        const label = this.#calls.get(callId) ?? inlineName(part.name ?? "tool");
        this.#calls.delete(callId);
        documents.push({ seq, label, text: resultText(part), callId });
      } else said.push(saidBy(part));
    }
    const text = said.filter((one) => one !== "").join("\n");
    if (text !== "") documents.unshift({ seq, label: speakerOf(message), text });
    return documents.filter((document) => document.isCall === true || document.text !== "");
  }

  #label(call: ToolCallPart): string {
    const label = nameLine(inlineName(call.name), subjectOf(call.args, this.#mask));
    this.#calls.delete(call.callId);
    this.#calls.set(call.callId, label);
    if (this.#calls.size > mostCalls) this.#calls.delete(this.#calls.keys().next().value ?? "");
    return label;
  }
}

/** The line above what is shown of a document. */
export function headOf({ seq, label }: Pick<RecallDocument, "seq" | "label">, note = ""): string {
  return `[${recallId(seq)} ${label}${note === "" ? "" : `; ${note}`}]`;
}

/** The text of a whole document under its head. */
export function renderWhole(document: RecallDocument): string {
  return document.text === "" ? headOf(document) : `${headOf(document)}\n${quoteText(document.text)}`;
}

/** A message in the user's role that is not the user's, such as a late result, is no user's words. */
function speakerOf({ role, status }: Message): string {
  return role === "user" && status === "synthetic" ? "result" : role;
}

function saidBy(part: Part): string {
  return part.type === "text" || part.type === "reasoning" ? part.text : `[${part.type}]`;
}

/** Arguments with their texts as they are, not escaped: an edit's lines stay lines. */
function readable(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([key, item]) => `${key}: ${readable(item)}`)
    .join("\n");
}
