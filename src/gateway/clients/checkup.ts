/** A checkup of the clients of this machine: which of them go through a gateway, and how each is pointed at one. */
import { withoutSecrets } from "../../address.ts";
import { clients, executableOf } from "./found.ts";
import type { Client, ClientName } from "./found.ts";
import type { Environment } from "./route.ts";

/** The state of one client. */
export interface ClientCheckup {
  readonly client: ClientName;
  /** The file that its name starts; absent where the client is not here. */
  readonly command?: string;
  /**
   * `routed`: a gateway answers where it sends its requests; `unreachable`: nothing answers there; `elsewhere`: another
   * server does; `direct`: it has no address of its own, so it asks its provider.
   */
  readonly state: "routed" | "unreachable" | "elsewhere" | "direct";
  /** The addresses it has, without passwords, and where each stands. */
  readonly addresses: readonly { readonly address: string; readonly place: string; readonly answer: Answer }[];
  /** Lines that point it at the gateway, and those that take it out again. */
  readonly set: readonly string[];
  readonly unset: readonly string[];
}

/** The answer of whoever listens at an address. */
export type Answer = "gateway" | "nobody" | "other";

/** Asks an address whether a gateway listens there. It sends no key and costs nothing. */
export async function probe(address: string, signal?: AbortSignal): Promise<Answer> {
  if (!URL.canParse(address)) return "nobody";
  try {
    const ended = AbortSignal.timeout(3_000);
    const { origin } = new URL(address);
    const response = await fetch(`${origin}/-/health`, {
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, ended]) : ended,
    });
    await response.body?.cancel();
    return response.headers.has("x-windrow") ? "gateway" : "other";
  } catch {
    return "nobody";
  }
}

/**
 * Looks at clients. Their files are read, and the addresses in them asked whether a gateway listens; no client is started.
 *
 * @param url - the gateway that the lines to set speak of
 * @param only - the one that is meant; absent: every one that is here, or that has an address
 */
export async function checkClients(
  url: string,
  env: Environment,
  only?: ClientName,
  signal?: AbortSignal,
): Promise<readonly ClientCheckup[]> {
  const wanted = clients.filter(({ name }) => only === undefined || name === only);
  const all = await Promise.all(wanted.map((client) => checkClient(client, url, env, signal)));
  return all.filter(({ command, addresses }) => only !== undefined || command !== undefined || addresses.length > 0);
}

async function checkClient(
  client: Client,
  url: string,
  env: Environment,
  signal: AbortSignal | undefined,
): Promise<ClientCheckup> {
  const [command, found] = await Promise.all([executableOf(client.name, env), client.find(env)]);
  const addresses = await Promise.all(
    found.map(async ({ address, place }) => ({
      address: withoutSecrets(address),
      place,
      answer: await probe(address, signal),
    })),
  );
  return {
    client: client.name,
    ...(command !== undefined && { command }),
    state: stateOf(addresses.map(({ answer }) => answer)),
    addresses,
    set: client.set(url),
    unset: client.unset(),
  };
}

function stateOf(answers: readonly Answer[]): ClientCheckup["state"] {
  if (answers.length === 0) return "direct";
  if (answers.includes("gateway")) return "routed";
  return answers.includes("other") ? "elsewhere" : "unreachable";
}
