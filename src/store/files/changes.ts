/** The changes of sessions: those of who holds one, and of everybody else, one after the other and while nobody holds it. */
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../../errors.ts";
import { archiveEnding } from "../../disk/archive/archive-disk.ts";
import type { Disk } from "../../disk/disk.ts";
import { removeDrafts, syncFolder, systemCode, unavailable } from "../../disk/safe-write.ts";
import type { Head, NewHead, Step } from "../engine.ts";
import { blobsFolder } from "../format/blobs.ts";
import { holdQuietly, takeLock } from "../lock/lock.ts";
import type { Leases, SessionLock } from "../lock/lock.ts";
import { stamp } from "../shared/clock.ts";
import type { Taker } from "../shared/holder.ts";
import type { Recovered } from "../store.ts";
import { alone } from "./alone.ts";
import { decompressFolder } from "./compress.ts";
import { bytesIn, numbersIn, readMark } from "./folder.ts";
import type { Numbers } from "./folder.ts";
import { draftPrefix, locate, namesIn, parentFor } from "./layout.ts";
import type { Place } from "./layout.ts";
import { OpenLogs, checkLogs } from "./log/open-logs.ts";
import { makeSession } from "./make.ts";
import { OpenSession, removeLocks } from "./open-session.ts";
import type { Tools } from "./open-session.ts";
import type { Durability } from "./options.ts";

/** How often a lock is asked for that somebody is just taking. */
const mostTries = 50;

/** What sessions are changed with. */
export interface ChangeTools extends Tools {
  readonly durability: Durability;
  readonly leases: Leases;
  /** Called with each span that was mended when a session was taken. */
  readonly mended: (id: string, made: number, span: Recovered) => void;
}

/** Changes the sessions of one store. */
export class Changes {
  readonly #tools: ChangeTools;
  readonly #base: string;
  readonly #disk: Disk;
  readonly #held = new Map<string, OpenSession>();
  /** The newest change of each session that is under way. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(tools: ChangeTools) {
    this.#tools = tools;
    this.#base = tools.base;
    this.#disk = tools.disk;
  }

  make(head: NewHead): Promise<number | undefined> {
    return this.#turn(head.id, "Making a session", async () => {
      const made = await makeSession(this.#base, head, this.#disk);
      if (!made) return undefined;
      const session = this.#opened(made.place, made.lock);
      this.#held.set(head.id, session);
      if (!head.listing.isHidden) this.#tools.catalogue.made(head.id, head.listing);
      // Under a lock the numbers grow by one; those of the folder, which others see, do otherwise.
      session.numbers = { ...session.numbers, revision: session.numbers.made };
      return session.numbers.made;
    });
  }

  /** The session that this engine holds; one that was taken from it is let go of, behind the change under way. */
  heldBy(id: string): OpenSession | undefined {
    const held = this.#held.get(id);
    if (!held || held.hold?.lock.isMine()) return held;
    this.#held.delete(id);
    void this.#turn(id, "Letting go of a session", async () => held.drop()).catch(() => undefined);
    return undefined;
  }

  async settle(head: Head): Promise<boolean> {
    const place = locate(this.#base, head.id, this.#disk);
    if (!place || isPlaced(place, head)) return false;
    const to = head.listing.asideOf === undefined ? head.id : randomUUID();
    let isThere = false;
    const move = async (session: OpenSession): Promise<void> => {
      await session.settle(head.listing, to);
      if (session.place.parent !== "running") await removeLocks(session.place.folder, this.#disk);
      isThere = session.place.parent === parentFor(head.listing);
    };
    // Who may only read finds it where it is.
    await this.#aloneWith(head.id, head.revision, false, move).catch(() => undefined);
    return isThere;
  }

  commit(steps: readonly Step[]): Promise<readonly boolean[]> {
    return Promise.all(steps.map((step) => this.#turn(step.id, "Changing a session", () => this.#change(step))));
  }

  async #change(step: Step): Promise<boolean> {
    const held = this.#held.get(step.id);
    if (held) return this.#changeHeld(held, step);
    return step.holder ? this.#take(step, step.holder) : this.#changeOutside(step);
  }

  async #changeHeld(held: OpenSession, step: Step): Promise<boolean> {
    const { id, at, holder } = step;
    if (held.numbers.revision !== at) return false;
    const { lock } = held.hold!;
    // Another holder in this process takes it from the one before.
    if (holder && holder.taking !== lock.owner.taking) lock.rewrite(holder);
    try {
      await held.apply(step);
    } catch (error) {
      if (!isWindrowError(error, "fenced")) throw error;
      this.heldBy(id);
      return false;
    }
    if (holder !== null) return true;
    this.#held.delete(id);
    await held.release();
    return true;
  }

  /** Takes a session that this engine does not hold; one that a living process has is taken by force. */
  async #take(step: Step, taker: Taker): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      const place = locate(this.#base, step.id, this.#disk);
      if (!place) return false;
      const { folder } = place;
      let bytes = 0;
      const isUnchanged = (): boolean => {
        bytes = bytesIn(folder, this.#disk);
        return this.#numbersIn(place).revision === step.at;
      };
      const take = async (): Promise<boolean | undefined> => {
        const taken = takeLock(folder, taker, isUnchanged, this.#disk);
        if (taken === "changed") return false;
        if (taken === "taken") return undefined;
        return this.#begin(step, place, taken, () => bytesIn(folder, this.#disk) === bytes);
      };
      try {
        // Only in `running/` there is a lock that keeps out who works on it.
        const isTaken = await (place.parent === "running" ? take() : alone(this.#base, this.#disk, take));
        if (isTaken !== undefined) return isTaken;
      } catch (error) {
        if (systemCode(error) === "ENOENT" && !this.#disk.exists(folder)) return false;
        throw error;
      }
      if (tries === mostTries) throw beingTaken(step.id);
      await wait(2);
    }
  }

  /** Begins to write a session whose lock was taken, after what a dead writer left is mended. */
  async #begin(step: Step, place: Place, lock: SessionLock, isAsFound: () => boolean): Promise<boolean> {
    const { folder } = place;
    const disk = this.#disk;
    let logs: OpenLogs | undefined;
    try {
      // A holder that was passed over may have added something until it was out of reach: its lines have numbers.
      if (!isAsFound()) {
        lock.release();
        return false;
      }
      const names = await disk.readFolder(folder);
      if (names.some((name) => name.endsWith(archiveEnding))) await decompressFolder(folder, disk);
      if (!step.isEmptied) checkLogs(folder, disk);
      const crashed = !lock.predecessorReleased;
      const session = this.#opened(place, lock, crashed, step.at);
      logs = session.hold!.logs;
      for (const span of logs.recovered) this.#tools.mended(place.id, session.numbers.made, span);
      if (crashed) {
        // Lines of a dead writer may never have been synced; from here on they are relied on.
        await logs.sync(true);
        if (names.includes(blobsFolder)) await removeDrafts(join(folder, blobsFolder), disk);
        await syncFolder(folder, disk);
      }
      if (names.some((name) => name.endsWith(".tmp"))) await removeDrafts(folder, disk);
      await lock.sync();
      await session.apply(step);
      this.#held.set(place.id, session);
      return true;
    } catch (error) {
      logs?.close();
      lock.release();
      throw error;
    }
  }

  #opened(place: Place, lock: SessionLock, crashed = false, at?: number): OpenSession {
    const logs = new OpenLogs(place.folder, { ...this.#tools, stamp: stamp(this.#tools.clock), crashed });
    const { made, origin, revision } = this.#numbersIn(place);
    const numbers = { made, origin, revision: at ?? revision };
    return new OpenSession(place, numbers, this.#tools, { lock, logs });
  }

  /** Changes a session that nobody holds; a mark that hides nothing goes on one that somebody holds, too. */
  async #changeOutside(step: Step): Promise<boolean> {
    const { documents = {}, isEmptied, to, listing } = step;
    const isNote =
      !isEmptied && to === undefined && listing?.isHidden !== true && Object.keys(documents).join() === "mark";
    return this.#aloneWith(step.id, step.at, isNote, async (session, isFree) => {
      // Who holds a session moves it.
      const { listing: listed, ...note } = step;
      await session.apply(isFree && listed ? { ...note, listing: listed } : note);
      if (step.holder === null) session.forgetHolder();
    });
  }

  remove(id: string, at: number): Promise<boolean> {
    return this.#turn(id, "Removing a session", async () => {
      const held = this.heldBy(id);
      if (held && held.numbers.revision !== at) return false;
      this.#held.delete(id);
      await held?.release();
      const now = held && locate(this.#base, id, this.#disk);
      return this.#aloneWith(id, now ? this.#numbersIn(now).revision : at, false, ({ place }) =>
        this.#removeFolder(place),
      );
    });
  }

  /** Readers lose sight of it at once, whole. */
  async #removeFolder({ folder }: Place): Promise<void> {
    const disk = this.#disk;
    const parent = dirname(folder);
    disk.rename(folder, join(parent, `${draftPrefix.erased}${randomUUID()}`));
    await syncFolder(parent, disk);
    // Those of removals that were cut short, too.
    for (const name of await namesIn(parent, disk)) {
      if (name.startsWith(draftPrefix.erased)) await disk.removeTree(join(parent, name));
    }
    await syncFolder(parent, disk);
  }

  /** Works on a session as it was found, which nobody holds, and no other process changes. */
  async #aloneWith(
    id: string,
    at: number,
    mayBeHeld: boolean,
    work: (session: OpenSession, isFree: boolean) => Promise<void>,
  ): Promise<boolean> {
    if (!locate(this.#base, id, this.#disk)) return false;
    return alone(this.#base, this.#disk, async () => {
      const place = locate(this.#base, id, this.#disk);
      const hold = place && holdQuietly(place.folder, this.#disk, place.parent === "running");
      try {
        if (!place || (!hold && !mayBeHeld)) return false;
        const numbers = this.#numbersIn(place);
        if (numbers.revision !== at) return false;
        await work(new OpenSession(place, numbers, this.#tools), hold !== undefined);
        return true;
      } catch (error) {
        // It was moved by who holds it: it is looked at again.
        if (!hold && place && !this.#disk.exists(place.folder)) return false;
        throw error;
      } finally {
        hold?.release();
      }
    });
  }

  /** Works on the files of a session as it was found, which nobody holds. */
  repack(id: string, at: number, work: (folder: string) => Promise<void>): Promise<boolean> {
    return this.#turn(id, "Compressing a session", () =>
      this.#aloneWith(id, at, false, ({ place }) => work(place.folder)),
    );
  }

  /** Says in the locks that their holders live. */
  beat(holders: readonly { readonly id: string; readonly taking: string }[], heartbeatAt: string): void {
    for (const { id, taking } of holders) {
      const lock = this.#held.get(id)?.hold?.lock;
      if (lock?.owner.taking === taking) lock.rewrite({ ...lock.owner, heartbeatAt });
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#turns.values());
    const left = [...this.#held.values()];
    this.#held.clear();
    await Promise.all(left.map((session) => session.release()));
  }

  #numbersIn(place: Place): Numbers {
    return numbersIn(
      place,
      this.#tools.leases.look(place.folder, this.#disk),
      readMark(place.folder, this.#disk),
      this.#disk,
    );
  }

  /** Runs a change of a session behind those that were begun before. */
  async #turn<T>(id: string, doing: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id);
    const run = before ? before.then(work) : work();
    const settled = run.catch(() => undefined);
    this.#turns.set(id, settled);
    try {
      return await run;
    } catch (error) {
      throw refused(error, doing, this.#base);
    } finally {
      if (this.#turns.get(id) === settled) this.#turns.delete(id);
    }
  }
}

/** Whether a session lies where it belongs, or a process may be moving it. */
export function isPlaced({ parent }: Place, { listing, holder, isAlive, generation }: Head): boolean {
  if (holder && isAlive !== false) return true;
  return parentFor(listing) === parent && (parent !== "completed" || generation === 0);
}

/** An error of the system, after which nothing of a change is kept: no answer is lost on the way. */
export function refused(error: unknown, doing: string, path: string): WindrowError {
  const { code, message, data, cause } = unavailable(error, doing, path);
  return new WindrowError(
    code,
    message,
    { ...data, ...(code === "store-unavailable" && { refused: true }) },
    { cause },
  );
}

function beingTaken(id: string): WindrowError {
  const message = `Session ${id} is just being taken by another process. Wait until it is done, or open the session for reading.`;
  return new WindrowError("session-busy", message, { id });
}
