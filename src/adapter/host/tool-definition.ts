/** A host's tools as a window counts them. */
import type { JsonValue, ToolDefinition } from "../../message/message.ts";

/** A tool as the model is told of it; its schema as JSON where it is JSON Schema or tells it (Standard Schema, Zod 4). */
export function toolDefinition(name: string, description: unknown, schema?: unknown): ToolDefinition {
  const inputSchema = jsonSchemaOf(schema);
  return {
    name,
    ...(typeof description === "string" && { description }),
    ...(inputSchema !== undefined && { inputSchema }),
  };
}

interface StandardSchema {
  readonly "~standard"?: { readonly jsonSchema?: { readonly input?: (options: { target: string }) => unknown } };
}

/** The JSON Schema of a schema; undefined where it gives none. */
export function jsonSchemaOf(schema: unknown): JsonValue | undefined {
  // A schema of ArkType is a function.
  const standard = (schema as StandardSchema | null | undefined)?.["~standard"];
  if (!standard) {
    return typeof schema === "object" && schema !== null
      ? (JSON.parse(JSON.stringify(schema)) as JsonValue)
      : undefined;
  }
  try {
    return standard.jsonSchema?.input?.({ target: "draft-07" }) as JsonValue | undefined;
  } catch {
    return undefined;
  }
}
