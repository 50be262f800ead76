/** Kinds of lines. */
/**
 * The source of a line: the user, a tool, a failing tool, the assistant's prose beside calls, or its answer to the user.
 * `read` and `written` lines stand in a file, as a tool showed it or as the agent wrote it.
 */
export type LineKind = "user" | "result" | "error" | "said" | "answered" | "read" | "written";
