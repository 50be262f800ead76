/** The engine of stores in Redis: a hash and seven streams for each session, and a script for each batch of steps. */
import { randomUUID } from "node:crypto";
import type { Engine, Head, HeadsQuery, NewHead, Page, PageQuery, Step } from "../engine.ts";
import { logNames } from "../format/logs.ts";
import { countersOf } from "../shared/head-row.ts";
import type { Taker } from "../shared/holder.ts";
import { unknownOutcome } from "../shared/remote.ts";
import { inScope } from "../shared/rules.ts";
import type { Counters } from "../shared/session-log.ts";
import type { Finding, LogName } from "../store.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { fieldNames, headOf, idOf, linesOf, listedFields } from "./fields.ts";
import type { Fields } from "./fields.ts";
import { afterChange, listedBehind, relisted } from "./lists.ts";
import { beatScript, makeScript, readScript, removeScript, stepScript } from "./scripts.ts";

/** Sessions of a list looked at in one go, at least. */
const fewestListed = 100;

/** Lines in one answer. */
const mostLines = 1_024;

/** Makes an engine over a server. */
export function redisEngine(place: RedisPlace): Engine {
  return new RedisEngine(place);
}

class RedisEngine implements Engine {
  readonly name = "redis";
  readonly survives = "power";
  readonly isShared = true;
  /** A script is for sessions of one node. */
  readonly batches: number;
  readonly givenUp: AbortSignal;
  readonly #place: RedisPlace;

  constructor(place: RedisPlace) {
    this.#place = place;
    this.batches = place.sender.isCluster ? Number.POSITIVE_INFINITY : 1;
    this.givenUp = place.sender.farewell.givenUp;
  }

  locationOf(id: string): string {
    return `${this.#place.location}#${id}`;
  }

  check(): void {}

  async make({ id, documents, listing, revision, holder }: NewHead): Promise<number | undefined> {
    const { keys, durability } = this.#place;
    await durability.assured();
    // Before it is there: a list may name a session that is not.
    await this.#list(id, listing, "NX");
    const fields = { ...documents, ...listedFields(listing), ...(await this.#holderFields(holder)) };
    const all = { id, ...fields, made: revision, revision, origin: revision };
    const values = [randomUUID(), ...Object.entries(all).flat()];
    const isMade = await run(this.#place, makeScript, [keys.of(id)[0]], values);
    if (Number(isMade) !== 1) return undefined;
    await afterChange(this.#list(id, listing));
    await durability.confirmed();
    return revision;
  }

  async head(id: string): Promise<Head | undefined> {
    await this.#place.durability.assuredOnce();
    const { keys, now, sender } = this.#place;
    const values = (await sender.send("HMGET", keys.of(id)[0], ...fieldNames)) as readonly (string | null)[];
    return headOf(id, values, now);
  }

  async heads({ scope, status, isHidden, asideOf, after, most }: HeadsQuery): Promise<readonly Head[]> {
    const { sender, keys, durability } = this.#place;
    await durability.assuredOnce();
    const isAsked = (head: Head | undefined): head is Head =>
      head !== undefined &&
      (isHidden === undefined || head.listing.isHidden === isHidden) &&
      (status === undefined || head.listing.status === status) &&
      (!scope || inScope(scope, head.listing));
    if (asideOf !== undefined) {
      const ids = (await sender.send("SMEMBERS", keys.asides(asideOf))) as readonly string[];
      const found = await Promise.all(ids.map(async (id) => this.head(id)));
      return found
        .filter(isAsked)
        .filter(({ id }) => !after || id > after.id)
        .toSorted((left, right) => (left.id < right.id ? -1 : 1))
        .slice(0, most);
    }
    const found: Head[] = [];
    const set = scope ? keys.ofTenant(scope.tenant) : keys.all;
    for await (const page of listedBehind(sender, set, after, Math.max(most, fewestListed))) {
      const heads = await Promise.all(page.map(async ({ id }) => this.head(id)));
      // A list may name what is gone, or a session by a time that is another's, whose making was refused.
      const isPlaced = (head: Head | undefined, place: number) =>
        -Number(page[place]!.score) === head?.listing.createdMs;
      found.push(...heads.filter(isPlaced).filter(isAsked));
      if (found.length >= most) break;
    }
    return found.slice(0, most);
  }

  async numbers(id: string): Promise<Counters> {
    const { sender, keys } = this.#place;
    const [, ...logs] = keys.of(id);
    const newest = async (key: string) => linesOf(await sender.send("XREVRANGE", key, "+", "-", "COUNT", 1))[0];
    const lines = await Promise.all(logs.map(newest));
    return countersOf(logNames.map((log, place) => [log, lines[place]]));
  }

  async page(id: string, log: LogName, { from, to, last, after, most }: PageQuery): Promise<Page> {
    const asked = Math.min(most, mostLines);
    if (last === undefined)
      return this.#read(id, log, ["XRANGE", after ? `(${idOf(after)}` : from, to, "COUNT", asked]);
    let page = await this.#read(id, log, ["XREVRANGE", to, from, "COUNT", Math.min(last, mostLines)]);
    let [left, oldest] = [last - page.lines.length, page.lines[0]];
    if (left === 0 || page.lines.length < mostLines) return { ...page, lines: page.lines.slice(0, most) };
    while (left > 0 && oldest) {
      page = await this.#read(id, log, ["XREVRANGE", `(${idOf(oldest)}`, from, "COUNT", Math.min(left, mostLines)]);
      left -= page.lines.length;
      oldest = page.lines[0] ?? oldest;
      if (page.lines.length < mostLines) break;
    }
    return this.#read(id, log, ["XRANGE", oldest ? idOf(oldest) : from, to, "COUNT", asked]);
  }

  async size(id: string) {
    const { sender } = this.#place;
    const [session, ...logs] = this.#place.keys.of(id);
    const lengths = await Promise.all(logs.map(async (log) => Number(await sender.send("XLEN", log))));
    const documents = (await sender.send("HMGET", session, "metadata", "state", "mark")) as readonly (string | null)[];
    const sizes = [session, ...logs].map(async (key) => Number((await sender.send("MEMORY", "USAGE", key)) ?? 0));
    const count = documents.filter(Boolean).length + lengths.reduce((sum, length) => sum + length, 0);
    return { count, bytes: (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0) };
  }

  async commit(steps: readonly Step[]): Promise<readonly boolean[]> {
    const isDurable = steps.some((step) => step.isDurable);
    await (isDurable ? this.#place.durability.assured() : this.#place.durability.assuredOnce());
    const scripts = this.#scripts(steps);
    const sent = Promise.all(scripts.map(async (some) => this.#send(some)));
    // Of several, others are made.
    const made = await sent.catch((error: unknown) =>
      Promise.reject(scripts.length === 1 ? error : unknownOutcome(error)),
    );
    if (isDurable) await this.#place.durability.confirmed();
    return made.flat();
  }

  async remove(id: string, at: number): Promise<boolean> {
    const { keys, durability } = this.#place;
    await durability.assured();
    const head = await this.head(id);
    if (head?.revision !== at) return false;
    const { asideOf = id, tenant } = head.listing;
    const isRemoved = await run(this.#place, removeScript, [...keys.of(id), keys.asides(asideOf)], [at, id]);
    await this.#unlist(id, tenant);
    return Number(isRemoved) === 1;
  }

  async beat(holders: readonly { readonly id: string; readonly taking: string }[]): Promise<void> {
    const now = await this.#place.now();
    const { keys } = this.#place;
    for (const some of this.#scripts(holders)) {
      const names = some.map(({ id }) => keys.of(id)[0]);
      await run(this.#place, beatScript, names, [now, ...some.map(({ taking }) => taking)]);
    }
  }

  async examine(mend: boolean): Promise<readonly Finding[]> {
    const about = { problem: "stale-index", severity: "damage", mended: mend } as const;
    const missing = await relisted(this.#place, mend);
    return missing.map((sessionId) => ({ ...about, sessionId, message: "It is not in the lists of sessions." }));
  }

  hurry(): void {
    this.#place.sender.farewell.begin();
  }

  close(): Promise<void> {
    return this.#place.sender.end();
  }

  /** What one script can be for: everything, or, where sessions lie on several nodes, each alone. */
  #scripts<T>(all: readonly T[]): readonly (readonly T[])[] {
    return this.#place.sender.isCluster ? all.map((one) => [one]) : [all];
  }

  async #holderFields(holder: Taker | null | undefined): Promise<Fields> {
    if (holder === undefined) return {};
    if (holder === null) return { holder: "", taking: "" };
    const { generation, taking } = holder;
    return { holder: JSON.stringify(holder), taking, generation, beat: await this.#place.now() };
  }

  /** Makes steps with one script, each where its session has the revision. */
  async #send(steps: readonly Step[]): Promise<readonly boolean[]> {
    const { keys } = this.#place;
    const [names, values]: [string[], (string | number)[]] = [[], []];
    for (const { id, at, to, isEmptied = false, lines = [], documents = {}, listing, holder } of steps) {
      const fields = {
        ...documents,
        ...(listing && listedFields(listing)),
        ...(await this.#holderFields(holder)),
        ...(to !== undefined && { id: to }),
      };
      names.push(...keys.of(id), ...(to === undefined ? [] : [...keys.of(to), keys.asides(id)]));
      values.push(at, at + 1, randomUUID(), to ?? "", isEmptied ? 1 : 0, Object.keys(fields).length, lines.length);
      values.push(...Object.entries(fields).flat());
      // A stream takes numbers that ascend.
      const ascending = lines.toSorted((left, right) => left.seq - right.seq);
      for (const { log, seq, pos, line } of ascending) values.push(logNames.indexOf(log) + 1, seq, pos, line);
    }
    const answers = (await run(this.#place, stepScript, names, values)) as readonly string[];
    for (const [place, { id, to = id }] of steps.entries()) {
      if (answers[place] === "moved") await afterChange(this.#moved(id, to));
    }
    return answers.map((answer) => answer !== "other");
  }

  async #read(id: string, log: LogName, command: readonly (string | number)[]): Promise<Page> {
    const [session, ...logs] = this.#place.keys.of(id);
    const key = logs[logNames.indexOf(log)] ?? "";
    const reply = (await run(this.#place, readScript, [session, key], command)) as
      | readonly [string, unknown, unknown]
      | null;
    if (!reply) return { origin: undefined, newest: 0, lines: [] };
    const lines = linesOf(reply[2]);
    return {
      origin: Number(reply[0]),
      newest: linesOf(reply[1])[0]?.seq ?? 0,
      lines: command[0] === "XREVRANGE" ? lines.toReversed() : lines,
    };
  }

  /** @param how - whether lists keep what they say already */
  async #list(id: string, { tenant, createdMs }: Head["listing"], ...how: readonly "NX"[]): Promise<void> {
    const { sender, keys } = this.#place;
    for (const set of [keys.all, keys.ofTenant(tenant)]) await sender.send("ZADD", set, ...how, -createdMs, id);
  }

  /** Lists a session under its id, and by what it is listed by. */
  async #moved(before: string, id: string): Promise<void> {
    const head = await this.head(id);
    if (head) await this.#list(id, head.listing);
    if (before !== id) await this.#unlist(before, head?.listing.tenant);
  }

  /** Takes a session that is not there from the lists. One that is made anew meanwhile is listed again. */
  async #unlist(id: string, tenant: string | undefined): Promise<void> {
    const { keys, sender } = this.#place;
    for (const set of [keys.all, keys.ofTenant(tenant)]) await sender.send("ZREM", set, id);
    const head = await this.head(id);
    if (head) await this.#list(id, head.listing);
  }
}
