/** A tool in the shape that the SDK's `tool()` takes. */

/** Options for the SDK's `tool()`. */
export interface AgentsToolOptions {
  name: string;
  description: string;
  parameters: {
    type: "object";
    properties: Record<string, { type: "string"; description: string }>;
    required: string[];
    additionalProperties: true;
  };
  strict: false;
  execute: (input: unknown) => Promise<string>;
}

/** A tool of Windrow's, as hosts get it. */
interface PlainTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, { readonly type: "string"; readonly description: string }>>;
    readonly required?: readonly string[];
  };
  readonly execute: (input: unknown) => Promise<string>;
}

/** A tool as options for the SDK's `tool()`, which keeps and changes what it is given. */
export function agentsToolOptions({ name, description, inputSchema, execute }: PlainTool): AgentsToolOptions {
  return {
    name,
    description,
    parameters: {
      ...inputSchema,
      properties: { ...inputSchema.properties },
      required: [...(inputSchema.required ?? [])],
      additionalProperties: true,
    },
    strict: false,
    execute: (input) => execute(input),
  };
}
