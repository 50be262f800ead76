/** Stores in Postgres whose statements are refused, lose their answers, or are carried out late. */
import { randomUUID } from "node:crypto";
import type { Store } from "windrow";
import { postgresStore } from "windrow/store/postgres";
import type { PostgresClient } from "windrow/store/postgres";
import type { PgPool } from "../kit/pg-pool.ts";

/** The statements that append: to many sessions, and to one. */
export const appending = /^WITH (?:asked AS|moved AS \(UPDATE)/;

type Answer = { readonly rows: readonly object[] };

/** An error as a server, or a connection that broke, gives it. */
function failing(code: string): Error {
  return Object.assign(new Error(`failed by the test: ${code}`), { code });
}

/** How a statement is treated: what goes wrong before it, and after it was carried out. */
export interface Fault {
  readonly of: RegExp;
  readonly before?: string;
  /** Done before it is sent. */
  readonly meanwhile?: () => Promise<unknown>;
  readonly after?: string;
  /** It is still on its way when its connection is given up, and carried out when `late` is called. */
  readonly isLate?: true;
  /** It is carried out, and its transaction ends when this does. */
  readonly until?: Promise<unknown>;
}

/** Two stores in one schema, and how the statements of the first fail. */
export interface LateStores {
  /** Its statements meet the faults that are left, each once and in order. */
  readonly store: Store;
  readonly other: Store;
  readonly faults: Fault[];
  readonly schema: string;
  /** Carries out what is still on its way. */
  readonly late: () => Promise<void>;
}

/** A store whose statements meet the faults that are left, each once and in order, and another that meets none. */
export function lateStores(pool: PgPool): LateStores {
  const schema = `unknown_${randomUUID().replaceAll("-", "")}`;
  const faults: Fault[] = [];
  const onTheWay: (() => Promise<unknown>)[] = [];
  const client: PostgresClient = {
    async query(text: string, values?: unknown[]): Promise<Answer> {
      const fault = faults[0]?.of.test(text) === true ? faults.shift() : undefined;
      await fault?.meanwhile?.();
      if (fault?.before !== undefined) throw failing(fault.before);
      if (fault?.isLate) {
        onTheWay.push(() => pool.query(text, values));
        throw failing("ECONNRESET");
      }
      const answer = await (fault?.until ? slowly(pool, fault.until, text, values) : pool.query(text, values));
      if (fault?.after !== undefined) throw failing(fault.after);
      return answer;
    },
  };
  const other = postgresStore({ client: pool as never, schema });
  const late = async (): Promise<void> => {
    for (const carryOut of onTheWay.splice(0)) await carryOut();
  };
  return { store: postgresStore({ client, schema }), other, faults, schema, late };
}

/** A statement whose transaction ends late. */
async function slowly(pool: PgPool, until: Promise<unknown>, text: string, values: unknown[] = []): Promise<Answer> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const answer = await client.query(text, values);
    await until;
    await client.query("COMMIT");
    return answer;
  } finally {
    client.release();
  }
}

/** A session whose row names a process that is gone. */
export async function abandon(pool: PgPool, schema: string, id: string): Promise<void> {
  const times = { acquiredAt: "2026-01-01T00:00:00.000Z", heartbeatAt: "2026-01-01T00:00:00.000Z" };
  const gone = { processId: 1, hostname: "gone", bootId: null, namespace: null, processStart: null, generation: 1 };
  await pool.query(`UPDATE ${schema}.session SET holder = $1, worker = NULL WHERE id = $2`, [
    JSON.stringify({ ...gone, ...times }),
    id,
  ]);
}
