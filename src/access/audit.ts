/**
 * The audit of a store: each access with its principal, session, file and time. It is one file of JSON lines a store,
 * 0600, written before an access is acknowledged, and only ever added to.
 */
import { closeSync, constants, createReadStream, existsSync, fchmodSync, fstatSync, openSync } from "node:fs";
import { readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { WindrowError } from "../errors.ts";
import { makeFolders } from "../disk/folders.ts";
import { createMask, maskJson } from "../mask/mask.ts";
import type { Mask } from "../mask/mask.ts";
import { emailAddress } from "../mask/rules.ts";
import { systemClock, timestamp } from "../store/shared/clock.ts";
import type { Clock } from "../store/shared/clock.ts";
import { fileMode, systemCode } from "../disk/safe-write.ts";
import { storeActions } from "../store/shared/shape.ts";
import type { StoreAction } from "../store/shared/shape.ts";
import { checkNoOpenDatabase } from "../store/sqlite/connection/file.ts";

/** The actions that an audit names: those of a store's methods. */
export const auditActions = storeActions;

/** One of {@link auditActions}. */
export type AuditAction = StoreAction;

/** One access, as the audit keeps it. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  readonly time: string;
  /** The principal's name, or the system's user where no principal was named. */
  readonly who: string;
  readonly action: AuditAction;
  readonly sessionId?: string;
  /** The file of the session, by its name in docs/format.md; a store without files has the log of that name. */
  readonly file?: string;
  /** The tenant in whose name it was asked. */
  readonly tenant?: string;
  /** Why it was refused or failed: a code of docs/errors.md. Absent where it was done. */
  readonly error?: string;
  readonly processId: number;
}

/** An access on its way into the audit, which adds the time and the process. */
export type Accessed = Omit<AuditEntry, "time" | "processId">;

/** Which entries to read. All conditions hold together. */
export interface AuditQuery {
  readonly who?: string;
  /** An id, or the beginning of one. */
  readonly sessionId?: string;
  readonly action?: AuditAction;
  /** At this time or later: ISO 8601, or a date for its beginning, UTC. */
  readonly from?: string;
  /** Before this time; a date means its end, UTC. */
  readonly to?: string;
}

/** A file that accesses are written to. */
export interface Audit {
  /**
   * Writes one entry. It survives the death of the process when this returns; a power cut may take the newest.
   *
   * @throws WindrowError `not-durable` when it cannot be written: what was asked for is then not done
   */
  record(accessed: Accessed): void;
  close(): void;
}

const toAppend = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
const lineEnd = 0x0a;

/** Actions that make a store where there is none. Others find nothing there, and get no entry. */
const makers: ReadonlySet<AuditAction> = new Set(["create", "import"]);

/**
 * The audit of a store. Its file, and its folder, are made on the first entry. Who asks may be an e-mail address, which
 * stays readable: the audit is there to name them.
 *
 * @param options.mask - default: as a store's
 * @param options.inStore - the file lies in the store's own folder, which is made with the first session and not before
 */
export function openAudit(
  file: string,
  options: { readonly mask?: Mask; readonly clock?: Clock; readonly inStore?: boolean } = {},
): Audit {
  const { mask = createMask(), clock = systemClock, inStore = false } = options;
  const open = identityRules(mask);
  let opened: number | undefined;
  return {
    record({ who, action, sessionId, ...rest }) {
      if (inStore && opened === undefined && !makers.has(action) && !existsSync(dirname(file))) return;
      const { tenant } = rest;
      const fields = { time: timestamp(clock), who: "", action, ...(sessionId && { session_id: sessionId }), ...rest };
      const names = maskJson(open, { who, ...(tenant !== undefined && { tenant }) });
      const line = JSON.stringify({ ...maskJson(mask, fields), ...names, process_id: process.pid });
      try {
        opened ??= openToAppend(file);
        const bytes = Buffer.from(`${line}\n`);
        if (writeSync(opened, bytes) !== bytes.length) throw new Error("the line was cut short");
      } catch (error) {
        throw cannotWrite(file, error);
      }
    },
    close() {
      if (opened !== undefined) closeSync(opened);
      opened = undefined;
    },
  };
}

/** The mask without addresses. */
function identityRules(mask: Mask): Mask {
  return { ...mask, rules: mask.rules.filter((rule) => rule !== emailAddress) };
}

/** Opens the file and ends a line that a crash left half written. */
function openToAppend(file: string): number {
  makeFolders(dirname(file), 0o700);
  checkNoOpenDatabase(file);
  const opened = openSync(file, toAppend, fileMode);
  fchmodSync(opened, fileMode);
  const { size } = fstatSync(opened);
  const last = Buffer.alloc(1);
  if (size > 0 && readSync(opened, last, 0, 1, size - 1) === 1 && last[0] !== lineEnd) writeSync(opened, "\n");
  return opened;
}

/**
 * Entries of an audit, oldest first; lines that are none are passed over. Streams. A file that is not there has none.
 *
 * @throws WindrowError `bad-option` for a time that is none
 */
export async function* readAudit(file: string, query: AuditQuery = {}): AsyncGenerator<AuditEntry, void, undefined> {
  const from = query.from === undefined ? undefined : timeOf(query.from, 0);
  const to = query.to === undefined ? undefined : timeOf(query.to, dayMs);
  if (!existsSync(file)) return;
  const lines = createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity });
  for await (const line of lines) {
    const entry = entryOf(line);
    if (!entry) continue;
    if (query.who !== undefined && entry.who !== query.who) continue;
    if (query.sessionId !== undefined && entry.sessionId?.startsWith(query.sessionId) !== true) continue;
    if (query.action !== undefined && entry.action !== query.action) continue;
    const time = Date.parse(entry.time);
    if ((from !== undefined && time < from) || (to !== undefined && time >= to)) continue;
    yield entry;
  }
}

const dayMs = 86_400_000;

/** Milliseconds since 1970; a date alone counts from its beginning plus so many milliseconds. */
function timeOf(text: string, added: number): number {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return isDate ? time + added : time;
  throw new WindrowError("bad-option", `"${text}" is no time: write 2026-01-31 or 2026-01-31T10:00:00Z.`, { text });
}

function entryOf(line: string): AuditEntry | undefined {
  try {
    const fields: unknown = JSON.parse(line);
    if (typeof fields !== "object" || fields === null) return undefined;
    const { session_id, process_id, ...rest } = fields as Record<string, unknown>;
    const { time, who, action } = rest;
    if (typeof time !== "string" || typeof who !== "string" || typeof action !== "string") return undefined;
    const named = typeof session_id === "string" ? { sessionId: session_id } : {};
    return { ...(rest as unknown as AuditEntry), ...named, processId: Number(process_id ?? 0) };
  } catch {
    return undefined;
  }
}

function cannotWrite(file: string, cause: unknown): WindrowError {
  const reason = systemCode(cause) ?? String(cause);
  const message =
    `The audit ${file} cannot be written: ${reason}. What was asked for was not done; ` +
    "free disk space or mend its permissions.";
  return new WindrowError("not-durable", message, { file, reason }, { cause });
}
