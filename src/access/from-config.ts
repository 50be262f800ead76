/** A principal and the options of a store, read from a configuration. */
import type { Settings } from "../config/config.ts";
import { WindrowError } from "../errors.ts";
import { createMask } from "../mask/mask.ts";
import type { Mask } from "../mask/mask.ts";
import { secretVariables } from "../mask/registered-values.ts";
import { notAllowed } from "./guarded.ts";
import { systemUser } from "./audit-place.ts";
import type { AccessOptions, OpenStoreOptions } from "./options.ts";

/** The user, tenant or role that a caller asks for, beside a configuration. */
export interface Asked {
  /** Act as this user. */
  readonly user?: string;
  readonly tenant?: string;
  /** Act as an admin. */
  readonly admin?: boolean;
}

type AccessSettings = Pick<Settings, "user" | "tenant" | "admin" | "access" | "audit">;

/**
 * The sessions that a caller may see. The caller is the configuration's `user`. A configuration without `user` and
 * `admins` keeps nobody out: a caller who can read the files may ask as anyone, or for everything. An admin may act as another
 * user; the audit keeps the admin's name.
 *
 * @throws WindrowError `not-allowed` for who asks to be an admin, or another user or tenant, and is none of the `admins`
 */
export function accessOf(settings: AccessSettings, asked: Asked = {}): AccessOptions {
  const { access, audit } = settings;
  const self = settings.user ?? (access?.admins === undefined ? undefined : systemUser());
  const admin = asked.admin ?? settings.admin ?? false;
  const mayBeAdmin = access?.admins?.includes(self ?? "") ?? true;
  if (admin && !mayBeAdmin) {
    throw notAllowed(`"${self}" is no admin; the configuration's \`access.admins\` names them.`, { principal: self });
  }
  for (const what of ["user", "tenant"] as const) {
    const own = what === "user" ? self : settings.tenant;
    const other = asked[what];
    if (admin || own === undefined || other === undefined || other === own) continue;
    throw notAllowed(`The ${what} is "${own}": only an admin may act for "${other}".`, { principal: self });
  }
  const tenant = asked.tenant ?? settings.tenant;
  const actsAs = asked.user ?? self;
  const role = actsAs === undefined || (admin && asked.user === undefined) ? "admin" : "user";
  const bound = tenant === undefined ? {} : { tenant };
  const isOpen = actsAs === undefined && tenant === undefined;
  return {
    ...(!isOpen && { principal: { name: actsAs ?? systemUser(), role, ...bound } }),
    who: self ?? asked.user ?? systemUser(),
    ...(audit !== undefined && { audit }),
  };
}

/** The options of every store that is opened under a configuration. */
export function openOptionsOf(settings: Settings, asked?: Asked): OpenStoreOptions {
  const { durability, archive } = settings;
  const mask = isMailPreset(settings.strategy) ? { email: true, ...settings.mask } : settings.mask;
  return {
    ...(durability !== undefined && { durability }),
    ...(archive !== undefined && { archive }),
    ...(mask !== undefined && { mask: maskOf(mask) }),
    access: accessOf(settings, asked),
  };
}

/** The preset `coding-agent` masks e-mail addresses (docs/presets.md). */
function isMailPreset(strategy: Settings["strategy"]): boolean {
  return (typeof strategy === "object" ? strategy.use : strategy) === "coding-agent";
}

/**
 * The mask that a configuration describes.
 *
 * @throws WindrowError `bad-option` where the environment lacks the key it names, or has a bad one
 */
function maskOf({ email = false, environment = false, seal, liveMask = false }: NonNullable<Settings["mask"]>): Mask {
  const key = seal === undefined ? undefined : process.env[seal];
  if (seal !== undefined && key === undefined) {
    // It may be the key itself, which no message shows.
    const isName = /^[A-Z][A-Z0-9_]{0,40}$/.test(seal);
    const message = isName
      ? `The configuration's \`mask.seal\` names ${seal}, and the environment has no such variable.`
      : "The configuration's `mask.seal` should be the name of a variable that holds the key, such as WINDROW_SEAL_KEY; " +
        "what stands there is no variable of the environment.";
    throw new WindrowError("bad-option", message, { ...(isName && { variable: seal }) });
  }
  const values = environment ? secretVariables(process.env) : {};
  return createMask({ email, liveMask, values, ...(key !== undefined && { seal: key }) });
}
