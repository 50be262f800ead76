#!/usr/bin/env node
/** The `windrow` command. */
import { run } from "./program.ts";

const stop = new AbortController();
// Once: a second Ctrl-C ends the process at once.
process.once("SIGINT", () => stop.abort());
// A reader that had enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await run(process.argv.slice(2), process, stop.signal);
