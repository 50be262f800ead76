/** The engine of stores in Postgres: sessions and their lines are rows, and a batch of steps is one statement. */
import type {
  EndPart,
  Engine,
  EngineLine,
  Head,
  Look,
  PlacedLine,
  HeadsQuery,
  NewHead,
  Page,
  PageQuery,
  Place,
  Step,
} from "../engine.ts";
import { logNames } from "../format/logs.ts";
import { countersOf, headOfRow } from "../shared/head-row.ts";
import type { Counters } from "../shared/session-log.ts";
import type { Finding, LogName } from "../store.ts";
import type { Asker, PostgresRow } from "./client.ts";
import { numbersPart, sessionPart, statementsOf } from "./statements.ts";
import type { Statements } from "./statements.ts";
import { logNumbers, openTables, quoted } from "./tables.ts";

/** What an engine in Postgres works with. */
export interface PostgresPlace {
  readonly asker: Asker;
  /** The schema's name, not quoted. */
  readonly schema: string;
  /** The server and its database in messages, without user and password. */
  readonly location: string;
  /** The time, where it is not the server's. */
  readonly now: (() => string) | undefined;
  /** Whether tables that are not there are made. */
  readonly create: boolean;
}

/** Makes an engine over a schema, whose tables are made with its first use. */
export function postgresEngine(place: PostgresPlace): Engine {
  return new PostgresEngine(place);
}

class PostgresEngine implements Engine {
  readonly name = "postgres";
  readonly survives = "power";
  readonly isShared = true;
  /** The server works on one batch while the other is made, or waits for the disk. */
  readonly batches = 2;
  readonly givenUp: AbortSignal;
  readonly #place: PostgresPlace;
  readonly #sql: Statements;
  #ready: Promise<void> | undefined;

  constructor(place: PostgresPlace) {
    this.#place = place;
    this.givenUp = place.asker.farewell.givenUp;
    this.#sql = statementsOf(quoted(place.schema));
  }

  locationOf(id: string): string {
    return `${this.#place.location}#${id}`;
  }

  check(): void {}

  async make({ id, documents, listing, revision, holder }: NewHead): Promise<number | undefined> {
    const { tenant = null, user = null, status, createdMs, isHidden, asideOf = null } = listing;
    const { metadata, state, mark } = documents;
    const values = [id, tenant, user, status, createdMs, isHidden, asideOf, metadata, state, mark, revision];
    const made = await this.#ask(this.#sql.make, [...values, JSON.stringify(holder), this.#now()]);
    return made.length > 0 ? revision : undefined;
  }

  async head(id: string): Promise<Head | undefined> {
    const [row] = await this.#ask(this.#sql.head, [id, this.#now()]);
    return row && headOf(row);
  }

  async look(id: string, parts: readonly EndPart[]): Promise<Look | undefined> {
    const rows = await this.#ask(this.#sql.look(parts), [id, this.#now()]);
    const ofPart = (part: number): readonly PostgresRow[] => rows.filter((row) => Number(row["part"]) === part);
    const [session] = ofPart(sessionPart);
    if (!session) return undefined;
    const ends = parts.map((_, part) =>
      ofPart(part)
        .map((row) => ({ ...lineOf(row), isCut: Number(row["earlier"]) > 0 }))
        .toSorted((left, right) => left.seq - right.seq || left.row - right.row),
    );
    const head = headOf(JSON.parse(String(session["body"])) as PostgresRow);
    return { head, numbers: numbersOf(ofPart(numbersPart)), ends };
  }

  async heads({ scope, status, isHidden, asideOf, after, most }: HeadsQuery): Promise<readonly Head[]> {
    const values: unknown[] = [this.#now()];
    const given = (value: unknown): string => `$${values.push(value)}`;
    const conditions = ["true"];
    if (isHidden !== undefined) conditions.push(`hidden = ${String(isHidden)}`);
    if (asideOf !== undefined) conditions.push(`aside_of = ${given(asideOf)}`);
    // The index is over this expression: rows where a column is null are in no order that an index gives.
    if (scope) conditions.push(`coalesce(tenant, '') = ${given(scope.tenant ?? "")}`);
    if (scope) conditions.push(`tenant IS ${scope.tenant === undefined ? "" : "NOT "}NULL`);
    if (scope?.user !== undefined) conditions.push(`"user" = ${given(scope.user)}`);
    if (status !== undefined) conditions.push(`status = ${given(status)}`);
    if (after) {
      const created = given(after.createdMs);
      conditions.push(`created_ms <= ${created} AND (created_ms < ${created} OR id > ${given(after.id)})`);
    }
    const where = `${conditions.join(" AND ")} ORDER BY created_ms DESC, id LIMIT ${given(most)}`;
    return (await this.#ask(`${this.#sql.heads} WHERE ${where}`, values)).map(headOf);
  }

  async numbers(id: string): Promise<Counters> {
    return numbersOf(await this.#ask(this.#sql.numbers, [id]));
  }

  async page(id: string, log: LogName, { from, to, last, after, most }: PageQuery): Promise<Page> {
    const number = logNumbers[log];
    let place: Place = after ?? { seq: from, row: -1 };
    const isOnePage = last !== undefined && last <= most;
    if (last !== undefined && !isOnePage) {
      const [first] = await this.#ask(this.#sql.fromEnd, [id, number, from, to, last - 1]);
      if (first) place = { seq: Number(first["seq"]), row: Number(first["number"]) - 1 };
    }
    const rows = isOnePage
      ? await this.#ask(this.#sql.newest, [id, number, from, to, last])
      : await this.#ask(this.#sql.page, [id, number, place.seq, place.row, to, most]);
    const lines = rows.filter((row) => row["seq"] !== null);
    return {
      origin: rows[0] && Number(rows[0]["origin"]),
      newest: Number(rows[0]?.["newest"] ?? 0),
      lines: lines.map(lineOf),
    };
  }

  async size(id: string) {
    const [row] = await this.#ask(this.#sql.size, [id]);
    return { count: Number(row?.["count"] ?? 0), bytes: Number(row?.["bytes"] ?? 0) };
  }

  async commit(given: readonly Step[]): Promise<readonly boolean[]> {
    // In one order everywhere, so that two processes do not wait for each other.
    const steps = given.toSorted((left, right) => (left.id < right.id ? -1 : 1));
    const isEmptied = steps.some((step) => step.isEmptied === true);
    const values = [JSON.stringify(steps.map(stepRow)), ...linesOf(steps), this.#now()];
    const rows = await this.#ask(isEmptied ? this.#sql.emptying : this.#sql.commit, values);
    const made = new Set(rows.map((row) => steps[Number(row["place"])]));
    return given.map((step) => made.has(step));
  }

  async remove(id: string, at: number): Promise<boolean> {
    return (await this.#ask(this.#sql.remove, [id, at])).length > 0;
  }

  async beat(holders: readonly { readonly id: string; readonly taking: string }[]): Promise<void> {
    const list = (name: "id" | "taking"): string => `{${holders.map((one) => one[name]).join(",")}}`;
    await this.#ask(this.#sql.beat, [list("id"), list("taking"), this.#now()]);
  }

  async examine(): Promise<readonly Finding[]> {
    const [row] = await this.#ask(this.#sql.orphans, []);
    const count = Number(row?.["count"] ?? 0);
    if (count === 0) return [];
    const message = `${count} lines belong to no session.`;
    return [{ problem: "database-damaged", severity: "damage", message, mended: false }];
  }

  hurry(): void {
    this.#place.asker.farewell.begin();
  }

  close(): Promise<void> {
    return this.#place.asker.end();
  }

  #now(): string | null {
    return this.#place.now?.() ?? null;
  }

  async #ask(text: string, values: readonly unknown[]): Promise<readonly PostgresRow[]> {
    this.#ready ??= openTables(this.#place, this.#place.create);
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
    return this.#place.asker.askOften(text, values);
  }
}

/** A step without its lines, as the statement reads it. */
function stepRow({ id, at, isEmptied = false, documents = {}, listing, to, holder }: Step, place: number) {
  return {
    ...{ place, id, at, emptied: isEmptied, ...documents, new_id: to },
    ...(listing && {
      ...{ listed: true, tenant: listing.tenant, owner: listing.user, status: listing.status },
      ...{ created_ms: listing.createdMs, hidden: listing.isHidden, aside_of: listing.asideOf },
    }),
    ...(holder !== undefined && { held: true }),
    ...(holder && { holder: JSON.stringify(holder), generation: holder.generation }),
  };
}

/** The lines of steps as lists, and their texts as one: it needs no quoting as a list does, and JSON has no line end inside. */
function linesOf(steps: readonly Step[]): readonly string[] {
  const lines = steps.flatMap((step, place) => (step.lines ?? []).map((line) => ({ ...line, place })));
  if (lines.some(({ line }) => line.includes("\n"))) throw new TypeError("A line of a log has a line end inside.");
  const list = (number: (line: EngineLine & { readonly place: number }) => number): string =>
    `{${lines.map(number).join(",")}}`;
  return [
    list(({ place }) => place),
    list(({ log }) => logNumbers[log]),
    list(({ seq }) => seq),
    list(({ pos }) => pos),
    lines.map(({ line }) => line).join("\n"),
  ];
}

function numbersOf(rows: readonly PostgresRow[]): Counters {
  return countersOf(rows.map((row) => [logNames.find((log) => logNumbers[log] === Number(row["log"]))!, row]));
}

function lineOf(row: PostgresRow): PlacedLine {
  return {
    ...{ seq: Number(row["seq"]), row: Number(row["number"]) },
    line: String(row["body"]),
  };
}

function headOf(row: PostgresRow): Head {
  return headOfRow(row, String(row["beat"]), Number(row["silent_ms"]));
}
