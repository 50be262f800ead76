/** The token of a gateway's clients, from the command line or the environment. */
import type { CommandIo } from "../command.ts";

/** The variable of the token: a command line is read by every user of a machine. */
export const tokenVariable = "WINDROW_GATEWAY_TOKEN";

/** The token that is given; undefined where none is. */
export function tokenOf(flag: string | undefined, io: CommandIo): string | undefined {
  return flag ?? variableOf(io, tokenVariable);
}

/** A variable of the environment; undefined where it is empty. */
export function variableOf({ env }: CommandIo, name: string): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}
