/**
 * The session store against a map in memory: two owners do random things to a few sessions, from two handles, and a handle
 * dies now and then before or behind a step. What was acknowledged is there, and what was not is there whole or not at all.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { WindrowError } from "windrow";
import type { Store } from "windrow";
import type { Lock, Scope } from "windrow/store/author";
import { sessionStore } from "../kit/inside/store.ts";
import type { EndPart, Engine, Head } from "../kit/inside/store.ts";
import { listAll, messageRecord, newSession, readAll, stateOf, trashed, wholeDump } from "../kit/inside/store.ts";

const time = "2026-01-01T00:00:00.000Z";
const ids = ["a", "b"].map((digit) => `${digit.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`);
const owners: readonly Scope[] = [{ user: "ann" }, { user: "bob" }];
const operator: Scope = {};

/** A session as it should be. */
interface Model {
  readonly owner: number;
  readonly texts: readonly string[];
  readonly place: "store" | "trash" | "erasing";
  readonly isFinished: boolean;
  readonly isKept: boolean;
  /** The handle that writes it. */
  readonly handle: number | undefined;
}

/** One call: its outcome is the session as it is then, `gone`, or a refusal by its code. */
interface Call {
  readonly does: (store: Store, scope: Scope, id: string, held: Held) => Promise<unknown>;
  readonly expects: (model: Model | undefined, call: Done) => Model | string;
}

/** Whose call it is: of an owner, at a handle, the n-th of its kind. */
interface Done {
  readonly owner: number;
  readonly handle: number;
  readonly text: string;
}

interface Held {
  lock: Lock | undefined;
  readonly text: string;
}

const failing = (): Promise<never> => Promise.reject(new Error("elsewhere is away"));

/** Refuses what is not there for the owner, and what another handle has; else as `then` says. */
const found =
  (then: (model: Model, done: Done) => Model | string) =>
  (model: Model | undefined, done: Done): Model | string =>
    !model || model.owner !== done.owner || model.place !== "store" ? "session-not-found" : then(model, done);
const writing = (then: (model: Model, done: Done) => Model) =>
  found((model, done) => (model.handle === done.handle ? then(model, done) : "closed"));
const erasing =
  (outcome: (model: Model) => Model | "gone") =>
  (model: Model | undefined, { owner }: Done) => {
    if (!model || model.owner !== owner) return "session-not-found";
    if (model.isKept) return "bad-option";
    return model.handle === undefined ? outcome(model) : "session-busy";
  };
const withLock =
  (work: (store: Store, lock: Lock, held: Held) => Promise<unknown>): Call["does"] =>
  async (store, scope, id, held) => {
    // Only the owner's calls reach the session at all.
    await store.info(scope, id);
    if (!held.lock) throw Object.assign(new Error("not held"), { code: "closed" });
    await work(store, held.lock, held);
  };

const calls: Readonly<Record<string, Call>> = {
  "create": {
    does: async (store, scope, uuid, held) => void (held.lock = await store.create(scope, newSession({ uuid }))),
    expects: (model, { owner, handle }) => {
      if (model) return model.place === "erasing" ? "session-busy" : "session-exists";
      return { owner, texts: [], place: "store", isFinished: false, isKept: false, handle };
    },
  },
  "lock": {
    does: async (store, scope, id, held) => void (held.lock = await store.lock(scope, id)),
    expects: found((model, { handle }) => {
      if (model.isFinished) return "read-only";
      return model.handle === undefined ? { ...model, handle } : "session-busy";
    }),
  },
  "append": {
    does: withLock((store, lock, { text }) => store.append(lock, [messageRecord(text), messageRecord(`${text}+`)])),
    expects: writing((model, { text }) => ({ ...model, texts: [...model.texts, text, `${text}+`] })),
  },
  "release": {
    does: withLock((_store, lock) => lock.release()),
    expects: writing((model) => ({ ...model, handle: undefined })),
  },
  "finish": {
    does: withLock((store, lock) => store.finish(lock, stateOf("completed"))),
    expects: writing((model) => ({ ...model, handle: undefined, isFinished: true })),
  },
  "unlock": {
    does: (store, scope, id) => store.holding.unlock(scope, id, { force: true, reason: "it hangs" }),
    expects: found((model) => (model.isFinished ? "read-only" : { ...model, handle: undefined })),
  },
  "keep": {
    does: (store, scope, id) => store.upkeep.keep(scope, id, { keptAt: time }),
    expects: found((model) => ({ ...model, isKept: true })),
  },
  "unkeep": {
    does: (store, scope, id) => store.upkeep.unkeep(scope, id),
    expects: found((model) => ({ ...model, isKept: false })),
  },
  "trash": {
    does: (store, scope, id) => store.upkeep.trash(scope, [id], time),
    expects: found((model) => (!model.isFinished || model.isKept ? "bad-option" : { ...model, place: "trash" })),
  },
  "untrash": {
    does: (store, scope, id) => store.upkeep.untrash(scope, id),
    expects: (model, { owner }) =>
      model?.place === "trash" && model.owner === owner ? { ...model, place: "store" } : "session-not-found",
  },
  "erase": { does: (store, scope, id) => store.upkeep.erase(scope, [id]), expects: erasing(() => "gone") },
  "erase, cut short": {
    does: (store, scope, id) => store.upkeep.erase(scope, [id], failing),
    expects: erasing((model) => ({ ...model, place: "erasing" })),
  },
  "restore": {
    does: async (store, scope, id) => {
      const dump = await wholeDump(store.transfer, scope, id);
      await store.upkeep.erase(scope, [id]);
      await store.transfer.restore(scope, dump);
    },
    expects: found((model) => {
      if (model.isKept) return "bad-option";
      return model.handle === undefined ? model : "session-busy";
    }),
  },
};

/** A process: a store over the engine, which dies at a step, or never hears the answer to one. */
class Handle {
  readonly store: Store;
  isDead = false;
  hasLost = false;
  #stepsLeft = Number.POSITIVE_INFINITY;
  #isKept = false;
  #isLost = false;
  #late: (() => Promise<unknown>) | undefined;
  readonly #takings = new Set<string>();

  constructor(engine: Engine, dead: Set<string>) {
    const step =
      <A extends readonly unknown[], R>(name: string, work: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        if (this.isDead) throw new Error("this process is dead");
        for (const [, taking] of JSON.stringify(given).matchAll(/"taking":"([^"]+)"/g)) this.#takings.add(taking!);
        const isLast = name !== "read" && this.#stepsLeft-- === 0;
        // A making that comes late is given back when it is found, some time later.
        if (isLast && !this.#isKept && this.#isLost && name !== "make") this.#late = async () => work(...given);
        if (isLast && !this.#isKept) this.#fail(dead);
        const result = await work(...given);
        if (isLast) this.#fail(dead);
        return result;
      };
    /** The system says that a process which died is gone. */
    const seen = (head: Head): Head =>
      head.holder && dead.has(head.holder.taking)
        ? { ...head, holder: { ...head.holder, processStart: "1" }, isAlive: undefined }
        : head;
    const wrapped: Partial<Engine> = {
      make: step("make", (head) => engine.make(head)),
      commit: step("commit", (steps) => engine.commit(steps)),
      remove: step("remove", (id, at) => engine.remove(id, at)),
      head: step("read", async (id) => (await engine.head(id)) && seen((await engine.head(id))!)),
      heads: step("read", async (query) => (await engine.heads(query)).map(seen)),
      ...(engine.look && {
        look: step("read", async (id: string, parts: readonly EndPart[]) => {
          const look = await engine.look!(id, parts);
          return look && { ...look, head: seen(look.head) };
        }),
      }),
    };
    const methodOf = (name: string | symbol): unknown => {
      const found: unknown = Reflect.get(wrapped, name) ?? Reflect.get(engine, name);
      return typeof found === "function" ? (found.bind(engine) as unknown) : found;
    };
    this.store = sessionStore(new Proxy(engine, { get: (_engine, name) => methodOf(name) }), {});
  }

  /** It dies, or does not hear the answer, at its n-th step from now on, whose change is made or not. */
  failAt(steps: number, isKept = false, isLost = false): void {
    [this.#stepsLeft, this.#isKept, this.#isLost] = [steps, isKept, isLost];
    this.hasLost = false;
  }

  /** Carries out the step that was lost, if it is still on its way. */
  async comeLate(): Promise<void> {
    await this.#late?.();
    this.#late = undefined;
  }

  #fail(dead: Set<string>): never {
    if (this.#isLost) {
      this.hasLost = true;
      throw new WindrowError("store-unavailable", "The answer was lost.");
    }
    this.isDead = true;
    for (const taking of this.#takings) dead.add(taking);
    throw new Error("this process died");
  }
}

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code ?? error);

/** What the store has under an id, as a look from outside tells it. */
async function look(store: Store, id: string): Promise<Omit<Model, "handle"> | undefined> {
  const ownerOf = (user: string | undefined): number => owners.findIndex((owner) => owner.user === user);
  const erased = (await store.upkeep.unerased(operator)).find(({ sessionId }) => sessionId === id);
  const nothing = { texts: [], isFinished: false, isKept: false };
  if (erased) return { ...nothing, owner: ownerOf(erased.user), place: "erasing" };
  const old = (await trashed(store)).find(({ sessionId }) => sessionId === id);
  if (old) return { ...nothing, owner: ownerOf(old.user), place: "trash", isFinished: true };
  const there = (await listAll(store)).find(({ metadata }) => metadata.uuid === id);
  if (!there) return undefined;
  const records = await readAll(store, id, { kind: "message" });
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  return {
    owner: ownerOf(there.metadata.user),
    texts: records.map(({ message }) => (message.parts[0]?.type === "text" ? message.parts[0].text : "")),
    place: "store",
    isFinished: there.readOnly,
    isKept: (await store.upkeep.kept(operator, id)) !== undefined,
  };
}

/** A session as a look tells it: what lies in the trash, or is being erased, tells no texts. */
function visible(model: Model | undefined): Omit<Model, "handle"> | undefined {
  if (!model) return undefined;
  const { handle: _handle, ...rest } = model;
  return model.place === "store" ? rest : { ...rest, texts: [], isFinished: model.place === "trash", isKept: false };
}

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

const command = fc.record({
  name: fc.constantFrom(...Object.keys(calls), "append", "finish", "finish", "trash", "trash", "untrash"),
  owner: fc.constantFrom(0, 0, 0, 1),
  /** Undefined: the one that has the session. */
  handle: fc.constantFrom(undefined, undefined, 0, 1),
  place: fc.constantFrom(0, 0, 1),
  /** The step at which the handle dies, or never hears the answer, of those that are left. */
  failure: fc.option(fc.record({ steps: fc.integer({ min: 0, max: 4 }), isKept: fc.boolean(), isLost: fc.boolean() }), {
    freq: 6,
  }),
});

/** Random calls of two owners at two handles on an engine, which is empty each time. */
export function asModelled(open: () => Promise<Engine>): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 60 }), async (commands) => {
    const engine = await open();
    try {
      await play(engine, commands);
    } finally {
      await engine.close();
    }
  });
}

/** Waits for what a handle gives back, as it does not know whether it took it. */
async function givenBack(store: Store, id: string): Promise<void> {
  const isHeld = async () => (await store.holding.holder(operator, id).catch(() => undefined))?.state === "held";
  for (let looks = 0; looks === 0 || (looks < 5 && (await isHeld())); looks += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Makes calls one after the other, each beside what the model says of it. */
async function play(engine: Engine, commands: readonly Command[]): Promise<void> {
  const dead = new Set<string>();
  const outside = new Handle(engine, dead).store;
  const handles = [new Handle(engine, dead), new Handle(engine, dead)];
  const held = new Map<string, Lock>();
  const models = new Map<string, Model>();
  const set = (id: string, model: Model | undefined): void => void (model ? models.set(id, model) : models.delete(id));
  for (const [count, { name, owner, place, failure, ...given }] of commands.entries()) {
    const id = ids[place]!;
    const before = models.get(id);
    const handle = given.handle ?? before?.handle ?? 0;
    const { does, expects } = calls[name]!;
    const expected = expects(before, { owner, handle, text: String(count) });
    const own: Held = { lock: held.get(`${id} ${handle}`), text: String(count) };
    const process = handles[handle]!;
    if (failure) process.failAt(failure.steps, failure.isKept, failure.isLost);
    const outcome = await does(process.store, owners[owner]!, id, own).then(
      () => "done",
      (error: unknown) => codeOf(error),
    );
    const { hasLost } = process;
    process.failAt(Number.POSITIVE_INFINITY);
    if (own.lock) held.set(`${id} ${handle}`, own.lock);
    const after = expected === "gone" ? undefined : typeof expected === "string" ? before : expected;
    if (hasLost && outcome !== "done") await givenBack(outside, id);
    await process.comeLate();
    const is = await look(outside, id);
    if (hasLost && outcome === "done") {
      set(id, after);
      expect(is, name).toEqual(visible(after));
    } else if (process.isDead || hasLost) {
      // As it was, as it should be, or an erasure under way, which the next ends.
      const isBegun = /^(erase|restore)/.test(name) && typeof expected !== "string";
      const possible = [visible(before), visible(after), ...(isBegun || expected === "gone" ? [undefined] : [])];
      if (is?.place !== "erasing" || before === undefined) expect(possible).toContainEqual(is);
      else if (before.place !== "erasing") expect(name).toMatch(/^(erase|restore)/);
      // What a restore left that died is hidden; its id is free for a new session, or the draft is erased.
      if (!is) await outside.upkeep.erase(operator, [id]).catch(() => undefined);
      const texts = is?.place === "store" ? is.texts : (before?.texts ?? []);
      const isHeld = is?.place === "store" && (await outside.holding.holder(operator, id)).state === "held";
      set(id, is && { ...(after ?? before)!, ...is, texts, handle: isHeld ? before?.handle : undefined });
      if (!process.isDead) continue;
      for (const [one, model] of models) if (model.handle === handle) set(one, { ...model, handle: undefined });
      for (const one of ids) held.delete(`${one} ${handle}`);
      handles[handle] = new Handle(engine, dead);
    } else {
      const isRefused = typeof expected === "string" && expected !== "gone";
      const isCutShort = name === "erase, cut short" && !isRefused;
      // A holder that was passed over is refused in several ways, and may let go of what it no longer has.
      const isIdempotent = name === "release" || (name === "finish" && before?.isFinished === true);
      const stale = ["closed", "fenced", "read-only", ...(isIdempotent ? ["done"] : [])];
      const refusals = expected === "closed" ? stale : [expected];
      expect(isRefused ? refusals : [isCutShort ? "Error: elsewhere is away" : "done"], name).toContain(outcome);
      set(id, after);
      expect(is, name).toEqual(visible(after));
    }
  }
  // An operator ends every erasure that was begun, and each id is then free or its session's.
  for (const { sessionId, ...scope } of await outside.upkeep.unerased(operator)) {
    await outside.upkeep.erase(scope, [sessionId]);
    models.delete(sessionId);
  }
  for (const id of ids) expect(await look(outside, id)).toEqual(visible(models.get(id)));
}
