/** The secret of a gateway's store: beside the store where that is on this machine, else of the environment. */
import { dirname } from "node:path";
import { WindrowError } from "../../errors.ts";
import { keptSecret, passingSecret } from "../../gateway/secret.ts";
import { searchFolderOf } from "../../search/folder.ts";
import type { CommandIo } from "../command.ts";
import { variableOf } from "./token.ts";

/** The variable of the secret, for a store that has no folder on this machine. */
export const secretVariable = "WINDROW_GATEWAY_SECRET";

/**
 * The secret of a store: in its folder or beside its file, so that conversations are known again behind a restart. For a
 * store elsewhere it is in the environment; without it a warning says what that means.
 *
 * @throws WindrowError `bad-option` for a variable that is no secret; `store-unavailable` where the file cannot be had
 */
export async function secretOf(store: string, io: CommandIo): Promise<Buffer> {
  const folder = searchFolderOf(store);
  if (folder !== undefined) return keptSecret(dirname(folder));
  const given = variableOf(io, secretVariable);
  if (given === undefined) {
    const effect = "a gateway that is started again knows no conversation of this store again";
    io.stderr.write(`windrow: warning: ${effect}: set ${secretVariable} to 64 hexadecimal digits of chance.\n`);
    return passingSecret();
  }
  // It is never quoted.
  if (/^[\da-f]{64}$/i.test(given)) return Buffer.from(given, "hex");
  const message = `${secretVariable} has 64 hexadecimal digits, for example of "openssl rand -hex 32".`;
  throw new WindrowError("bad-option", message, { variable: secretVariable });
}
