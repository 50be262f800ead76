/** Sessions of Qwen Code: JSON lines, a tree by uuid and parentUuid, each with a content of Gemini's API. */
import { asArray, asName, asObject, defined, fieldsOf, isoTime } from "../message/json.ts";
import type { JsonObject, JsonValue, Part } from "../message/message.ts";
import { partOf } from "../shape/gemini/parts.ts";
import { geminiUsage } from "../shape/gemini/usage.ts";
import { flatly } from "../shape/keeper.ts";
import { branchOfLastLeaf } from "./branch.ts";
import { head, TranscriptBuilder } from "./builder.ts";
import type { Transcript, TranscriptDecoder, TranscriptSource } from "./transcript.ts";

const format = "qwen-code";

const blocks = flatly(format);

/** Types of records with a content; those of the system are the program's bookkeeping. */
const spokenTypes: ReadonlySet<unknown> = new Set(["user", "assistant", "tool_result"]);

/** Reads sessions of Qwen Code. The branch of the last record is the session; `meta.abandoned` counts other messages. */
export const qwenCode: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const rows = head(source.entries).map((entry) => asObject(entry.value) ?? {});
    const isOwn = rows.some((row) => "parentUuid" in row && isSpoken(row));
    return isOwn ? 0.97 : rows.some((row) => "parentUuid" in row && "systemPayload" in row) ? 0.6 : 0;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const [builder, aside] = [new TranscriptBuilder(), new TranscriptBuilder()];
    const rows = source.entries.flatMap(({ line, value }): readonly JsonObject[] => {
      const row = asObject(value);
      if (row && asName(row["type"]) !== undefined) return [row];
      builder.problem(line, "no record of Qwen Code: it has no type");
      return [];
    });
    const branch = branchOfLastLeaf(
      rows.map((row) => ({ id: asName(row["uuid"]), parent: row["parentUuid"] as string | null | undefined })),
    );
    const compactions: JsonValue[] = [];
    for (const [index, row] of rows.entries()) {
      if (isSpoken(row)) addRecord(row, branch.has(index) ? builder : aside);
      else if (row["subtype"] === "chat_compression" && branch.has(index))
        compactions.push({ after: builder.messages.length, ...fieldsOf(fieldsOf(row["systemPayload"])["info"]) });
    }
    builder.leaveOut(aside.messages);
    const newest = (field: string, of = (row: JsonObject): JsonObject => row): string | undefined =>
      asName(of(rows.findLast((row) => asName(of(row)[field]) !== undefined) ?? {})[field]);
    const meta = defined({
      cwd: newest("cwd"),
      version: newest("version"),
      gitBranch: newest("gitBranch"),
      title: newest("customTitle", (row) => fieldsOf(row["systemPayload"])),
      compactions: compactions.length === 0 ? undefined : compactions,
      abandoned: aside.messages.length || undefined,
    }) as JsonObject;
    return [builder.build(newest("sessionId") ?? source.name, format, { meta })];
  },
};

function isSpoken(row: JsonObject): boolean {
  return spokenTypes.has(row["type"]) && asArray(fieldsOf(row["message"])["parts"]) !== undefined;
}

function addRecord(row: JsonObject, builder: TranscriptBuilder): void {
  const given = asArray(fieldsOf(row["message"])["parts"]) ?? [];
  const hasFailed = /^(error|cancelled)$/.test(asName(fieldsOf(row["toolCallResult"])["status"]) ?? "");
  const parts = given.map((block): Part => {
    const part = partOf(block, builder.calls, blocks);
    return part.type === "tool-result" && hasFailed ? { ...part, isError: true } : part;
  });
  const { subtype } = row;
  const said = defined({
    id: asName(row["uuid"]),
    timestamp: isoTime(row["timestamp"]),
    extra: subtype === undefined ? undefined : { subtype },
  });
  if (row["type"] !== "assistant") return builder.addUser(said, parts);
  const about = defined({ model: asName(row["model"]), usage: geminiUsage(row["usageMetadata"]) });
  builder.add({ ...said, role: "assistant", parts, ...about });
}
