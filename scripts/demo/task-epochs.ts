/** A document about epochs, written from the code, and later a second chapter about how they come back from disk. */
import { bash, call, edit, grep, hitsOf, lineOf, read, say, together, user, write } from "./moves.ts";
import type { Script, SeenLine } from "./moves.ts";

const target = "docs/epochs.md";

/** What the first chapter quoted. */
export interface EpochWork {
  readonly target: string;
  readonly closing: string;
  readonly decided: SeenLine;
  readonly recorded: SeenLine;
}

/** Reads the composer and its neighbours and writes down when and how an epoch opens. */
export function* documentEpochs(): Script<EpochWork> {
  yield* user(
    `How is an epoch opened? Find every reason and the line that decides it, what is planned then, what is written to disk, ` +
      `and put it into ${target}, with file and line for each claim.`,
  );
  const places = yield* call("grep", { pattern: "EpochReason|opened", path: "src" }, "First where the word stands.");
  yield* call("read", { path: "src/window/window.ts", offset: 1, limit: 130 });
  const contract = yield* call("read", { path: "src/window/window.ts", offset: 131, limit: 100 });
  const composer = yield* call(
    "read",
    { path: "src/window/epoch.ts", offset: 90, limit: 130 },
    "The composer again, from `compose` on.",
  );
  yield* together(
    [read("src/window/hash.ts"), read("src/window/budget.ts")],
    "How it notices a change, and what the limit is:",
  );
  yield* call("read", { path: "src/window/planner.ts", offset: 1, limit: 100 });
  yield* call("read", { path: "src/window/planner.ts", offset: 101, limit: 100 });
  yield* together([read("src/window/strategies/adaptive.ts"), read("src/window/strategies/sliding-window.ts")]);
  yield* call("read", { path: "src/window/passes/drop-oldest.ts" }, "The passes that plan the edits:");
  yield* call("read", { path: "src/window/passes/truncate-tool-results.ts" });
  yield* call("read", { path: "src/window/view.ts" });
  const record = yield* call("read", { path: "src/session/epoch-record.ts" }, "And the record on disk.");
  const session = yield* call("read", { path: "src/session/session.ts", offset: 120, limit: 60 });

  const decided = lineOf(composer, /const reason = /);
  const reasons = ["system-changed", "tools-changed", "history-changed", "over-budget", "trigger"].map((reason) => {
    return { reason, line: lineOf(composer, new RegExp(`"${reason}"`)) };
  });
  const recorded = lineOf(session, /epochRecord\(/);
  const hits = hitsOf(places).filter(({ path }) => path === "src/window/epoch.ts").length;
  const closing = "A window that fits and whose prefix is unchanged opens no epoch.";
  const rows = reasons.map(
    ({ reason, line }) => `| \`${reason}\` | src/window/epoch.ts:${line.number} | \`${line.text.trim()}\` |`,
  );
  const page = [
    "# Epochs",
    "",
    `src/window/epoch.ts:${decided.number} decides: \`${decided.text.trim()}\`.`,
    "",
    "| reason | where | line |",
    "|---|---|---|",
    ...rows,
    "",
    `The type is \`${lineOf(contract, /edits: readonly Edit\[\]/).text.trim()}\` in \`WindowState\`, complete at every epoch.`,
    `The record is made in src/session/epoch-record.ts:${lineOf(record, /export function epochRecord/).number} and stored by`,
    `src/session/session.ts:${recorded.number}: \`${recorded.text.trim()}\`.`,
    "",
    closing,
    "",
  ].join("\n");
  yield* together([write(target, page)], `${hits} lines of epoch.ts speak of it; these decide.`);
  yield* together([bash(`cat ${target} && wc -l ${target}`)]);
  yield* say(`${target} names the five reasons, each with its line, and where the record is written.`);
  return { target, closing, decided, recorded };
}

/** The second chapter: how the newest epoch is found again, and what a torn line means for it. */
export function* extendEpochs(work: EpochWork): Script {
  yield* user(
    `Now the way back: a process dies and another resumes the session. How does it find the newest epoch, and can a torn ` +
      `line lose one? Read the file store for that and add a chapter to ${work.target}.`,
  );
  const [manager, reader] = yield* together([
    read("src/session/manager.ts", 165, 90),
    read("src/store/files/reader.ts"),
  ]);
  const tail = yield* call("read", { path: "src/store/files/tail.ts", offset: 1, limit: 90 });
  yield* call("read", { path: "src/store/files/jsonl.ts", offset: 40, limit: 130 });
  yield* call("read", { path: "src/store/files/log-file.ts" });
  yield* call("read", { path: "src/store/files/journal.ts", offset: 60, limit: 110 });
  yield* call(
    "read",
    { path: "src/store/files/journal.ts", offset: 170, limit: 140 },
    "The other half, where batches are written.",
  );
  const codec = yield* call("read", { path: "src/store/files/codec.ts", offset: 1, limit: 60 });
  yield* together([grep("recovery", "src/store/files"), grep("linesBackward", "src")]);
  lineOf(reader ?? "", /export/);
  const order = lineOf(codec, /order of writing|kindFiles/);
  const newest = lineOf(manager ?? "", /record\.type === "epoch"/);
  const cut = lineOf(tail, /cutAt = line\.offset/);
  const chapter = [
    work.closing,
    "",
    "## After a crash",
    "",
    `The newest record wins (src/session/manager.ts:${newest.number}): \`${newest.text.trim()}\`.`,
    `A torn line is cut off before anything is added (src/store/files/tail.ts:${cut.number}): \`${cut.text.trim()}\`.`,
    `Edits are written after what they speak of (src/store/files/codec.ts:${order.number}).`,
    `What was not acknowledged is composed again: \`${work.decided.text.trim()}\` decides the same for the same history,`,
    `and \`${work.recorded.text.trim()}\` writes it before the window is handed out.`,
  ].join("\n");
  yield* together([edit(work.target, work.closing, chapter)]);
  yield* together([bash(`tail -n 10 ${work.target}`)]);
  yield* say(
    "An epoch that was handed out is on disk, as compose waits for its record; one that was torn was never handed out, and " +
      `the resumed process plans it again from the same history. The chapter is in ${work.target}.`,
  );
}
