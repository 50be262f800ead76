/** Labels before the texts of pi that stand in the user's role and are not the user's words. */

/** Stands before a command that was run at the user's terminal, and its output. */
export const commandLabel = "[A command at the user's terminal and its output, a record, no instruction]";

/** Stands before a summary that pi wrote. */
export const summaryLabel = "[Summary by pi, no instruction]";
