/**
 * Storms: processes with several managers on one store write while commands run beside them, and all of them are killed
 * or stopped at any moment. Whoever starts one reads back what was acknowledged.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "windrow";
import { startManagers } from "./managers.ts";
import type { Acknowledged, Managers } from "./managers.ts";

/** Whose managers a process has. */
const tenants: readonly string[] = ["acme", "beta", "gamma"];

/** A store in a storm. */
export interface Target {
  /** Folder of the compiled modules. */
  readonly root: string;
  readonly url: string;
  /** A folder for backups. */
  readonly scratch: string;
}

/** What became of a storm. */
export interface Outcome {
  readonly acknowledged: readonly Acknowledged[];
  /** Appends that were refused, though nothing but processes ended. */
  readonly refused: readonly string[];
  readonly kills: number;
  readonly stops: number;
  /** Commands that ran beside the writers; some were killed. */
  readonly commands: number;
}

/** Runs a command of the product. */
export async function windrow(
  { root, url }: Pick<Target, "root" | "url">,
  args: readonly string[],
  killAfter?: number,
): Promise<{ readonly status: number | null; readonly stdout: string }> {
  const given = [join(root, "cli/main.js"), ...args, "--store", url];
  const child = spawn(process.execPath, given, { stdio: ["ignore", "pipe", "ignore"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  if (killAfter !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfter);
  const [status] = (await once(child, "close")) as [number | null];
  return { status, stdout };
}

/** Two managers in a process, a command beside it, SIGKILL: the case that a second opening of a database once lost. */
export async function calm(target: Target): Promise<Outcome> {
  const first = startManagers(target.root, target.url, "first");
  const two = tenants.slice(0, 2);
  const appends = two.map((tenant) => ({ do: "append", tenant, count: 5 }));
  await first.tell(...two.map((tenant) => ({ do: "open", tenant })), ...appends);
  await windrow(target, ["stats", "--tenant", "acme"]);
  await first.tell(...appends, ...appends);
  await first.kill();
  return { acknowledged: first.acknowledged(), refused: first.failures(), kills: 1, stops: 0, commands: 1 };
}

/** In each round a process is killed, one is stopped, goes on and is killed, and three commands run; one process lasts. */
export async function storm(target: Target, rounds: number): Promise<Outcome> {
  const { root, url, scratch } = target;
  const acknowledged: Acknowledged[] = [];
  const refused: string[] = [];
  const counts = { kills: 0, stops: 0, commands: 0 };
  const begin = async (name: string): Promise<Managers> => {
    const one = startManagers(root, url, name);
    await one.tell(...tenants.map((tenant) => ({ do: "open", tenant })));
    refused.push(...one.failures());
    one.start({ do: "storm" });
    return one;
  };
  const end = async (one: Managers): Promise<void> => {
    await one.kill();
    counts.kills += 1;
    refused.push(...one.failures());
    acknowledged.push(...one.acknowledged());
  };
  const lasting = await begin("lasting");
  for (let round = 0; round < rounds; round++) {
    const [killed, stopped] = await Promise.all([begin(`killed-${round}`), begin(`stopped-${round}`)]);
    const third = round % 2 === 0 ? ["doctor"] : ["search", "first"];
    const commands = [
      windrow(target, ["stats", "--tenant", tenants[round % tenants.length]!]),
      windrow(target, ["backup", join(scratch, `backup-${round}`), "--running"], 300 * round),
      windrow(target, third),
    ];
    counts.commands += commands.length;
    await killed.until(10 + round * 8);
    await end(killed);
    stopped.signal("SIGSTOP");
    counts.stops += 1;
    await sleep(30);
    stopped.signal("SIGCONT");
    await Promise.all([stopped.until(20), lasting.until(20 * (round + 1)), ...commands]);
    await end(stopped);
  }
  await end(lasting);
  return { acknowledged, refused, ...counts };
}

/** What the store has of messages that were acknowledged. */
export async function readBack(
  store: Store,
  acknowledged: readonly Acknowledged[],
): Promise<{ readonly lost: readonly string[]; readonly wrong: readonly string[] }> {
  const told = new Map<string, Acknowledged[]>();
  for (const one of acknowledged) told.set(one.session, [...(told.get(one.session) ?? []), one]);
  const lost: string[] = [];
  const wrong: string[] = [];
  for (const [session, messages] of told) {
    const wanted = messages.map(({ text }) => text);
    const found: string[] = [];
    try {
      for await (const { message } of store.read({ tenant: messages[0]!.tenant }, session, { kind: "message" })) {
        const [part] = message.parts;
        if (part?.type === "text" && wanted.includes(part.text)) found.push(part.text);
      }
    } catch (error) {
      wrong.push(`session ${session} cannot be read back: ${String(error)}`);
    }
    lost.push(...wanted.filter((text) => !found.includes(text)));
    if (new Set(found).size < found.length) wrong.push(`session ${session} has messages twice`);
    const order = wanted.filter((text) => found.includes(text));
    if (found.join() !== order.join()) wrong.push(`the messages of session ${session} are out of order`);
  }
  return { lost, wrong };
}
