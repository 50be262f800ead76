/**
 * The session store against a map in memory: two owners do random things to a few sessions, from two handles, and a handle
 * dies now and then before or behind a step. What was acknowledged is there, and what was not is there whole or not at all.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { WindrowError } from "windrow";
import type { Store } from "windrow";
import type { Lock, NewRecord, Scope } from "windrow/store/author";
import { sessionStore } from "../kit/inside/store.ts";
import type { EndPart, Engine, Head, Look } from "../kit/inside/store.ts";
import { listAll, messageRecord, newSession, readAll, stateOf, trashed, wholeDump } from "../kit/inside/store.ts";

const time = "2026-01-01T00:00:00.000Z";
const ids = ["a", "b"].map((digit) => `${digit.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`);
const owners: readonly Scope[] = [{ user: "ann" }, { user: "bob" }];
const operator: Scope = {};

/** A session as it should be. */
interface Model {
  readonly owner: number;
  readonly texts: readonly string[];
  /** `aside`: the id is free for its owner. */
  readonly place: "store" | "trash" | "erasing" | "aside";
  /** Whether something was put aside of it. */
  readonly hasAside: boolean;
  readonly isFinished: boolean;
  readonly isKept: boolean;
  /** The handle that writes it. */
  readonly handle: number | undefined;
}

/** One call: its outcome is the session as it is then, `gone`, or a refusal by its code. */
interface Call {
  readonly does: (store: Store, scope: Scope, id: string, held: Held) => Promise<unknown>;
  readonly expects: (model: Model | undefined, call: Done) => Model | string;
  /** The session if a half of the call was made, where it has two. */
  readonly half?: (model: Model, call: Done) => Model;
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
  /** Appends so far. */
  readonly calls: number;
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

const longer = (model: Model, { text }: Done): Model => ({ ...model, texts: [...model.texts, text, `${text}+`] });
/** Two messages and what a model call used. */
const recordsOf = (text: string): readonly NewRecord[] => [
  messageRecord(text),
  messageRecord(`${text}+`),
  { kind: "usage", purpose: "turn", usage: { input: 1 }, answerId: text, timestamp: time },
];
const free = { texts: [], isFinished: false, isKept: false, handle: undefined };

const calls: Readonly<Record<string, Call>> = {
  "create": {
    does: async (store, scope, uuid, held) => void (held.lock = await store.create(scope, newSession({ uuid }))),
    expects: (model, { owner, handle }) => {
      if (model?.place === "erasing") return "session-busy";
      if (model && (model.place !== "aside" || model.owner !== owner)) return "session-exists";
      return { ...free, owner, place: "store", hasAside: model !== undefined, handle };
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
    does: withLock((store, lock, { text }) => store.append(lock, recordsOf(text))),
    expects: writing(longer),
  },
  "release": {
    does: withLock(async (store, lock, { calls }) => {
      await store.setState(lock, stateOf("processing", calls));
      await lock.release();
    }),
    expects: writing((model) => ({ ...model, handle: undefined })),
  },
  "finish": {
    does: withLock((store, lock) => store.finish(lock, stateOf("completed"))),
    expects: writing((model) => ({ ...model, handle: undefined, isFinished: true })),
  },
  "append and finish": {
    does: withLock(async (store, lock, { text }) => {
      const ends = [store.append(lock, recordsOf(text)), store.finish(lock, stateOf("completed"))];
      await Promise.allSettled(ends);
      await Promise.all(ends);
    }),
    expects: writing((model, done) => ({ ...longer(model, done), handle: undefined, isFinished: true })),
    half: longer,
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
  "put aside": {
    does: (store, scope, id) => store.upkeep.putAside(scope, id),
    expects: found((model) =>
      model.handle === undefined ? { ...model, ...free, place: "aside", hasAside: true } : "session-busy",
    ),
  },
  "erase from the trash": {
    does: (store, scope, id) => store.upkeep.erase(scope, [id], async () => [], { trashAlone: true }),
    expects: (model, { owner }) => {
      if (!model || model.owner !== owner) return "session-not-found";
      return model.place === "store" ? "session-exists" : "gone";
    },
  },
  "erase": { does: (store, scope, id) => store.upkeep.erase(scope, [id]), expects: erasing(() => "gone") },
  "erase, cut short": {
    does: (store, scope, id) => store.upkeep.erase(scope, [id], failing),
    expects: erasing((model) => ({ ...model, ...free, place: "erasing" })),
  },
  "restore": {
    does: async (store, scope, id) => {
      const dump = await wholeDump(store.transfer, scope, id);
      await store.upkeep.erase(scope, [id]);
      await store.transfer.restore(scope, dump);
    },
    expects: found((model) => {
      if (model.isKept) return "bad-option";
      return model.handle === undefined ? { ...model, hasAside: false } : "session-busy";
    }),
  },
};

/** A look at an engine that has none of its own, as one that is far away gives it. */
async function lookOf(engine: Engine, id: string, parts: readonly EndPart[]): Promise<Look | undefined> {
  const head = await engine.head(id);
  if (!head) return undefined;
  const ends: Look["ends"][number][] = [];
  for (const { log, isFirst, lines: most } of parts) {
    const range = { from: 0, to: Number.MAX_SAFE_INTEGER, most: Math.min(most, 5) };
    ends.push((await engine.page(id, log, isFirst ? range : { ...range, last: range.most })).lines);
  }
  return { head, numbers: await engine.numbers(id), ends };
}

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
      look: step("read", async (id: string, parts: readonly EndPart[]) => {
        const look = await (engine.look ? engine.look(id, parts) : lookOf(engine, id, parts));
        return look && { ...look, head: seen(look.head) };
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

/** The texts of a session, whose records are all there. */
async function textsOf(store: Store, id: string): Promise<readonly string[]> {
  const records = await readAll(store, id, { kind: "message" });
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  expect(await readAll(store, id, { kind: "message", last: 3 })).toEqual(records.slice(-3));
  expect(2 * (await readAll(store, id, { kind: "usage" })).length).toBe(records.length);
  return records.map(({ message }) => (message.parts[0]?.type === "text" ? message.parts[0].text : ""));
}

/** What the store has under an id, as a look from outside tells it. */
async function look(store: Store, engine: Engine, id: string): Promise<Omit<Model, "handle"> | undefined> {
  const ownerOf = (user: string | undefined): number => owners.findIndex((owner) => owner.user === user);
  const { handle: _handle, ...nothing } = free;
  const erased = (await store.upkeep.unerased(operator)).find(({ sessionId }) => sessionId === id);
  const old = (await trashed(store)).find(({ sessionId }) => sessionId === id);
  const there = (await listAll(store)).find(({ metadata }) => metadata.uuid === id);
  const [aside] = await engine.heads({ asideOf: id, most: 1 });
  expect([erased, old, there].filter((one) => one !== undefined).length).toBeLessThanOrEqual(1);
  const hasAside = aside !== undefined;
  if (erased) return { ...nothing, owner: ownerOf(erased.user), place: "erasing", hasAside };
  if (old) return { ...nothing, owner: ownerOf(old.user), place: "trash", hasAside, isFinished: true };
  if (there) {
    return {
      owner: ownerOf(there.metadata.user),
      texts: await textsOf(store, id),
      place: "store",
      hasAside,
      isFinished: there.readOnly,
      isKept: (await store.upkeep.kept(operator, id)) !== undefined,
    };
  }
  return aside && { ...nothing, owner: ownerOf(aside.listing.user), place: "aside", hasAside };
}

/** A session as a look tells it: what lies in the trash, or is being erased, tells no texts. */
function visible(model: Model | undefined): Omit<Model, "handle"> | undefined {
  if (!model) return undefined;
  const { handle: _handle, ...rest } = model;
  return model.place === "store" ? rest : { ...rest, texts: [], isFinished: model.place === "trash", isKept: false };
}

/** The calls to pick from. */
const names = [...Object.keys(calls), "lock", "lock", "append", "append", "append", "restore"];

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

const command = fc.record({
  /** Which call it is: most are those that the session as it is lets through. */
  pick: fc.nat(10_000),
  isFit: fc.constantFrom(true, true, true, true, false),
  owner: fc.constantFrom(0, 0, 0, 1),
  /** Undefined: the one that has the session. */
  handle: fc.constantFrom(undefined, undefined, 0, 1),
  place: fc.constantFrom(0, 0, 1),
  /** The step at which the handle dies, or never hears the answer, of those that are left. Most calls do not fail. */
  failure: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({ steps: fc.constantFrom(0, 0, 1, 2, 3), isKept: fc.boolean(), isLost: fc.boolean() }),
    },
  ),
});

/** Random calls of two owners at two handles on an engine, which is empty each time. */
export function asModelled(open: () => Promise<Engine>): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40, size: "max" }), async (commands) => {
    const engine = await open();
    const history: string[] = [];
    try {
      await play(engine, commands, history);
    } catch (error) {
      throw new Error(`After ${history.join(", ")}: ${String(error)}`, { cause: error });
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

/** Whether the model lets a call through. */
function isFitting(expected: Model | string): boolean {
  return typeof expected !== "string" || expected === "gone";
}

/** Makes calls one after the other, each beside what the model says of it. */
async function play(engine: Engine, commands: readonly Command[], history: string[]): Promise<void> {
  const dead = new Set<string>();
  const outside = new Handle(engine, dead).store;
  const handles = [new Handle(engine, dead), new Handle(engine, dead)];
  const held = new Map<string, Lock>();
  /** Locks by which a session was finished: doing so again is no fault. */
  const ended = new Set<Lock | undefined>();
  const generations = new Map<string, number>();
  const models = new Map<string, Model>();
  const set = (id: string, model: Model | undefined): void => void (model ? models.set(id, model) : models.delete(id));
  for (const [count, { pick, isFit, owner, place, failure, ...given }] of commands.entries()) {
    const id = ids[place]!;
    const before = models.get(id);
    if (before?.place !== "store" && before?.place !== "trash") generations.delete(id);
    const handle = given.handle ?? before?.handle ?? 0;
    const done: Done = { owner, handle, text: String(count) };
    const fitting = names.filter((one) => isFitting(calls[one]!.expects(before, done)));
    const choice = isFit && fitting.length > 0 ? fitting : names;
    const name = choice[pick % choice.length]!;
    const { does, expects, half } = calls[name]!;
    const expected = expects(before, done);
    history.push(`${name} ${place} by ${owner} at ${handle}${failure ? ` ${JSON.stringify(failure)}` : ""}`);
    const own: Held = { lock: held.get(`${id} ${handle}`), text: done.text, calls: (before?.texts.length ?? 0) / 2 };
    const process = handles[handle]!;
    // A disk of this machine answers, or its process is dead.
    if (failure) process.failAt(failure.steps, failure.isKept, failure.isLost && engine.mayTear !== true);
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
    const is = await look(outside, engine, id);
    if (hasLost && outcome === "done") {
      set(id, after);
      expect(is, name).toEqual(visible(after));
    } else if (process.isDead || hasLost) {
      // As it was, as it should be, or an erasure under way, which the next ends.
      const isBegun = /^(erase|restore)/.test(name) && typeof expected !== "string";
      const between = half && before && typeof expected !== "string" ? [visible(half(before, done))] : [];
      const begun = isBegun || expected === "gone" ? [undefined] : [];
      const possible = [visible(before), visible(after), ...between, ...begun];
      if (is?.place !== "erasing" || before === undefined) expect(possible, name).toContainEqual(is);
      else if (before.place !== "erasing") expect(name).toMatch(/^(erase|restore)/);
      // What a restore left that died is hidden; its id is free for a new session, or the draft is erased.
      if (!is) await outside.upkeep.erase(operator, [id]).catch(() => undefined);
      const texts = is?.place === "store" ? is.texts : (before?.texts ?? []);
      const isHeld = is?.place === "store" && (await outside.holding.holder(operator, id)).state === "held";
      set(id, is && { ...(after ?? before)!, ...is, texts, handle: isHeld ? before?.handle : undefined });
      if (process.isDead) {
        for (const [one, model] of models) if (model.handle === handle) set(one, { ...model, handle: undefined });
        for (const one of ids) held.delete(`${one} ${handle}`);
        handles[handle] = new Handle(engine, dead);
      }
    } else {
      const isRefused = !isFitting(expected);
      const isCutShort = name === "erase, cut short" && !isRefused;
      // A holder that was passed over is refused in several ways, and may let go of what it no longer has.
      const hasEnded = before?.isFinished === true || ended.has(own.lock);
      const isIdempotent = name === "release" || (name === "finish" && hasEnded);
      const stale = ["closed", "fenced", "read-only", ...(isIdempotent ? ["done"] : [])];
      // An id whose erasure was cut short is another's, or is being erased.
      const alike = [...(own.lock ? ["fenced"] : []), ...(before?.place === "erasing" ? ["session-exists"] : [])];
      const refusals = expected === "closed" ? stale : [expected, ...alike];
      expect(isRefused ? refusals : [isCutShort ? "Error: elsewhere is away" : "done"], name).toContain(outcome);
      set(id, after);
      expect(is, name).toEqual(visible(after));
    }
    if (outcome !== "done") continue;
    if (name.endsWith("finish")) ended.add(own.lock);
    if (name === "lock" || name === "create") {
      const { generation } = own.lock!.owner;
      if (name === "lock") expect(generation).toBeGreaterThan(generations.get(id) ?? 0);
      generations.set(id, generation);
      // What the state counts is what the records say.
      const calls = (await readAll(outside, id, { kind: "usage" })).length;
      expect((await outside.info(operator, id)).state.llmCallCount, name).toBe(calls);
    } else if (name === "restore") generations.set(id, 0);
    // Whoever writes a session reads what it wrote.
    const model = models.get(id);
    if (model?.handle !== undefined) expect(await textsOf(handles[model.handle]!.store, id)).toEqual(model.texts);
  }
  // An operator ends every erasure that was begun, and each id is then free or its session's.
  for (const { sessionId, ...scope } of await outside.upkeep.unerased(operator)) {
    await outside.upkeep.erase(scope, [sessionId]);
    models.delete(sessionId);
  }
  for (const id of ids) expect(await look(outside, engine, id)).toEqual(visible(models.get(id)));
  for await (const { findings } of outside.checkup.examine({ mend: true })) {
    expect(findings.filter(({ problem, severity }) => severity !== "notice" && problem !== "draft")).toEqual([]);
  }
}
