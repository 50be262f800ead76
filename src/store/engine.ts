/**
 * An engine: a place where sessions lie, as lines and small documents that change in atomic steps. It knows nothing of what
 * a session is; `session-store/` keeps every promise of a {@link Store} over it, once for all engines.
 */
import type { Counters } from "./shared/session-log.ts";
import type { Taker } from "./shared/holder.ts";
import type { Finding, LogName, Recovered, SessionMetadata, SessionState } from "./store.ts";
import type { ErasedPlace } from "./upkeep.ts";

/** The documents of a session, as texts. */
export interface Documents {
  /** The text of `metadata.json`. */
  readonly metadata: string;
  /** The text of `state.json`. */
  readonly state: string;
  /** What upkeep does with the session, as JSON; empty: nothing. */
  readonly mark: string;
}

/** What sessions are listed by: copies of what the documents say. */
export interface Listing {
  readonly tenant?: string;
  readonly user?: string;
  readonly status: string;
  /** When the session was made, in milliseconds since 1970. */
  readonly createdMs: number;
  /** Whether lists leave it out: it is in the trash, put aside, being erased or being restored. */
  readonly isHidden: boolean;
  /** The id that it had before it was put aside. */
  readonly asideOf?: string;
}

/** A session without its lines. */
export interface Head {
  readonly id: string;
  readonly documents: Documents;
  readonly listing: Listing;
  /** The revision of its making. A session that is made anew under the id has a higher one. */
  readonly made: number;
  /** The number of the last step; it grows with each. */
  readonly revision: number;
  /** The revision with which the lines began: that of the making, or of the last step that emptied the session. */
  readonly origin: number;
  /** How often the session was taken. */
  readonly generation: number;
  /** The process that writes it, or died without letting go. */
  readonly holder: Taker | undefined;
  /** Whether that process lives, where the place itself knows. */
  readonly isAlive?: boolean | undefined;
  /** Milliseconds since the holder said that it lives, by the clock of the place. */
  readonly silentMs: number;
  /** What the documents say, where the engine has read them itself. */
  readonly decoded?: { readonly metadata: SessionMetadata; readonly state: SessionState } | undefined;
}

/** A session to be made; the revision is higher than those of every session that had its id. */
export type NewHead = Pick<Head, "id" | "documents" | "listing" | "revision"> & {
  /** Its first holder, whose generation is 1. */
  readonly holder: Taker;
};

/** A line to be added, with its numbers. */
export interface EngineLine {
  readonly log: LogName;
  readonly seq: number;
  readonly pos: number;
  /** JSON, without a line end. */
  readonly line: string;
}

/** The place of a line in its log, for the next page. */
export interface Place {
  readonly seq: number;
  /** The engine's own number: lines of one `seq` differ in it. */
  readonly row: number;
}

/** A line that was read, perhaps one that is no record. */
export interface PlacedLine extends Place {
  readonly line: string;
}

/** Which lines of a log to read. */
export interface PageQuery {
  /** `seq` at least this. */
  readonly from: number;
  /** `seq` at most this. */
  readonly to: number;
  /** The first page begins with the n-th line from the end. */
  readonly last?: number | undefined;
  /** Behind this line. */
  readonly after?: Place | undefined;
  /** Lines, at most. */
  readonly most: number;
}

/** Lines of one session, in order of `seq`. */
export interface Page {
  /** {@link Head.origin} at this moment; undefined where the session is gone, or lists leave it out. */
  readonly origin: number | undefined;
  /** The highest `seq` of the log at this moment; 0 in an empty one. */
  readonly newest: number;
  readonly lines: readonly PlacedLine[];
}

/** A part of a log that is read with a session: its newest lines, or its first. */
export interface EndPart {
  readonly log: LogName;
  /** Lines and bytes, at most. */
  readonly lines: number;
  readonly bytes: number;
  readonly isFirst?: true;
  /** The type of an edit behind which nothing older is of interest. */
  readonly until?: string;
}

/** A session in one moment. */
export interface Look {
  readonly head: Head;
  readonly numbers: Counters;
  /** Lines of each part that was asked for, oldest first; `isCut` where lines with the number of the oldest are missing. */
  readonly ends: readonly (readonly (PlacedLine & { readonly isCut?: boolean })[])[];
}

/** One change of a session: all of it or nothing, and nothing where the session has another revision. */
export interface Step {
  readonly id: string;
  /** The revision that the session must have; it has the next one afterwards. */
  readonly at: number;
  /** Removes every line, before `lines` are added. */
  readonly isEmptied?: boolean;
  readonly lines?: readonly EngineLine[];
  readonly documents?: Partial<Documents>;
  readonly listing?: Listing;
  /** The id that it has from now on, which no session has. Its last twelve characters are those of `id`. */
  readonly to?: string;
  /** The next holder, whose generation is the session's from now on; null: nobody. */
  readonly holder?: Taker | null;
  /** Whether a power cut must not take it. */
  readonly isDurable: boolean;
}

/** Which heads to give: all conditions hold together. */
export interface HeadsQuery {
  /** Default: every owner's. */
  readonly scope?: { readonly tenant?: string; readonly user?: string };
  readonly status?: string | undefined;
  /** Default: those of lists, and those that lists leave out. */
  readonly isHidden?: boolean;
  /** Those that had this id before they were put aside. */
  readonly asideOf?: string;
  /** Finished ones may be left out. */
  readonly isUnfinished?: boolean | undefined;
  /** Finished ones for which this is true may be left out. */
  readonly without?: ((id: string) => boolean) | undefined;
  /** Behind this one. */
  readonly after?: { readonly createdMs: number; readonly id: string };
  /** At most. */
  readonly most: number;
}

/** The size of a session. */
export interface EngineSize {
  /** Lines and documents. */
  readonly count: number;
  readonly bytes: number;
  /** Bytes if nothing were compressed. Default: `bytes`. */
  readonly plainBytes?: number;
  /** Whether all of it is compressed that is worth it. Default: false. */
  readonly compressed?: boolean;
}

/** A place for sessions. */
export interface Engine {
  /** For people and logs: `ram`, `sqlite`. */
  readonly name: string;
  /** What a step that asked for it survives. */
  readonly survives: "nothing" | "power";
  /** Two processes can work with the same place at once. */
  readonly isShared: boolean;
  /**
   * A crash may leave a part of a step's lines, from the first on: those of one log come together, and say so. No step has
   * lines and documents, of which one could be kept without the other.
   */
  readonly mayTear?: boolean;
  /** What stands behind the name of a log where people see it, such as the ending of its file. Default: nothing. */
  readonly logEnding?: string;
  /** Batches of steps that it can work on at once; where there is no limit, each session has its own. Default 1. */
  readonly batches?: number;
  /** Aborted once a place that is silent while the store is closed is waited for no more. */
  readonly givenUp?: AbortSignal;
  /** Where people find a session. */
  locationOf(id: string): string;
  /**
   * Throws where nothing can be read any more, as when the file was replaced.
   *
   * @throws WindrowError `store-unavailable`
   */
  check(): void;
  /** @returns the revision that it has, which is that of the head unless the engine counts otherwise; undefined where a session has the id */
  make(head: NewHead): Promise<number | undefined>;
  /** One session, hidden or not. */
  head(id: string): Promise<Head | undefined>;
  /** A session, hidden or not, with its last numbers and ends of its logs; where it saves ways to a server. */
  look?(id: string, parts: readonly EndPart[]): Promise<Look | undefined>;
  /** Heads by creation, newest first; those of one moment by id. */
  heads(query: HeadsQuery): Promise<readonly Head[]>;
  /** The last numbers of a session's lines. */
  numbers(id: string): Promise<Counters>;
  /** Some lines of a log. */
  page(id: string, log: LogName, query: PageQuery): Promise<Page>;
  size(id: string): Promise<EngineSize>;
  /**
   * Makes changes, at most one of a session, and together where that is faster; one that is refused harms no other.
   *
   * @returns of each, whether it was made
   * @throws WindrowError `not-durable`, or any with `refused` in its data, where nothing was made; `store-unavailable` where
   *   that is not known
   */
  commit(steps: readonly Step[]): Promise<readonly boolean[]>;
  /** Removes a session to its last byte. @returns false where it has another revision */
  remove(id: string, at: number): Promise<boolean>;
  /** Says that holders live: by session and taking. */
  beat(holders: readonly { readonly id: string; readonly taking: string }[], time: string): Promise<void>;
  /** Moves a session to where it belongs, if a crash left it elsewhere. @returns whether it was mended */
  settle?(head: Head): Promise<boolean>;
  /** What was mended of a session's lines when it was taken, and damage that the engine alone sees. */
  recovered?(head: Pick<Head, "id" | "made">): readonly Recovered[];
  /** Compresses a session that nobody writes, or undoes it. @returns false where it has another revision */
  compress?(id: string, at: number): Promise<boolean>;
  decompress?(id: string, at: number): Promise<boolean>;
  /** @throws WindrowError `store-corrupt` for what is compressed and cannot be unpacked */
  verify?(id: string): Promise<void>;
  /** Takes what was removed out of free space; absent where removing does that. */
  scrub?(): Promise<ErasedPlace>;
  /**
   * Looks for faults that only the engine can see, such as a damaged page of its file, and mends what it can. `stale-index` is
   * about lists of sessions alone, and so is every notice.
   */
  examine?(mend: boolean): Promise<readonly Finding[]>;
  /** The store is being closed: a place that is silent from now on is given up. */
  hurry?(): void;
  close(): Promise<void>;
}
