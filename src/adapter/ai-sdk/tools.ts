/** Tools of the AI SDK: what of them is counted, the tool that brings back what left the window, and those of a memory. */
import type { JsonValue, ToolDefinition } from "../../message/message.ts";
import type { Memory } from "../../memory/memory.ts";
import { memoryToolsOf } from "../host/memory-tools.ts";
import type { MemoryTool, MemoryToolsOptions } from "../host/memory-tools.ts";
import type { RecallTool } from "../host/recall-tool.ts";
import { jsonSchemaOf } from "../host/tool-definition.ts";

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
  const schema = typeof given === "function" && !("~standard" in given) ? (given as () => unknown)() : given;
  const fields = fieldsOf(schema);
  if (fields["jsonSchema"] !== undefined) return jsonSchemaOf(await Promise.resolve(fields["jsonSchema"]));
  const told = "~standard" in fields ? jsonSchemaOf(fields) : undefined;
  if (told !== undefined || !("_zod" in fields)) return told;
  const { toJSONSchema } = await import("zod");
  return jsonSchemaOf(toJSONSchema(given as Parameters<typeof toJSONSchema>[0], { io: "input" }));
}

/** A tool of Windrow's, as `tools` of the SDK takes it. */
export interface AiSdkOwnTool {
  readonly description: string;
  /** A `Schema` of the SDK. Typed so that every major's own type takes it. */
  readonly inputSchema: never;
  readonly execute: (input: object, options?: { readonly abortSignal?: AbortSignal | undefined }) => Promise<string>;
}

/** A tool in the SDK's shape; its fields are texts. */
export function forAiSdk({ name, description, inputSchema, execute }: RecallTool | MemoryTool): AiSdkOwnTool {
  const validate = (value: unknown): object =>
    typeof value === "object" && Object.values(fieldsOf(value)).every((text) => typeof text === "string")
      ? { success: true, value }
      : { success: false, error: new Error(`${name} takes an object with texts.`) };
  const marks = { [Symbol.for("vercel.ai.schema")]: true, [Symbol.for("vercel.ai.validator")]: true };
  return {
    description,
    inputSchema: { ...marks, jsonSchema: inputSchema, validate } as never,
    execute: (input, { abortSignal } = {}) => execute(input, abortSignal),
  };
}

/**
 * The tools of a memory in the SDK's shape, by name: `memory_search`, and with `files` also `remember`.
 *
 * @throws WindrowError `bad-option`, `unknown-counter`
 * @example
 * const tools = { ...own, ...aiSdkMemoryTools(manager.memory, { files: new MemoryFiles(store, { user }) }) };
 */
export function aiSdkMemoryTools(memory: Memory, options: MemoryToolsOptions = {}): Record<string, AiSdkOwnTool> {
  const tools = memoryToolsOf("aiSdkMemoryTools", memory, options);
  return Object.fromEntries(tools.map((tool) => [tool.name, forAiSdk(tool)]));
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const holds = (typeof value === "object" && value !== null) || typeof value === "function";
  return holds ? (value as Readonly<Record<string, unknown>>) : {};
}
