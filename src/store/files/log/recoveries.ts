/** The damage that a file store found or mended so far, by session. */
import { join } from "node:path";
import type { RecordKind } from "../../../message/record.ts";
import type { Recovered } from "../../store.ts";
import type { BlobName } from "../../format/blobs.ts";
import type { Found } from "../follow.ts";
import { kindFiles } from "../../format/logs.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { archiveEnding } from "../../../disk/archive/archive-disk.ts";
import { blobsFolder } from "../../format/blobs.ts";
import type { Damage } from "./reader.ts";
import { missingNow } from "./seal.ts";
import { DamageList } from "../../shared/damage-list.ts";
import { hiddenBehind, keepDamaged } from "./tail.ts";

/** Damaged spans of one session of which a copy is kept; the log itself still holds the others. */
const damagedCopies = 100;

/** The session in which something was found: one that is made anew under its id has nothing of it. */
type Session = Pick<Found, "place" | "making">;

/** The spans that are no records, each once. */
export class Recoveries {
  readonly #disk: Disk;
  readonly #found = new DamageList();

  constructor(disk: Disk = systemDisk) {
    this.#disk = disk;
  }

  /** The spans found in a session, and the records missing from the ends of its logs now. */
  of(session: Session): readonly Recovered[] {
    return this.#found.of(keyOf(session), missingNow(session.place.folder, this.#disk));
  }

  /** Remembers a span. */
  note(session: Session, recovered: Recovered): void {
    this.#found.add(keyOf(session), recovered);
  }

  /**
   * Copies a damaged span beside its log and remembers it, when it was not met before; of a compressed log whose member
   * cannot be unpacked, remembers the member.
   */
  noteDamage(session: Session, kind: RecordKind, file: number, span: Damage): void {
    const id = keyOf(session);
    const name = kindFiles[kind];
    const problem = "damaged";
    const hidden = hiddenBehind(file, span, this.#disk);
    for (const { offset, length, member } of hidden) {
      const archive = `${name}${archiveEnding}`;
      this.note(session, { file: archive, offset, length, problem, quarantine: "", member });
    }
    if (hidden.length > 0) return;
    if (this.#found.has(id, { file: name, offset: span.offset })) return;
    const wanted = this.#found.count(id) < damagedCopies;
    const copy = wanted
      ? keepDamaged(file, join(session.place.folder, name), span.offset, span.length, this.#disk)
      : undefined;
    this.note(session, { file: name, ...span, problem, quarantine: copy === undefined ? "" : `${name}.${copy}` });
  }

  /** Remembers that a large value is missing, or is not what its name says. */
  noteMissing(session: Session, { sha256, bytes }: BlobName): void {
    this.note(session, {
      file: `${blobsFolder}/${sha256}`,
      offset: 0,
      length: bytes,
      problem: "damaged",
      quarantine: "",
    });
  }
}

function keyOf({ place, making }: Session): string {
  return making ?? place.id;
}
