/** The engine of stores in Redis: a hash and seven streams for each session, and a script for each batch of steps. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import type { Engine, Head, HeadsQuery, NewHead, Page, PageQuery, Step } from "../engine.ts";
import { logNames } from "../format/logs.ts";
import { noCounts } from "../format/seal.ts";
import type { Taker } from "../shared/holder.ts";
import { isUnknownOutcome, unknownOutcome } from "../shared/remote.ts";
import { inScope } from "../shared/rules.ts";
import type { Counters } from "../shared/session-log.ts";
import type { Finding, LogName } from "../store.ts";
import { refusalOf } from "./client.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { fieldNames, headOf, idOf, linesOf, listedFields } from "./fields.ts";
import type { Fields } from "./fields.ts";
import type { SessionKeys } from "./keys.ts";
import { afterChange, listedBehind, relisted } from "./lists.ts";
import { beatScript, makeScript, readScript, removeScript, stepScript, unlistScript } from "./scripts.ts";

/** Sessions in one script: the server does nothing else while it runs one. */
const mostSessions = 64;

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
  readonly givenUp: AbortSignal;
  readonly #place: RedisPlace;

  constructor(place: RedisPlace) {
    this.#place = place;
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
    await this.#safe([{ id, revision }]);
    return revision;
  }

  async head(id: string): Promise<Head | undefined> {
    await this.#place.durability.assuredOnce();
    const { keys } = this.#place;
    const own = await this.#headAt(keys.of(id)[0], id);
    if (own) return own;
    const before = await this.#idBefore(id);
    return before === null ? undefined : this.#headAt(keys.aside(before, id)[0], id);
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
      const found = await Promise.all(ids.map(async (id) => this.#headAt(keys.aside(asideOf, id)[0], id)));
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
      // A list may name a session by a time that is another's, whose making was refused.
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
    const newest = await Promise.all(
      logs.map(async (log) => linesOf(await sender.send("XREVRANGE", log, "+", "-", "COUNT", 1))),
    );
    const seqs = noCounts();
    let pos = 0;
    for (const [place, log] of logNames.entries()) {
      const [line] = newest[place] ?? [];
      seqs[log] = line?.seq ?? 0;
      pos = Math.max(pos, line?.pos ?? 0);
    }
    return { seqs, pos };
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
    const [session, ...logs] = await this.#keysOf(id);
    const lengths = await Promise.all(logs.map(async (log) => Number(await sender.send("XLEN", log))));
    const documents = (await sender.send("HMGET", session, "metadata", "state", "mark")) as readonly (string | null)[];
    const sizes = [session, ...logs].map(async (key) => Number((await sender.send("MEMORY", "USAGE", key)) ?? 0));
    const count = documents.filter(Boolean).length + lengths.reduce((sum, length) => sum + length, 0);
    return { count, bytes: (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0) };
  }

  async commit(steps: readonly Step[]): Promise<readonly boolean[]> {
    const isDurable = steps.some((step) => step.isDurable);
    await (isDurable ? this.#place.durability.assured() : this.#place.durability.assuredOnce());
    const scripts: (readonly Step[])[] = [];
    const size = this.#place.sender.isCluster ? 1 : mostSessions;
    for (let at = 0; at < steps.length; at += size) scripts.push(steps.slice(at, at + size));
    const sent = await Promise.allSettled(scripts.map(async (some) => this.#send(some)));
    const failed = sent.find((one) => one.status === "rejected");
    if (failed) {
      // The others are made, or may be.
      const isAlone = sent.length === 1 && failed.reason instanceof WindrowError && !isUnknownOutcome(failed.reason);
      throw isAlone ? failed.reason : unknownOutcome(failed.reason);
    }
    const made = sent.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    if (isDurable)
      await this.#safe(
        steps.flatMap(({ id, to = id, at }, place) => (made[place] ? [{ id: to, revision: at + 1 }] : [])),
      );
    return made;
  }

  async remove(id: string, at: number): Promise<boolean> {
    const { keys, sender } = this.#place;
    await this.#place.durability.assured();
    const before = await this.#idBefore(id);
    const head = await this.head(id);
    const own = before === null ? keys.of(id) : keys.aside(before, id);
    const isRemoved = Number(await run(this.#place, removeScript, [...own, keys.asides(before ?? id)], [at, id])) === 1;
    if (isRemoved && before !== null) await sender.send("DEL", keys.before(id));
    if (isRemoved) await this.#unlist(id, head?.listing.tenant);
    return isRemoved;
  }

  async beat(holders: readonly { readonly id: string; readonly taking: string }[]): Promise<void> {
    const now = await this.#place.now();
    const { keys, sender } = this.#place;
    const size = sender.isCluster ? 1 : mostSessions;
    for (let at = 0; at < holders.length; at += size) {
      const some = holders.slice(at, at + size);
      await run(
        this.#place,
        beatScript,
        some.map(({ id }) => keys.of(id)[0]),
        [now, ...some.map(({ taking }) => taking)],
      );
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

  async #keysOf(id: string): Promise<SessionKeys> {
    const { sender, keys } = this.#place;
    const own = keys.of(id);
    if (Number(await sender.send("EXISTS", own[0])) === 1) return own;
    const before = await this.#idBefore(id);
    return before === null ? own : keys.aside(before, id);
  }

  /** The id that a session had before it was put aside; null for one that was not. */
  async #idBefore(id: string): Promise<string | null> {
    return (await this.#place.sender.send("GET", this.#place.keys.before(id))) as string | null;
  }

  async #headAt(key: string, id: string): Promise<Head | undefined> {
    const values = (await this.#place.sender.send("HMGET", key, ...fieldNames)) as readonly (string | null)[];
    return headOf(id, values, this.#place.now);
  }

  async #holderFields(holder: Taker | null | undefined): Promise<Fields> {
    if (holder === undefined) return {};
    if (holder === null) return { holder: "", taking: "" };
    const { generation, taking } = holder;
    return { holder: JSON.stringify(holder), taking, generation, beat: await this.#place.now() };
  }

  /** @param own - the keys of a session that was put aside, whose only step it is */
  async #send(steps: readonly Step[], own?: SessionKeys): Promise<readonly boolean[]> {
    const { keys, location, sender } = this.#place;
    const [names, values]: [string[], (string | number)[]] = [[], []];
    for (const { id, at, to, isEmptied = false, lines = [], documents = {}, listing, holder } of steps) {
      const fields = {
        ...documents,
        ...(listing && listedFields(listing)),
        ...(await this.#holderFields(holder)),
        ...(to !== undefined && { id: to }),
      };
      if (to !== undefined) await sender.send("SET", keys.before(to), id);
      names.push(...(own ?? keys.of(id)), ...(to === undefined ? [] : [...keys.aside(id, to), keys.asides(id)]));
      values.push(at, at + 1, randomUUID(), to ?? "", isEmptied ? 1 : 0, Object.keys(fields).length, lines.length);
      values.push(...Object.entries(fields).flat());
      for (const { log, seq, pos, line } of lines) values.push(logNames.indexOf(log) + 1, seq, pos, line);
    }
    const answers = (await run(this.#place, stepScript, names, values)) as readonly string[];
    const made: boolean[] = [];
    for (const [place, step] of steps.entries()) {
      const { id, to = id } = step;
      const [outcome, told] = [answers[2 * place], answers[2 * place + 1] ?? ""];
      if (outcome === "error") throw steps.length === 1 ? refusalOf(told, location) : unknownOutcome(new Error(told));
      if (outcome === "made" && told === "moved") await afterChange(this.#moved(id, to));
      const before = outcome === "gone" && !own ? await this.#idBefore(id) : null;
      made.push(before === null ? outcome === "made" : (await this.#send([step], keys.aside(before, id)))[0] === true);
    }
    return made;
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

  async #unlist(id: string, tenant: string | undefined): Promise<void> {
    const { keys, sender } = this.#place;
    for (const set of [keys.all, keys.ofTenant(tenant)]) {
      // In a cluster the two have no script in common.
      if (!sender.isCluster) await run(this.#place, unlistScript, [keys.of(id)[0], set], [id]);
      else if (!(await this.head(id))) await sender.send("ZREM", set, id);
    }
  }

  /** Waits until what was written is as safe as the store promises. A server that was away may have come back without it. */
  #safe(written: readonly Pick<Head, "id" | "revision">[]): Promise<void> {
    const isThere = async ({ id, revision }: Pick<Head, "id" | "revision">): Promise<boolean> =>
      ((await this.head(id))?.revision ?? 0) >= revision;
    return this.#place.durability.safe(async () => (await Promise.all(written.map(isThere))).every(Boolean));
  }
}
