/** A gateway as a user starts it, from the built command. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The built command. */
export const command = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/**
 * Starts one in front of a fake, and waits until it listens.
 *
 * @returns its address, its log, and functions that end it
 */
export async function startGateway({ upstream, store, port = 0, more = [] }) {
  const named = ["anthropic", "openai", "gemini", "ollama"].flatMap((name) => ["--upstream", `${name}=${upstream}`]);
  const child = spawn(
    process.execPath,
    [command, "gateway", "--port", String(port), "--store", store, ...named, ...more],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let said = "";
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const closed = once(child, "close");
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found) resolve(found[0]);
    });
    void closed.then(([code]) => reject(new Error(`The gateway ended with ${code}: ${errors}`)));
  });
  const end = async (signal) => {
    child.kill(signal);
    await closed;
  };
  return { url, pid: child.pid, errors: () => errors, kill: () => end("SIGKILL"), close: () => end("SIGTERM") };
}
