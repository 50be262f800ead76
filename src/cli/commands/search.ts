/** `windrow search`: full text over all sessions of a store. */
import { Option } from "commander";
import type { Command } from "commander";
import type { SearchHit, SearchReport } from "../../ops/search/search.ts";
import { sessionStatuses } from "../../store/statuses.ts";
import type { SessionStatus } from "../../store/store.ts";
import { printable } from "../../printable.ts";
import { exitStatus, reportUnreadable, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { count, timeLabel } from "../text/text.ts";
import { countOf } from "../values.ts";

interface SearchFlags {
  readonly store: string;
  readonly session?: string;
  readonly status?: SessionStatus;
  readonly user?: string;
  readonly limit: string;
  readonly index: boolean;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addSearch(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Finds the messages that hold all of the words, in any language, newest sessions first; quoted words as they\n" +
        "stand. Keeps an index beside the store and brings it up to date first; no session is changed.\n" +
        "Ends with status 1 where nothing is found, or where a session could not be read.",
    )
    .argument("<words...>", "what to look for")
    .option("--store <path>", "where the sessions are", "./contexts")
    .option("--session <id>", "only this session: its id, at least its first four characters, or latest")
    .addOption(new Option("--status <status>", "only sessions of this status").choices(sessionStatuses))
    .option("--user <name>", "only sessions of this user")
    .option("--limit <n>", "most hits", "20")
    .option("--no-index", "read every session instead, and write nothing")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow search 認証\n  windrow search '\"cannot find module\"' --status failed\n",
    )
    .action(async (words: readonly string[], flags: SearchFlags) => finish(await runSearch(words, flags, io, signal)));
}

async function runSearch(
  words: readonly string[],
  flags: SearchFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const limit = countOf("--limit", flags.limit);
  const [{ search }, { searchFolderOf }, { findSession }] = await Promise.all([
    import("../../ops/search/search.ts"),
    import("../../search/folder.ts"),
    import("../../ops/look/find.ts"),
  ]);
  return onStoreAbout(io, { store: flags.store }, flags.store, async (store, _scope, progress) => {
    const scope = flags.user === undefined ? {} : { user: flags.user };
    const index = flags.index ? searchFolderOf(flags.store) : undefined;
    const session = flags.session === undefined ? undefined : await findSession(store, scope, flags.session);
    const report = await search(
      store,
      {
        query: words.join(" "),
        scope,
        limit,
        ...(session && { sessionId: session.metadata.uuid }),
        ...(flags.status && { status: flags.status }),
        ...(index !== undefined && { index }),
        onProgress: (done) => progress.update("indexing", done, done),
      },
      signal,
    );
    progress.end();
    writeReport(io, flags, report, () => `${reportText(report)}\n`);
    const read = reportUnreadable(io, report.unreadable);
    return report.hits.length > 0 ? read : exitStatus.failed;
  });
}

function reportText({ hits, more }: SearchReport): string {
  if (hits.length === 0) return "Nothing found.";
  const lines: string[] = [];
  let last = "";
  for (const hit of hits) {
    if (hit.sessionId !== last) lines.push(headOf(hit));
    last = hit.sessionId;
    lines.push(`  [${hit.seq}] ${hit.role}, ${places[hit.window]}: ${hit.excerpt}`);
  }
  const found = hits.length === 1 ? "1 message" : `${count(hits.length)} messages`;
  return [...lines.map(printable), "", `${found}${more ? "; there are more (--limit)" : ""}.`].join("\n");
}

function headOf({ sessionId, title, status, user = "", timestamp }: SearchHit): string {
  return [sessionId, title, status, user, timeLabel(timestamp)].filter((part) => part !== "").join("  ");
}

const places: Readonly<Record<SearchHit["window"], string>> = {
  shown: "in the window",
  stub: "a stub in the window",
  replaced: "left the window for a digest or summary",
  dropped: "left the window",
};
