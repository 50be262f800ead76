/** LangChain's tools: one of Windrow's own, and the results of all as they come in. */
import { randomUUID } from "node:crypto";
import { recallDeclaration } from "../host/recall-tool.ts";
import type { RecallTool } from "../host/recall-tool.ts";
import type { LangChainMessage } from "./message.ts";

/**
 * The recall tool in the shape that `createAgent` runs.
 *
 * @param recallIn - the tool for a run, by the agent's state
 */
export function forLangChain(recallIn: (state: unknown) => RecallTool): { readonly [field: string]: unknown } {
  const { name, description, inputSchema } = recallDeclaration;
  return {
    name,
    description,
    schema: inputSchema,
    lc_runnable: true,
    invoke: (call: { readonly args?: unknown }, config?: { readonly state?: unknown }) =>
      recallIn(config?.state).execute(call.args),
  };
}

interface ToolMessage extends LangChainMessage {
  id?: string | undefined;
  readonly tool_call_id: string;
  readonly _updateId?: (id: string) => void;
}

interface Answer extends LangChainMessage {
  readonly tool_calls?: readonly { readonly id?: string }[];
}

/** Results of calls that run side by side, which are journalled in the order of their calls. */
export class ToolResults {
  /** By the answer that asked for them. */
  readonly #finished = new WeakMap<object, Map<string, ToolMessage>>();

  /**
   * Runs a tool. A tool that throws ends in an error message, as it does in an agent without middleware around its tools:
   * LangChain lets what such middleware passes on end the run, unless it is an invocation error.
   */
  async run<Request, Result>(
    request: Request,
    handler: (request: Request) => Result | Promise<Result>,
  ): Promise<Result> {
    try {
      return await handler(request);
    } catch (error) {
      throw isToolFailure(error) ? invocationError(error) : error;
    }
  }

  /**
   * The results that nothing stands in front of any more, in order, each with an id; none for what is no tool message.
   *
   * @param messages - of the agent's state, the answer with the calls at the end
   */
  inOrder(messages: readonly LangChainMessage[], result: unknown): readonly LangChainMessage[] {
    const answer = messages.findLast((message) => message.type === "ai") as Answer | undefined;
    if (!answer || !isToolMessage(result)) return [];
    // The agent's state would give it one later, and what is journalled must be what the state holds.
    if (result.id === undefined) {
      const id = randomUUID();
      if (result._updateId) result._updateId(id);
      else result.id = id;
    }
    const finished = this.#finished.get(answer) ?? new Map<string, ToolMessage>();
    this.#finished.set(answer, finished.set(result.tool_call_id, result));
    const results = (answer.tool_calls ?? []).map(({ id }) => finished.get(id ?? ""));
    const open = results.indexOf(undefined);
    return results.slice(0, open === -1 ? results.length : open).filter((found) => found !== undefined);
  }
}

function isToolMessage(value: unknown): value is ToolMessage {
  return typeof value === "object" && value !== null && "tool_call_id" in value && "content" in value;
}

/** Whether an error is a tool's own: no interrupt of the graph, no abort, nothing LangChain has a name for. */
function isToolFailure(error: unknown): error is Error {
  return error instanceof Error && !("is_bubble_up" in error) && !("~brand" in error) && error.name !== "AbortError";
}

function invocationError(error: Error): Error {
  const told = new Error(`${error}\n Please fix your mistakes.`, { cause: error });
  return Object.assign(told, { "name": "ToolInvocationError", "~brand": "ToolInvocationError", "toolError": error });
}
