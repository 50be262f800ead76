/** Tools of the AI SDK: what of them is counted, the tool that brings back what left the window, and those of a memory. */
import type { JsonValue, ToolDefinition } from "../../message/message.ts";
import type { Recalled, RecallQuery } from "../../window/recall/query.ts";
import type { Memory } from "../../memory/memory.ts";
import { memoryToolsOf } from "../host/memory-tools.ts";
import type { MemoryToolsOptions } from "../host/memory-tools.ts";
import { recallTool } from "../host/recall-tool.ts";

/** The fields that are read of a tool of the SDK. */
export interface AiSdkTool {
  readonly description?: unknown;
  /** A zod 4 schema, any schema with JSON Schema in it (`jsonSchema()`, Standard JSON Schema), or a function that gives one. */
  readonly inputSchema?: unknown;
}

/**
 * Tools as they are counted. A schema that has no JSON Schema (zod 3, say) is counted as none.
 *
 * @param tools - by name, as the SDK takes them
 */
export async function toolDefinitions(tools: Readonly<Record<string, AiSdkTool>>): Promise<readonly ToolDefinition[]> {
  return Promise.all(
    Object.entries(tools).map(async ([name, { description, inputSchema }]) => {
      const schema = await schemaOf(inputSchema).catch(() => undefined);
      return {
        name,
        ...(typeof description === "string" && { description }),
        ...(schema !== undefined && { inputSchema: schema }),
      };
    }),
  );
}

async function schemaOf(given: unknown): Promise<JsonValue | undefined> {
  const schema = fieldsOf(typeof given === "function" && !("~standard" in given) ? (given as () => unknown)() : given);
  if (schema["jsonSchema"] !== undefined) return plain(await Promise.resolve(schema["jsonSchema"]));
  const { input } = fieldsOf(fieldsOf(schema["~standard"])["jsonSchema"]);
  if (typeof input === "function") return plain((input as (options: object) => unknown)({ target: "draft-07" }));
  if (!("_zod" in schema)) return undefined;
  const { toJSONSchema } = await import("zod");
  return plain(toJSONSchema(given as Parameters<typeof toJSONSchema>[0], { io: "input" }));
}

function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const holds = (typeof value === "object" && value !== null) || typeof value === "function";
  return holds ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The input that the model gives the recall tool. */
export type AiSdkRecallInput = Pick<RecallQuery, "id" | "query">;

/** The recall tool, as `tools` of the SDK takes it. */
export interface AiSdkRecallTool {
  readonly description: string;
  /** A `Schema` of the SDK. Typed so that every major's own type takes it. */
  readonly inputSchema: never;
  readonly execute: (input: AiSdkRecallInput) => Promise<string>;
}

/**
 * The recall tool in the SDK's shape.
 *
 * @param recall - such as `(query) => conversation.recall(query)`
 */
export function aiSdkRecallTool(recall: (query: RecallQuery) => Promise<Recalled>): AiSdkRecallTool {
  const { description, inputSchema, execute } = recallTool(recall);
  return { description, inputSchema: schemaFor(inputSchema, "recall takes { id } or { query }, both texts."), execute };
}

/** A tool of a memory, as `tools` of the SDK takes it. */
export interface AiSdkMemoryTool {
  readonly description: string;
  /** A `Schema` of the SDK. Typed so that every major's own type takes it. */
  readonly inputSchema: never;
  readonly execute: (input: object, options?: { readonly abortSignal?: AbortSignal | undefined }) => Promise<string>;
}

/**
 * The tools of a memory in the SDK's shape, by name: `memory_search`, and with `files` also `remember`.
 *
 * @throws WindrowError `bad-option`, `unknown-counter`
 * @example
 * const tools = { ...own, ...aiSdkMemoryTools(manager.memory, { files: new MemoryFiles(store, { user }) }) };
 */
export function aiSdkMemoryTools(memory: Memory, options: MemoryToolsOptions = {}): Record<string, AiSdkMemoryTool> {
  const tools = memoryToolsOf("aiSdkMemoryTools", memory, options);
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema, execute }) => [
      name,
      {
        description,
        inputSchema: schemaFor(inputSchema, `${name} takes an object with texts.`),
        execute: (input: object, { abortSignal } = {}) => execute(input, abortSignal),
      } satisfies AiSdkMemoryTool,
    ]),
  );
}

/** A schema of the SDK, for tools whose fields are texts. */
function schemaFor(jsonSchema: object, wrong: string): never {
  return {
    [Symbol.for("vercel.ai.schema")]: true,
    [Symbol.for("vercel.ai.validator")]: true,
    jsonSchema,
    validate: (value: unknown) =>
      typeof value === "object" && Object.values(fieldsOf(value)).every((text) => typeof text === "string")
        ? { success: true, value }
        : { success: false, error: new Error(wrong) },
  } as never;
}
