/** The mark of a session: the notes of upkeep on it, and what lists make of them. */
import { isObject } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";
import type { Listing } from "../engine.ts";
import { isSessionId, isTime } from "./rules.ts";
import type { SessionMetadata, SessionState } from "../store.ts";
import type { KeepMark } from "../upkeep.ts";
import { parseDocument } from "../format/documents.ts";

/** The notes of upkeep on a session. */
export interface Mark {
  readonly kept?: KeepMark;
  /** It is in the trash since then: ISO 8601, UTC; empty if that is not known. */
  readonly trashedAt?: string;
  /** A restore writes it, and all of it is not there yet. */
  readonly isRestoring?: true;
  /** It is being erased: its lines and documents are gone. */
  readonly isErasing?: true;
  /** Its making, a number that grows with each session made under the id, while it is being erased. */
  readonly made?: number;
  /** The name of the object that an archive has of it, while it is being erased. */
  readonly archivedAs?: string;
  /** The id that it had before it was put aside. */
  readonly asideOf?: string;
  /** Documents that nobody could read, from before they were written anew. */
  readonly unreadable?: readonly string[];
}

/** A mark as the text of a document; empty if it says nothing. */
export function encodeMark(mark: Mark): string {
  const text = JSON.stringify(mark);
  return text === "{}" ? "" : text;
}

/**
 * Reads a mark. One that is unreadable hides its session in the trash, since nobody knows when: its owner brings it back,
 * and no clean-up erases it.
 */
export function decodeMark(text: string): Mark {
  if (text === "") return {};
  return markFrom(parseDocument(text));
}

/** A mark from JSON, as {@link decodeMark}. */
export function markFrom(value: JsonValue | undefined): Mark {
  return isMark(value) ? (value as unknown as Mark) : { trashedAt: "" };
}

/** The check of each field. */
const markFields: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  kept: isObject,
  trashedAt: (value) => value === "" || isTime(value),
  isRestoring: (value) => value === true,
  isErasing: (value) => value === true,
  made: (value) => typeof value === "number",
  archivedAs: (value) => typeof value === "string",
  asideOf: isSessionId,
  unreadable: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
};

function isMark(value: JsonValue | undefined): boolean {
  return isObject(value) && Object.entries(value).every(([name, field]) => markFields[name]?.(field) === true);
}

/** What a session is listed by. */
export function listingOf(metadata: SessionMetadata, { status }: Pick<SessionState, "status">, mark: Mark): Listing {
  const { tenant, user, createdAt } = metadata;
  return {
    ...(tenant !== undefined && { tenant }),
    ...(user !== undefined && { user }),
    status,
    createdMs: Date.parse(createdAt) || 0,
    ...markListing(mark),
  };
}

/** What a session is listed by because of its mark. */
export function markListing({
  kept: _kept,
  unreadable: _unreadable,
  ...hiding
}: Mark): Pick<Listing, "isHidden" | "asideOf"> {
  const { asideOf } = hiding;
  return { isHidden: Object.keys(hiding).length > 0, ...(asideOf !== undefined && { asideOf }) };
}
