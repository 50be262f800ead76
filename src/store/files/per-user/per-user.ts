/**
 * A file store with a folder for each user: `users/<name>/` in the base folder is a whole store of that
 * user's sessions, so that a system's own rights can keep users apart. Sessions of no user, and those from before the
 * folders were parted, lie in the base folder itself.
 */
import { existsSync, opendirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { WindrowError, isWindrowError } from "../../../errors.ts";
import { eachInTurn } from "../../../turns.ts";
import { layoutOf, locate } from "../layout.ts";
import { alreadyExists, notFound, ownerNamed, sessionId } from "../../shared/rules.ts";
import type { Examined, Finding, ListQuery, Lock, Scope, SessionInfo, Store } from "../../store.ts";
import type { StoreCheckup, StoreDetaching, StoreHolding, StoreTransfer } from "../../store.ts";
import type { Upkeep } from "../../upkeep.ts";
import { LockMap } from "../../shared/held-sessions.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { systemCode, unavailable } from "../../../disk/safe-write.ts";
import { checkNoneErased } from "../upkeep/notes.ts";
import { checkNotInTrash } from "../upkeep/trash.ts";
import { joinedUpkeep } from "./joined-upkeep.ts";

const usersFolder = "users";
/** Bytes a file's name may have on every system. */
const longestName = 255;

/**
 * The name of a user's folder: lowercase letters, digits, `-` and `_` as they are, every other byte as `%` and two
 * digits, so that no name leaves its folder and no two names share one, also where systems ignore case.
 *
 * @throws WindrowError `bad-option` for a name that is empty or too long
 */
export function userFolder(user: string): string {
  const bytes = [...Buffer.from(user)];
  const name = bytes
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[a-z0-9_-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
  if (name !== "" && name.length <= longestName) return name;
  throw new WindrowError("bad-option", "A user with a folder of their own has a name of 1 to about 85 letters.", {
    user,
  });
}

/**
 * Opens a file store with a folder for each user.
 *
 * @param open - opens the store of one folder
 */
export function userFolders(base: string, open: (folder: string) => Store): Store {
  return new UserFolders(base, open);
}

class UserFolders implements Store {
  readonly name: string;
  readonly capabilities: Store["capabilities"];
  readonly holding: StoreHolding = {
    holder: async (scope, id) => this.#find(id).holding!.holder(scope, id),
    unlock: async (scope, id, options) => this.#find(id).holding!.unlock(scope, id, options),
  };
  readonly checkup: StoreCheckup = {
    examine: (options, signal) => this.#examine(options, signal),
    rebuildIndex: async () => {
      let sessions = 0;
      // Whoever may read a folder that is closed to this process lists its sessions without its index, too.
      for (const folder of this.#folders({})) sessions += await this.#at(folder).checkup!.rebuildIndex();
      return sessions;
    },
  };
  readonly transfer: StoreTransfer = {
    dump: async (scope, id) => this.#find(id).transfer!.dump(scope, id),
    restore: async (scope, dump, signal) => {
      const own = ownerNamed(dump.metadata);
      const there = this.#holding(sessionId(dump.id));
      if (!there) await this.#checkFree({ uuid: dump.id, ...own });
      return (there ?? this.#own(own)).transfer!.restore(scope, dump, signal);
    },
  };
  readonly upkeep: Upkeep;
  readonly detaching: StoreDetaching = {
    writings: async (scope, id) => this.#find(id).detaching!.writings(scope, id),
    detach: async (scope, id, ...rest) => this.#find(id).detaching!.detach(scope, id, ...rest),
    forgo: async (...given) => {
      let isNobodys = true;
      for (const folder of this.#folders())
        isNobodys = (await this.#at(folder).detaching!.forgo(...given)) && isNobodys;
      return isNobodys;
    },
    attach: async (scope, dump, ...rest) => this.#find(dump.id).detaching!.attach(scope, dump, ...rest),
  };
  readonly #base: string;
  readonly #open: (folder: string) => Store;
  readonly #stores = new Map<string, Store>();
  readonly #locks = new LockMap<Store>();

  constructor(base: string, open: (folder: string) => Store) {
    this.#base = base;
    this.#open = open;
    const { name, capabilities, upkeep } = this.#at(base);
    this.name = name;
    this.capabilities = capabilities;
    const upkeepOf = (folder: string): Upkeep => this.#at(folder).upkeep!;
    this.upkeep = joinedUpkeep(upkeep!, (scope) => this.#folders(scope), upkeepOf);
  }

  async create(...[scope, session]: Parameters<Store["create"]>): Promise<Lock> {
    const store = this.#own(scope);
    const { uuid } = session;
    await this.#checkFree({ uuid: sessionId(uuid), ...scope });
    if (this.#holding(uuid)) throw alreadyExists(uuid);
    return this.#keep(await store.create(scope, session), store);
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    return this.#find(id).info(scope, id);
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo, void, undefined> {
    const isOfAll = scope.user === undefined;
    const folders = isOfAll ? this.#folders() : [this.#base, this.#folderOf(scope.user)];
    const lists = folders.map((folder) => this.#at(folder).list(scope, query)[Symbol.asyncIterator]());
    const closed: WindrowError[] = [];
    const next = async (place: number): Promise<IteratorResult<SessionInfo>> => {
      try {
        return await lists[place]!.next();
      } catch (error) {
        if (!isOfAll || !isWindrowError(error, "store-unavailable")) throw error;
        if (query.unreadable) query.unreadable(folders[place]!, error);
        else closed.push(error);
        return { done: true, value: undefined };
      }
    };
    try {
      const heads = await Promise.all(lists.map((_list, place) => next(place)));
      for (let left = query.limit ?? Infinity; left > 0; left--) {
        let newest = -1;
        for (const [place, head] of heads.entries()) {
          if (head.done !== true && isNewer(head.value, heads[newest]?.value)) newest = place;
        }
        const head = heads[newest];
        if (!head || head.done === true) {
          if (closed[0]) throw closed[0];
          return;
        }
        yield head.value;
        heads[newest] = await next(newest);
      }
    } finally {
      for (const list of lists) await list.return?.();
    }
  }

  async lock(scope: Scope, id: string): Promise<Lock> {
    const store = this.#find(id);
    return this.#keep(await store.lock(scope, id), store);
  }

  append(...[lock, records]: Parameters<Store["append"]>): ReturnType<Store["append"]> {
    return this.#locks.of(lock).append(lock, records);
  }

  read: Store["read"] = (scope, id, query) => {
    const find = (): Store => this.#find(id);
    return (async function* () {
      yield* find().read(scope, id, query);
    })();
  };

  async setState(...[lock, state]: Parameters<Store["setState"]>): Promise<void> {
    return this.#locks.of(lock).setState(lock, state);
  }

  async finish(...[lock, state]: Parameters<Store["finish"]>): Promise<void> {
    return this.#locks.of(lock).finish(lock, state);
  }

  async recovery(scope: Scope, id: string): ReturnType<Store["recovery"]> {
    return this.#find(id).recovery(scope, id);
  }

  async close(): Promise<void> {
    await eachInTurn([...this.#stores.values()].map((store) => () => store.close()));
  }

  async *#examine(...[options, signal]: Parameters<StoreCheckup["examine"]>): AsyncGenerator<Examined> {
    for (const folder of this.#folders()) {
      const under = folder.slice(this.#base.length + 1);
      const own = folder === this.#base ? undefined : unreadableIn(folder, under);
      if (own) yield { records: 0, goodBytes: 0, badBytes: 0, findings: [own] };
      // The base folder is no store of its own when every session has a user, nor is that of a user without sessions.
      if (own || (this.#folders().length > 1 && !hasSessions(folder))) continue;
      for await (const examined of this.#at(folder).checkup!.examine(options, signal)) {
        const findings = examined.findings.map((finding) => ({
          ...finding,
          ...(finding.file !== undefined && { file: join(under, finding.file) }),
          ...(finding.keptAs !== undefined && { keptAs: join(under, finding.keptAs) }),
        }));
        yield { ...examined, findings };
      }
    }
  }

  #folderOf(user: string): string {
    return join(this.#base, usersFolder, userFolder(user));
  }

  #own({ user }: Scope): Store {
    return this.#at(user === undefined ? this.#base : this.#folderOf(user));
  }

  #at(folder: string): Store {
    const known = this.#stores.get(folder) ?? this.#open(folder);
    this.#stores.set(folder, known);
    return known;
  }

  /**
   * The folders of the stores.
   *
   * @param scope - those alone that may have something of this scope: what the process may not read is another's
   */
  #folders(scope?: Scope): readonly string[] {
    const users = join(this.#base, usersFolder);
    if (!existsSync(users)) return [this.#base];
    const entries = readdirSync(users, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const all = entries.map(({ name }) => join(users, name));
    if (!scope) return [this.#base, ...all];
    const own = scope.user === undefined ? undefined : this.#folderOf(scope.user);
    const near = all.filter((folder) => (own === undefined ? mayRead(folder) : folder === own));
    return [this.#base, ...near];
  }

  /** The store that has a session; its own check says whether the scope sees it. */
  #find(id: string): Store {
    const store = this.#holding(sessionId(id));
    if (!store) throw notFound(id);
    return store;
  }

  #holding(id: string): Store | undefined {
    const folder = this.#folders().find((place) => locate(layoutOf(place), id) !== undefined);
    return folder === undefined ? undefined : this.#at(folder);
  }

  /** As a store refuses an id that another owner has in the trash, or is erasing: that is in another folder, too. */
  async #checkFree(owner: Scope & { readonly uuid: string }): Promise<void> {
    // Folders that are closed or broken say nothing, as they do where sessions are looked for; the owner's own is asked again.
    const layouts = this.#folders({}).map(layoutOf);
    for (const layout of layouts) checkNotInTrash(layout, owner, systemDisk);
    for (const layout of layouts) {
      await checkNoneErased(layout, owner.uuid, systemDisk).catch((error: unknown) => {
        if (!isWindrowError(error, "store-unavailable")) throw error;
      });
    }
  }

  #keep(lock: Lock, store: Store): Lock {
    this.#locks.set(lock, store);
    return lock;
  }
}

function isNewer(one: SessionInfo, other: SessionInfo | undefined): boolean {
  if (!other) return true;
  const [left, right] = [Date.parse(one.metadata.createdAt), Date.parse(other.metadata.createdAt)];
  return left === right ? one.metadata.uuid < other.metadata.uuid : left > right;
}

/** Whether the system lets this process into a folder, by the rights that it has now. */
function mayRead(folder: string): boolean {
  try {
    // To find the entry one has to be let in, and to open it one has to be let read.
    opendirSync(`${folder}/.`).closeSync();
    return true;
  } catch (error) {
    if (systemCode(error) === "EACCES") return false;
    throw unavailable(error, "Reading a folder", folder);
  }
}

/** The finding about a user's folder that cannot be read, or whose sessions cannot be listed. */
function unreadableIn(folder: string, file: string): Finding | undefined {
  const { running, completed } = layoutOf(folder);
  for (const one of [folder, running, completed]) {
    try {
      opendirSync(`${one}/.`).closeSync();
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code === "ENOENT") continue;
      const message =
        `This process cannot read ${one} (${code}): no session in it was examined, and none is listed. Give it the right to, or ` +
        "examine the store as the user whose folder it is.";
      return { problem: "closed-folder", severity: "damage", file, message, mended: false, remedy: "hand" };
    }
  }
  return undefined;
}

function hasSessions(folder: string): boolean {
  const { running, completed } = layoutOf(folder);
  return existsSync(running) || existsSync(completed);
}
