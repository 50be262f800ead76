/** `windrow gateway doctor`: which clients go through a gateway, and the lines that point each at one. */
import { WindrowError } from "../../errors.ts";
import { checkClients, probe } from "../../gateway/clients/checkup.ts";
import type { ClientCheckup } from "../../gateway/clients/checkup.ts";
import { clients } from "../../gateway/clients/found.ts";
import type { ClientName } from "../../gateway/clients/found.ts";
import { nearest } from "../../nearest.ts";
import { exitStatus, writeReport } from "../command.ts";
import type { CommandIo, ExitStatus } from "../command.ts";

/** The flags of the command. */
export interface DoctorFlags {
  readonly port: number;
  readonly json?: boolean;
}

/** Other names of clients. */
const aliases: Readonly<Record<string, ClientName>> = { "claude-code": "claude", "gemini-cli": "gemini" };

/**
 * Tells of clients.
 *
 * @param named - a client's name; absent for all that are here
 * @returns `failed` where a client has an address at which nobody answers: it cannot work
 * @throws WindrowError `bad-option` for a name that is not known
 */
export async function runDoctor(
  named: string | undefined,
  flags: DoctorFlags,
  io: CommandIo,
  signal?: AbortSignal,
): Promise<ExitStatus> {
  const url = `http://127.0.0.1:${flags.port}`;
  const only = named === undefined ? undefined : clientNamed(named);
  const [answer, found] = await Promise.all([probe(url, signal), checkClients(url, io.env, only, signal)]);
  writeReport(
    io,
    flags,
    { url, answer, clients: found },
    () => `${[head(url, answer), ...found.map(told)].join("\n\n")}\n`,
  );
  return found.some(({ state }) => state === "unreachable") ? exitStatus.failed : exitStatus.done;
}

function clientNamed(named: string): ClientName {
  const known = [...clients.map(({ name }) => name), ...Object.keys(aliases)];
  const found = clients.find(({ name }) => name === (aliases[named] ?? named));
  if (found) return found.name;
  throw new WindrowError("bad-option", `No client is called "${named}".${nearest(named, known)}`, { client: named });
}

function head(url: string, answer: string): string {
  if (answer === "gateway") return `A gateway listens at ${url}.`;
  if (answer === "other") return `Another server listens at ${url}; choose a --port for windrow gateway.`;
  return `No gateway listens at ${url}. Start one: windrow gateway`;
}

function told({ client, command, state, addresses, set, unset }: ClientCheckup): string {
  const states = {
    routed: "goes through a gateway",
    unreachable: "cannot reach its address: nobody answers there",
    elsewhere: "goes to another server",
    direct: "asks its provider directly",
  };
  const rows = addresses.map(({ address, place, answer }) => `  now       ${address}  (${place}; ${answers[answer]})`);
  const lines = [
    `${client}: ${states[state]}${command === undefined ? ", and is not in the path" : ` (${command})`}`,
    ...rows,
    ...(state === "routed" ? [] : set.map((line, index) => `  ${index === 0 ? "set     " : "or      "}  ${line}`)),
    ...unset.map((line, index) => `  ${index === 0 ? "take out" : "or      "}  ${line}`),
  ];
  return lines.join("\n");
}

const answers = { gateway: "a gateway", nobody: "nobody answers", other: "another server" } as const;
