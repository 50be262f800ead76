/** The blocks of the Messages API in Claude Code's lines, whose other fields stand beside a part. */
import { isObject } from "../../message/json.ts";
import { flatly } from "../../shape/keeper.ts";
import type { Keeper } from "../../shape/keeper.ts";

/** Flags that change the meaning of a line's message. Other fields are the host's bookkeeping. */
export const claudeCodeFlags = ["isMeta", "isApiErrorMessage", "isVisibleInTranscriptOnly", "origin"];

const fields = flatly("claude-code", ["citations", "cache_control", "caller", "context"]);

/** Keeps the fields of blocks; those that the API knows are written again. */
export const claudeCodeBlocks: Keeper = {
  ...fields,
  of: (opaque) => {
    const isRedacted = isObject(opaque) && opaque["type"] === "redacted_thinking";
    return isRedacted ? { type: "redacted_thinking" } : fields.of(opaque);
  },
};
