/** `windrow gateway run`: a command with a gateway of its own, which ends with it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { routeCommand } from "../../gateway/clients/route.ts";
import { opencodeKeys } from "../../gateway/clients/found.ts";
import { WindrowError } from "../../errors.ts";
import { passingSecret } from "../../gateway/secret.ts";
import type { CommandIo } from "../command.ts";
import { keepGateway } from "./kept-gateway.ts";
import { keptCalls, keptWords } from "./kept-calls.ts";
import { secretVariable } from "./secret.ts";
import type { KeepSettings, KeptGateway } from "./kept-gateway.ts";

/** Signals that are for the command and its gateway both. */
const passed = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** The settings of the gateway of a run. */
export interface RunSettings {
  /** Options of `windrow gateway`, as its own process takes them. */
  readonly flags: readonly string[];
  /** 0 for a free one. */
  readonly port: number;
  /** The token that the gateway asks for; it goes into the addresses. */
  readonly token?: string | undefined;
  /** The store that the gateway keeps calls in. */
  readonly store: string;
  /** Whether nothing is said at the end of where they are. */
  readonly isQuiet?: boolean;
}

/**
 * Runs a command whose requests to its provider pass through a gateway. The command's variables are set for it alone, and
 * nothing of the user's is changed.
 *
 * @returns the command's exit status; 128 and the signal's number where a signal ended it
 * @throws WindrowError `bad-option` without a command, and where it or the gateway cannot be started
 */
export async function runThrough(
  command: readonly string[],
  { flags, port, token, store, isQuiet = false }: RunSettings,
  io: CommandIo,
): Promise<number> {
  if (command.length === 0) {
    const message = "A command is missing, for example: windrow gateway run -- claude.";
    throw new WindrowError("bad-option", message, { option: "command" });
  }
  const known = await opencodeKeys(io.env);
  const { upstreams } = routeCommand(command, "http://127.0.0.1", io.env, known);
  const named = Object.entries(upstreams).flatMap(([name, address]) => ["--upstream", `${name}=${address}`]);
  // A user's own --upstream stands later, and counts.
  const env = {
    // A gateway that is started again within the run knows its conversations, also those of a store elsewhere.
    [secretVariable]: passingSecret().toString("hex"),
    ...io.env,
    ...(token !== undefined && { WINDROW_GATEWAY_TOKEN: token }),
  };
  const gateway = await started({
    port,
    env,
    argumentsAt: (at) => ["gateway", "--port", String(at), ...named, ...flags, "--tied"],
  });
  let status: number | undefined;
  try {
    const url = token === undefined ? gateway.url : `${gateway.url}/t/${token}`;
    const routed = routeCommand(command, url, io.env, known);
    for (const note of routed.notes) io.stderr.write(`windrow: ${note}\n`);
    status = await ended(routed.command, { ...io.env, ...routed.env });
    return status;
  } finally {
    await gateway.close();
    const times = gateway.restarts();
    if (times > 0) io.stderr.write(`windrow: the gateway died and was started again, ${times} times\n`);
    const calls = times > 0 ? undefined : keptCalls(gateway.said());
    if (status !== undefined && !isQuiet) io.stderr.write(`windrow: ${keptWords(calls, store)}\n`);
  }
}

async function started(settings: KeepSettings): Promise<KeptGateway> {
  try {
    return await keepGateway(settings);
  } catch (error) {
    const told = (error instanceof Error ? error.message : String(error)).replaceAll(/^windrow: (?:[a-z-]+: )?/gm, "");
    throw new WindrowError(
      "bad-option",
      `The gateway does not start: ${told}`,
      { option: "gateway" },
      { cause: error },
    );
  }
}

async function ended([name = "", ...given]: readonly string[], env: CommandIo["env"]): Promise<number> {
  const child = spawn(name, given, { stdio: "inherit", env: { ...env } });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  // A terminal sends Ctrl-C to the command itself.
  const ignore = (): void => undefined;
  const onInterrupt = process.stdin.isTTY ? ignore : pass;
  for (const signal of passed) process.on(signal, pass);
  process.on("SIGINT", onInterrupt);
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + constants.signals[signal!];
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const reason = isMissing ? "there is no such command" : error instanceof Error ? error.message : String(error);
    throw new WindrowError(
      "bad-option",
      `"${name}" cannot be started: ${reason}.`,
      { command: name },
      { cause: error },
    );
  } finally {
    for (const signal of passed) process.off(signal, pass);
    process.off("SIGINT", onInterrupt);
  }
}
