/** `windrow store migrate`: brings the tables of a store in Postgres to the version that this code works with. */
import { Argument } from "commander";
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import type { MigrationReport } from "../../store/postgres/migrate.ts";
import { exitStatus, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";

interface StoreFlags {
  readonly store: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addStore(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "migrate brings the tables of a store in Postgres to the version that this Windrow works with, in one\n" +
        "transaction: all of it is done or nothing. Processes of the older version that write are fenced, lose nothing\n" +
        "that was acknowledged, and are told to be updated.",
    )
    .addArgument(new Argument("<action>", "what to do").choices(["migrate"]))
    .option("--store <store>", "the store's address, as postgres://user@host:5432/database", "./contexts")
    .option("--dry-run", "change nothing, say what would be done")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow store migrate --store postgres://owner@db.internal/agents --dry-run\n",
    )
    .action(async (_action: string, flags: StoreFlags) => finish(await runMigrate(flags, io)));
}

async function runMigrate(flags: StoreFlags, io: CommandIo): Promise<ExitStatus> {
  const { principal } = io.storeOptions.access ?? {};
  if (principal && (principal.role !== "admin" || principal.tenant !== undefined)) {
    const message = "The tables hold the sessions of every user and tenant: an admin migrates them (--admin).";
    throw new WindrowError("not-allowed", message, { principal: principal.name });
  }
  const { migratePostgresAt } = await import("../../store/postgres/open.ts");
  const report = await migratePostgresAt(flags.store, flags.dryRun === true);
  writeReport(io, flags, report, () => told(report));
  return exitStatus.done;
}

function told({ location, dryRun, from, to, steps, schema }: MigrationReport): string {
  const where = `${location}, schema ${schema}`;
  if (steps.length === 0) return `Nothing to do: the tables of ${where} have version ${to}.\n`;
  const done = dryRun ? "To be done" : "Done";
  const lines = steps.map(({ version, about }) => `  ${version}  ${about}`);
  return `${done}, version ${from} → ${to} of ${where}:\n${lines.join("\n")}\n`;
}
