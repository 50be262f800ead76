/** The demo's job: what the user asks for, in this order, and the parts of the script that answer. */
import { addErrorCode, improveErrorCode } from "./task-errors.ts";
import { documentEpochs, extendEpochs } from "./task-epochs.ts";
import { measureFiles, renameBudgetCheck, writeChangelog } from "./task-house.ts";
import type { Script } from "./moves.ts";

/** What the agent is told before everything else. */
export const systemPrompt = [
  "You are a coding agent in the repository of a TypeScript library. Tools: list, read (numbered lines, offset and limit),",
  "grep (regular expressions), edit (oldText must stand in the file exactly once), write, bash (in the project folder).",
  "Look before you change. Keep changes small, keep the documents true, and prove what you claim by running something.",
].join("\n");

/** The whole session. */
export function* job(): Script {
  const errors = yield* addErrorCode();
  const epochs = yield* documentEpochs();
  yield* measureFiles();
  const renamed = yield* renameBudgetCheck();
  yield* extendEpochs(epochs);
  yield* improveErrorCode(errors);
  yield* writeChangelog({ errors, epochs, renamed });
}
