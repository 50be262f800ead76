/** Starts a client in a home of its own, with nothing of this machine's environment, and waits for its end. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** Milliseconds that a run may take. */
const usual = 180_000;

/**
 * Runs one task.
 *
 * @returns its exit status or signal, its standard output without what differs from run to run, and its errors
 */
export async function drive(
  client,
  { url, folder, task = "Read the files, one by one.", more, started, ended, environment = {}, under, longest = usual },
) {
  const home = mkdtempSync(join(tmpdir(), `windrow-client-${client.name}-`));
  const start = client.start({ url, task, home, more });
  const [command, ...given] = [...(under ?? []), start.command, ...start.arguments];
  const child = spawn(command, given, {
    cwd: folder,
    env: {
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: home,
      TERM: "xterm",
      ...start.environment,
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const kill = (signal) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(() => kill("SIGKILL"), longest);
  let out = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  started?.({ kill, pid: child.pid });
  const status = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  clearTimeout(timer);
  kill("SIGKILL");
  ended?.(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  return { status, text: steady(out), errors };
}

/** A text without colours, ids, times and ports. */
export const steady = (text) =>
  text
    .replaceAll(/\u001B\[[\d;]*[A-Za-z]/g, "")
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, "UUID")
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
    .replaceAll(/req_fake\w+/g, "REQUEST")
    .trim();

const folders = [];
process.once("exit", () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A folder that is removed at the end of the process. */
export function scratch(name) {
  const folder = mkdtempSync(join(tmpdir(), `windrow-${name}-`));
  folders.push(folder);
  return folder;
}
