/**
 * The engine of files: every session a folder one can read with `ls`, `jq` and `grep` (docs/format.md). Who holds a session
 * has the kernel's lock on its `.lock`; everybody else changes it one after the other, and only while nobody holds it.
 */
import { join } from "node:path";
import { WindrowError } from "../../errors.ts";
import type { Disk } from "../../disk/disk.ts";
import { systemCode } from "../../disk/safe-write.ts";
import type { Engine, EngineSize, Head, HeadsQuery, NewHead, Page, PageQuery, Step } from "../engine.ts";
import { blobsFolder } from "../format/blobs.ts";
import type { BlobName } from "../format/blobs.ts";
import { logKinds } from "../format/logs.ts";
import { noCounts } from "../format/seal.ts";
import { Leases } from "../lock/lock.ts";
import { markListing } from "../shared/mark.ts";
import { stamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { DamageList } from "../shared/damage-list.ts";
import type { Counters } from "../shared/session-log.ts";
import type { Finding, LogName, Recovered } from "../store.ts";
import type { ErasedPlace } from "../upkeep.ts";
import { alone } from "./alone.ts";
import { Catalogue } from "./catalogue.ts";
import { Changes, refused } from "./changes.ts";
import type { ChangeTools } from "./changes.ts";
import { compressFolder, decompressFolder, sizeOfFolder, verifyFolder } from "./compress.ts";
import { headIn, noLock, numbersIn, readMark } from "./folder.ts";
import { locate, placeIn } from "./layout.ts";
import type { Place } from "./layout.ts";
import { headsOf } from "./lists.ts";
import { BlobFolder } from "./log/blobs.ts";
import { finishedEnd, lastNumbers, lastOf, readPage } from "./log/page.ts";
import type { Durability } from "./options.ts";
import { withFile } from "../../disk/read.ts";

/** Looks at a session that moves meanwhile. */
const looks = 20;

/** The tools of an engine of files. */
export interface FilesTools {
  readonly durability: Durability;
  readonly clock: Clock;
  readonly disk: Disk;
}

/** Makes the engine of a base folder. */
export function filesEngine(base: string, tools: FilesTools): Engine {
  return new FilesEngine(base, tools);
}

class FilesEngine implements Engine {
  readonly name = "files";
  readonly survives = "power";
  readonly isShared = true;
  readonly mayTear = true;
  readonly logEnding = ".jsonl";
  readonly batches = Number.POSITIVE_INFINITY;
  readonly #base: string;
  readonly #disk: Disk;
  readonly #tools: ChangeTools;
  readonly #changes: Changes;
  readonly #damage = new DamageList();

  constructor(base: string, tools: FilesTools) {
    this.#base = base;
    this.#disk = tools.disk;
    this.#tools = {
      ...tools,
      base,
      leases: new Leases(tools.clock),
      catalogue: new Catalogue(base, tools.disk),
      mended: (id, made, span) => this.#damage.add(keyOf(id, made), span),
    };
    this.#changes = new Changes(this.#tools);
  }

  locationOf(id: string): string {
    return (locate(this.#base, id, this.#disk) ?? placeIn(this.#base, "running", id)).folder;
  }

  check(): void {}

  make(head: NewHead): Promise<number | undefined> {
    return this.#changes.make(head);
  }

  commit(steps: readonly Step[]): Promise<readonly boolean[]> {
    return this.#changes.commit(steps);
  }

  remove(id: string, at: number): Promise<boolean> {
    return this.#changes.remove(id, at);
  }

  settle(head: Head): Promise<boolean> {
    return this.#changes.settle(head);
  }

  compress(id: string, at: number): Promise<boolean> {
    return this.#changes.repack(id, at, (folder) => compressFolder(folder, this.#disk));
  }

  decompress(id: string, at: number): Promise<boolean> {
    return this.#changes.repack(id, at, (folder) => decompressFolder(folder, this.#disk));
  }

  async beat(holders: readonly { readonly id: string; readonly taking: string }[], time: string): Promise<void> {
    this.#changes.beat(holders, time);
  }

  close(): Promise<void> {
    return this.#changes.close();
  }

  async head(id: string): Promise<Head | undefined> {
    for (let look = 1; ; look += 1) {
      const place = locate(this.#base, id, this.#disk);
      if (!place) return undefined;
      const head = await this.#reading(place.folder, () => this.#headIn(place));
      // One that moved while it was looked at is looked at again, where it is then; it may be back where it was.
      const isThere = locate(this.#base, id, this.#disk)?.folder === place.folder;
      const { metadata = "", state = "" } = head?.documents ?? {};
      const isWhole = !head || (metadata !== "" && state !== "");
      if ((isThere && (isWhole || look > 1)) || look === looks) return head;
    }
  }

  async #headIn(place: Place): Promise<Head | undefined> {
    const held = this.#changes.heldBy(place.id);
    const head = await headIn(place, this.#tools);
    return head && held ? { ...head, ...held.numbers, holder: held.hold?.lock.owner, isAlive: true } : head;
  }

  heads(query: HeadsQuery): Promise<readonly Head[]> {
    return this.#reading(this.#base, () => headsOf(this.#tools, query, (place) => this.#headIn(place)));
  }

  async numbers(id: string): Promise<Counters> {
    const nothing = { seqs: noCounts(), pos: 0 };
    const found = (): Promise<Counters> => this.#inFolder(id, nothing, (place) => lastNumbers(place, this.#disk));
    return this.#changes.heldBy(id)?.hold?.logs.numbers ?? found();
  }

  page(id: string, log: LogName, query: PageQuery): Promise<Page> {
    const nothing = { origin: undefined, newest: 0, lines: [] };
    return this.#inFolder(id, nothing, async (place, look) => {
      const { folder, parent } = place;
      const disk = this.#disk;
      const lost: BlobName[] = [];
      const held = this.#changes.heldBy(id);
      const mark = readMark(folder, disk);
      if (markListing(mark.mark).isHidden) return nothing;
      const { made } = held?.numbers ?? numbersIn(place, noLock, mark, disk);
      const path = join(folder, `${log}.jsonl`);
      const blobs = new BlobFolder(folder, disk, (name) => void lost.push(name));
      const page = await withFile(path, disk, async (file) => {
        const end =
          held?.hold?.logs.sizeOf(log) ?? (parent === "running" ? finishedEnd(file, disk) : disk.stat(file).size);
        const of = { kind: logKinds[log], file, end, fetch: (name: BlobName) => blobs.fetch(name) };
        return { lines: await readPage(of, query, disk), newest: lastOf(file, end, disk).seq };
      });
      // Behind the lines: who removes them changes it first.
      const { origin } = held?.numbers ?? numbersIn(place, noLock, readMark(folder, disk), disk);
      const isMissing = !page && log === "messages" && mark.origin === undefined;
      // A session may have been away for a moment, and be back: what a second look does not find either is lost.
      if (look === 1 && (isMissing || lost.length > 0)) throw notThere(path);
      if (isMissing) throw messagesMissing(id, path);
      for (const { sha256, bytes: length } of lost) {
        const span = {
          file: `${blobsFolder}/${sha256}`,
          offset: 0,
          length,
          problem: "damaged",
          quarantine: "",
        } as const;
        this.#damage.add(keyOf(id, made), span);
      }
      return { origin, newest: page?.newest ?? 0, lines: page?.lines ?? [] };
    });
  }

  size(id: string): Promise<EngineSize> {
    const nothing = { count: 0, bytes: 0, plainBytes: 0, compressed: false };
    return this.#inFolder(id, nothing, ({ folder }) => sizeOfFolder(folder, this.#disk));
  }

  recovered({ id, made }: Pick<Head, "id" | "made">): readonly Recovered[] {
    return this.#damage.of(keyOf(id, made));
  }

  async verify(id: string): Promise<void> {
    await this.#inFolder(id, undefined, ({ folder }) => verifyFolder(folder, this.#disk));
  }

  /** Takes sessions that lists do not show out of the index. */
  scrub(): Promise<ErasedPlace> {
    return this.#reading(this.#base, () => alone(this.#base, this.#disk, () => this.#tools.catalogue.scrub()));
  }

  examine(mend: boolean): Promise<readonly Finding[]> {
    return this.#reading(this.#base, async () => {
      const { examineFolders } = await import("./examine.ts");
      return examineFolders({
        ...this.#tools,
        mend,
        stamp: stamp(this.#tools.clock),
        headAt: (place) => this.#headIn(place),
        settle: (head) => this.settle(head),
      });
    });
  }

  /** Works with what lies in a session's folder, wherever that is by now. */
  async #inFolder<T>(id: string, otherwise: T, work: (place: Place, look: number) => Promise<T>): Promise<T> {
    for (let look = 1; ; look += 1) {
      const place = locate(this.#base, id, this.#disk);
      if (!place) return otherwise;
      try {
        const found = await work(place, look);
        if (locate(this.#base, id, this.#disk)?.folder === place.folder || look === looks) return found;
      } catch (error) {
        const hasMoved = locate(this.#base, id, this.#disk)?.folder !== place.folder;
        if ((!hasMoved && systemCode(error) !== "ENOENT") || look === looks)
          throw refused(error, "Reading a session", place.folder);
      }
    }
  }

  async #reading<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw refused(error, "Reading the store", path);
    }
  }
}

/** The damage of a session: one that is made anew under the id has none of it. */
function keyOf(id: string, made: number): string {
  return `${id} ${made}`;
}

function notThere(path: string): Error {
  return Object.assign(new Error(`${path} is not there.`), { code: "ENOENT" });
}

function messagesMissing(id: string, path: string): WindrowError {
  const message =
    `The messages of session ${id} are missing: there is no ${path}. Restore the session from a backup; ` +
    "`windrow doctor` says what is left of it.";
  return new WindrowError("store-corrupt", message, { id, path });
}
