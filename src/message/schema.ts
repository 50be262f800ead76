/** Zod schemas of the message model, for untyped input: files, flags, other programs. */
import { z } from "zod";
import { WindrowError } from "../errors.ts";
import { foreignHint, foreignUsageHint } from "./foreign.ts";
import { copyJson, isObject, jsonFault } from "./json.ts";
import type { JsonValue, NewMessage } from "./message.ts";

const jsonSchema: z.ZodType<JsonValue> = z.unknown().transform((value, context): JsonValue => {
  const fault = jsonFault(value);
  if (fault === undefined) return copyJson(value as JsonValue);
  context.issues.push({ code: "custom", message: `${fault}`, input: undefined });
  return z.NEVER;
});

const opaque = { opaque: jsonSchema.optional() };
const textPart = z.strictObject({ type: z.literal("text"), text: z.string(), ...opaque });
const reasoningPart = z.strictObject({
  type: z.literal("reasoning"),
  text: z.string(),
  signature: z.string().optional(),
  ...opaque,
});
const media = { mediaType: z.string(), data: z.string().optional(), url: z.string().optional(), ...opaque };
const imagePart = z.strictObject({
  type: z.literal("image"),
  ...media,
  width: z.number().positive().optional(),
  height: z.number().positive().optional(),
});
const filePart = z.strictObject({ type: z.literal("file"), ...media, name: z.string().optional() });
const opaquePart = z.strictObject({ type: z.literal("opaque"), kind: z.string(), data: jsonSchema });
const toolCallPart = z.strictObject({
  type: z.literal("tool-call"),
  callId: z.string().min(1),
  name: z.string(),
  args: jsonSchema,
  argsText: z.string().optional(),
  ...opaque,
});
const toolResultPart = z.strictObject({
  type: z.literal("tool-result"),
  callId: z.string().min(1),
  name: z.string().optional(),
  content: z.union([
    z.string(),
    z.array(z.discriminatedUnion("type", [textPart, imagePart, filePart, opaquePart])).readonly(),
  ]),
  isError: z.boolean().optional(),
  ...opaque,
});

const partSchema = z.discriminatedUnion("type", [
  textPart,
  reasoningPart,
  imagePart,
  filePart,
  toolCallPart,
  toolResultPart,
  opaquePart,
]);

const count = z.number().nonnegative().optional();
const usageSchema = z.strictObject({
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  cacheWriteHour: count,
  reasoning: count,
});

/** The schema of a message for `append`. */
export const newMessageSchema = z.strictObject({
  id: z.string().min(1).optional(),
  role: z.enum(["system", "user", "assistant", "tool"]),
  parts: z.array(partSchema).readonly(),
  timestamp: z.iso.datetime({ offset: true }).optional(),
  status: z.enum(["complete", "interrupted", "synthetic"]).optional(),
  model: z.string().optional(),
  usage: usageSchema.optional(),
  extra: z.record(z.string(), jsonSchema).optional(),
  masks: z
    .array(z.strictObject({ kind: z.string(), placeholder: z.string(), fingerprint: z.string().optional() }))
    .readonly()
    .optional(),
});

/**
 * Checks a message from outside.
 *
 * @throws WindrowError `bad-message`, naming the field; also for JSON that is nested too deep, holds itself or cannot be read
 */
export function checkMessage(value: unknown): NewMessage {
  const fault = jsonFault(value, { undefinedToo: true, whole: true });
  if (fault !== undefined)
    throw new WindrowError("bad-message", `This is not a message: ${fault}.${hintFor(value)}`, {});
  const result = parsed(value);
  if (result.success) return result.data as NewMessage;
  const issues = result.error.issues.map((issue) => ({ path: issue.path.join("."), problem: issue.message }));
  const problems = issues.map(({ path, problem }) => (path === "" ? problem : `${path}: ${problem}`)).join("; ");
  throw new WindrowError("bad-message", `This is not a message: ${problems}.${hintFor(value)}`, { issues });
}

function parsed(value: unknown): ReturnType<typeof newMessageSchema.safeParse> {
  try {
    return newMessageSchema.safeParse(value, { error: problemOf });
  } catch (error) {
    // Bytes and other values of the host cannot be taken over as they are.
    const reason = error instanceof Error ? error.message : String(error);
    throw new WindrowError("bad-message", `This is not a message: ${reason}.${hintFor(value)}`, {}, { cause: error });
  }
}

/** The sentence for a message of another shape, or with usage of another. */
function hintFor(value: unknown): string {
  return foreignHint(value) || (isObject(value) ? foreignUsageHint(value["usage"]) : "");
}

/** A fault of a message as its error says it, in the words of the message format. */
function problemOf(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, path = [] } = issue;
  if (code === "unrecognized_keys") return `there is no field ${issue.keys.map((key) => `\`${key}\``).join(", ")}`;
  if (code === "invalid_value") return `is one of ${issue.values.map((known) => `\`${String(known)}\``).join(", ")}`;
  if (code === "invalid_union" && issue.discriminator === "type") return `is none of the kinds of a part: ${partKinds}`;
  if (code !== "invalid_type") return undefined;
  if (path.length === 0) return 'it is no object such as { role: "user", parts: [{ type: "text", text }] }';
  const kind = { array: "a list", string: "a text", record: "an object", object: "an object" }[
    issue.expected as string
  ];
  return `${issue.input === undefined ? "is missing: it " : ""}is ${kind ?? `a ${issue.expected}`}`;
}

const partKinds = partSchema.options.map((option) => option.shape.type.value).join(", ");
