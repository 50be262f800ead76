/** A session that this process changes: its folder, its logs, and the order in which a step changes them. */
import { dirname, join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import { isAtWork, makeFolder, syncFolder, systemCode } from "../../disk/safe-write.ts";
import type { JsonObject } from "../../message/message.ts";
import type { Documents, Listing, Step } from "../engine.ts";
import { foreignState, metadataFile, page, parseDocument, stateFile } from "../format/documents.ts";
import { logNames } from "../format/logs.ts";
import { releaseRecord } from "../lock/lock.ts";
import type { SessionLock } from "../lock/lock.ts";
import { lockFile } from "../lock/owner-record.ts";
import { decodeMark } from "../shared/mark.ts";
import type { Clock } from "../shared/clock.ts";
import { isFinal } from "../shared/rules.ts";
import type { FinalStatus, SessionStatus } from "../store.ts";
import type { Catalogue } from "./catalogue.ts";
import { markFile, readMark, writeDocuments, writeMark } from "./folder.ts";
import type { MarkFile, Numbers } from "./folder.ts";
import { parentFor, placeIn, stateLockFile } from "./layout.ts";
import type { Place } from "./layout.ts";
import type { OpenLogs } from "./log/open-logs.ts";
import { notDurable } from "./log/open-logs.ts";
import { withStateLock } from "./state-lock.ts";

/** What a session is changed with. */
export interface Tools {
  readonly base: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
}

/** The lock and the logs of a session that this process holds. */
interface Hold {
  readonly lock: SessionLock;
  readonly logs: OpenLogs;
}

const kept: ReadonlySet<string> = new Set([metadataFile, stateFile, markFile, lockFile, stateLockFile]);
const logFiles: ReadonlySet<string> = new Set(logNames.map((log) => `${log}.jsonl`));

/** A session, held by this process or by nobody. */
export class OpenSession {
  place: Place;
  numbers: Numbers;
  readonly hold: Hold | undefined;
  readonly #tools: Tools;
  readonly #foreign: JsonObject;

  constructor(place: Place, numbers: Numbers, tools: Tools, hold?: Hold) {
    this.place = place;
    this.numbers = numbers;
    this.hold = hold;
    this.#tools = tools;
    this.#foreign = foreignState(place.folder, tools.disk);
  }

  /** @throws WindrowError `fenced` */
  check(): void {
    this.hold?.lock.check();
  }

  /**
   * Makes the changes of a step. A mark that hides the session comes first, and one that shows it last: whoever finds
   * half of a step finds a session that is not there yet, or is no more.
   *
   * @throws WindrowError `fenced`, `not-durable`
   */
  async apply(step: Omit<Step, "id" | "at" | "holder">): Promise<void> {
    const { documents = {}, listing, isEmptied = false, lines = [], to, isDurable } = step;
    const revision = this.numbers.revision + 1;
    const mark = this.#marked(step, revision);
    const isHiding = listing?.isHidden === true;
    const write = (): Promise<void> => this.#write(documents, isDurable);
    try {
      // With lines, it is asked with them.
      if (lines.length === 0) this.check();
      // Nothing that survives a power cut speaks of lines that do not.
      if (isDurable && lines.length === 0) await this.hold?.logs.sync();
      if (mark && isHiding) await this.#writeMark(mark);
      // Where an archive has the lines, the state says so before their beginning is another one and they go.
      if (isEmptied) await write();
      if (mark && isEmptied && !isHiding) await this.#writeMark(mark);
      if (isEmptied) this.numbers = { ...this.numbers, origin: revision };
      if (isEmptied) await this.#empty();
      if (lines.length > 0) await this.hold!.logs.add(lines, () => this.check());
      if (!isEmptied) await write();
      if (mark && !isEmptied && !isHiding) await this.#writeMark(mark);
    } catch (error) {
      throw notDurable(error, this.place.folder, () => this.check());
    }
    if (listing) await this.settle(listing, to);
    this.numbers = { ...this.numbers, revision };
  }

  /** Lets go of a session that was taken from this process. */
  drop(): void {
    this.hold?.logs.close();
    this.hold?.lock.abandon();
  }

  /** Says that a dead holder has let go. */
  forgetHolder(): void {
    releaseRecord(this.place.folder, this.#tools.disk);
  }

  /** Lets go of the session. */
  async release(): Promise<void> {
    if (!this.hold) return;
    const { lock, logs } = this.hold;
    try {
      if (lock.isMine()) await logs.sync();
    } finally {
      logs.close();
      const isMine = lock.isMine();
      lock.release();
      if (isMine && this.place.parent !== "running") await removeLocks(this.place.folder, this.#tools.disk);
    }
  }

  /**
   * Moves a session to where it belongs. If that fails, it stays where it is: its state and its mark say what it is, and
   * whoever opens it next moves it.
   */
  async settle(listing: Listing, to?: string): Promise<void> {
    const { base, disk, catalogue } = this.#tools;
    const { id, folder, parent } = this.place;
    const target = placeIn(base, parentFor(listing), to ?? id);
    if (target.folder === folder) return;
    this.check();
    try {
      await makeFolder(dirname(target.folder), disk);
      disk.rename(folder, target.folder);
    } catch (error) {
      if (to === undefined && systemCode(error) !== undefined) return;
      throw error;
    }
    this.place = target;
    await syncFolder(dirname(target.folder), disk);
    await syncFolder(dirname(folder), disk);
    const { status } = listing;
    if (parent === "running" && isFinal(status as SessionStatus))
      catalogue.add([{ id: target.id, status: status as FinalStatus }]);
    else if (!listing.isHidden) catalogue.made(target.id, listing);
  }

  #marked({ documents, listing, isEmptied = false }: Partial<Step>, revision: number): MarkFile | undefined {
    if (this.hold && documents?.mark === undefined && !isEmptied) return undefined;
    const before = readMark(this.place.folder, this.#tools.disk);
    const text = documents?.mark;
    return {
      mark: text === undefined ? before.mark : decodeMark(text),
      steps: before.steps + (this.hold && !isEmptied ? 0 : 1),
      origin: isEmptied ? revision : before.origin,
      listing: listing?.isHidden === true ? listing : undefined,
    };
  }

  #writeMark(mark: MarkFile): Promise<void> {
    return writeMark(this.place.folder, mark, this.#tools.disk);
  }

  async #write(documents: Partial<Documents>, isDurable: boolean): Promise<void> {
    const { metadata, state } = documents;
    if (metadata === undefined && state === undefined) return;
    const { disk, clock } = this.#tools;
    const { folder, parent } = this.place;
    const whole = state ? { ...documents, state: page({ ...parseDocument(state), ...this.#foreign }) } : documents;
    const work = (): Promise<void> => writeDocuments(folder, whole, isDurable, disk, () => this.check());
    await (parent === "running" && state ? withStateLock(folder, disk, clock, work) : work());
    if (metadata === "" || state === "") await syncFolder(folder, disk);
  }

  /** Removes the lines first and what they name last, so that no line that is read names what is gone. */
  async #empty(): Promise<void> {
    const { disk } = this.#tools;
    const { folder } = this.place;
    const isHeld = this.hold !== undefined;
    this.hold?.logs.empty();
    const mayGo = (name: string): boolean =>
      !kept.has(name) && !(isHeld && logFiles.has(name)) && !isAtWork(join(folder, name), disk);
    const names = (await disk.readFolder(folder)).filter(mayGo);
    for (const name of names) if (name.includes(".jsonl")) disk.unlink(join(folder, name));
    await syncFolder(folder, disk);
    for (const name of names) if (!name.includes(".jsonl")) await disk.removeTree(join(folder, name));
    await syncFolder(folder, disk);
  }
}

/** Removes what only a session in `running/` has. */
export async function removeLocks(folder: string, disk: Disk): Promise<void> {
  for (const name of [stateLockFile, lockFile]) if (disk.exists(join(folder, name))) disk.unlink(join(folder, name));
  await syncFolder(folder, disk);
}
