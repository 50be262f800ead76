/** `windrow copy`: sessions from one store to another, checked. */
import type { Command } from "commander";
import type { CopyReport } from "../../ops/exchange/copy.ts";
import type { TransferProgress } from "../../ops/exchange/transfer.ts";
import type { Scope } from "../../store/store.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStore, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";

interface CopyFlags {
  readonly from: string;
  readonly to: string;
  readonly session?: readonly string[];
  readonly tenant?: string;
  readonly user?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addCopy(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Copies sessions as they are: numbers, times, metadata, state, and every line byte by byte. Each is read again\n" +
        "from the other store and compared. What is there already and the same is passed over, so an interrupted copy\n" +
        "goes on when it is started again; what is there and differs is never touched. The source is only read.\n" +
        "A tenant's sessions are copied with --tenant, each tenant's by themselves: nothing else sees them.",
    )
    .requiredOption("--from <store>", "a folder, sqlite:path, postgres://… or redis://…")
    .requiredOption("--to <store>", "a folder, sqlite:path, postgres://… or redis://…; made where there is none")
    .option("--session <id...>", "only these sessions (default: all)")
    .option("--tenant <name>", "sessions of this tenant (default: those of none)")
    .option("--user <name>", "sessions of this user (default: of every user)")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow copy --from ./contexts --to sqlite:contexts.db\n" +
        "  windrow copy --from sqlite:contexts.db --to ./again --session 550e8400-e29b-41d4-a716-446655440000\n" +
        "  windrow copy --from ./contexts --to postgres://db.internal/agents --tenant acme\n",
    )
    .action(async (flags: CopyFlags) => finish(await runCopy(flags, io, signal)));
}

async function runCopy(flags: CopyFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const { copy } = await import("../../ops/exchange/copy.ts");
  const scope: Scope = {
    ...(flags.tenant !== undefined && { tenant: flags.tenant }),
    ...(flags.user !== undefined && { user: flags.user }),
  };
  return onStoreAbout(io, { store: flags.from }, "", (from) =>
    onStore(io, { store: flags.to, create: true }, async (to, _scope, progress) => {
      const onProgress = ({ id, done, total, lines }: TransferProgress): void =>
        progress.update(`${id.slice(0, 8)}, ${lines.toLocaleString("en-US")} lines; sessions`, done, total);
      const ids = flags.session === undefined ? {} : { ids: flags.session };
      const report = await copy(from, to, { ...ids, scope, onProgress }, signal);
      progress.end();
      writeReport(io, flags, report, () => copyText(report));
      return report.failed > 0 || report.sessions.some(({ damaged }) => damaged > 0)
        ? exitStatus.failed
        : exitStatus.done;
    }),
  );
}

/** The report for people: what failed by name, the rest in one line. */
function copyText(report: CopyReport): string {
  const lines = report.sessions.reduce((sum, session) => sum + session.lines, 0);
  const masked = report.sessions.reduce((sum, session) => sum + session.masked, 0);
  const failed = report.sessions.flatMap(({ id, error }) => (error ? [`${id}  ${error.code}: ${error.message}`] : []));
  const damaged = report.sessions
    .filter((session) => session.damaged > 0)
    .map(({ id, damaged: spans }) => `${id}  ${spans} damaged span${spans === 1 ? "" : "s"} of the source not copied`);
  const missing = report.sessions
    .filter((session) => session.missing > 0)
    .map((session) => `${session.id}  ${session.missing} records were missing in the source, and are in the copy`);
  const total =
    `${report.copied} copied, ${report.same} there already, ${report.failed} failed; ` +
    `${lines.toLocaleString("en-US")} lines compared, all equal` +
    (masked > 0 ? ` but for ${masked} from which secrets were taken out` : "");
  return [...[...failed, ...damaged, ...missing, total].map(printable), ""].join("\n");
}
