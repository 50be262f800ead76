/** The place of a store's audit, and the name that its entries give. */
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WindrowError } from "../errors.ts";
import { openAudit } from "./audit.ts";
import type { Audit } from "./audit.ts";
import type { AccessOptions, OpenStoreOptions } from "./options.ts";

/** The file of a store's audit: `audit.jsonl` in a folder, `<file>.audit.jsonl` beside a database, none for `ram:`. */
export function auditFileOf(target: string): string | undefined {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(target)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "file" && scheme !== "sqlite") return undefined;
  const rest = scheme === undefined ? target : target.slice(scheme.length + 1);
  const path = scheme !== undefined && rest.startsWith("//") ? fileURLToPath(`file:${rest}`) : rest;
  return scheme === "sqlite" ? `${path}.audit.jsonl` : join(path, "audit.jsonl");
}

/** The audit that a store's accesses go into; undefined where none is wanted. */
export function auditOf(
  target: string | undefined,
  { audit: wanted = false }: AccessOptions,
  { mask, clock }: Pick<OpenStoreOptions, "mask" | "clock">,
): Audit | undefined {
  const file = wanted === true ? target && auditFileOf(target) : wanted;
  if (wanted === true && target !== undefined && /^(?:postgres(?:ql)?|rediss?):/i.test(target)) {
    const message = "A store on a server keeps no audit of its own: name a file as `audit`.";
    throw new WindrowError("bad-option", message, { option: "audit" });
  }
  if (file === undefined || file === false || file === "") return undefined;
  return openAudit(file, { ...(mask && { mask }), ...(clock && { clock }), inStore: wanted === true });
}

/** The name that the audit says. */
export function whoOf({ principal, who = principal?.name ?? systemUser() }: AccessOptions): string {
  return who;
}

/** The name of the system's user, who stands in the audit where no principal is named. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
