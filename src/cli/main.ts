#!/usr/bin/env node
/** The `windrow` command. */
import { exitStatus, reportError } from "./command.ts";
import { run, wantsDebug } from "./program.ts";
import { printableIo } from "./terminal.ts";

const argv = process.argv.slice(2);
const stop = new AbortController();
// Once: a second Ctrl-C ends the process at once.
process.once("SIGINT", () => stop.abort());
// A reader that had enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

// An error that no command caught still ends the process, and is written printable.
process.on("uncaughtException", (error) => {
  reportError(printableIo(process, wantsDebug(argv)), error);
  process.exit(exitStatus.failed);
});

process.exitCode = await run(argv, process, stop.signal);
