/** Every kind of store that can have an archive beside it, each in a place of its own. */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { hasPostgres, startPostgres } from "../../kit/postgres.ts";
import type { TestPostgres } from "../../kit/postgres.ts";
import { driver } from "../../kit/sqlite-stores.ts";
import { hasRedis } from "../../kit/redis.ts";
import { temporaryFolder } from "../../kit/stores.ts";
import { redisHere } from "../stage.ts";

/** A kind of store. */
export interface StoreKind {
  readonly name: string;
  /** Whether it can be had here. */
  readonly isHere: boolean;
  /** The address of a new, empty store. */
  readonly address: () => Promise<string>;
}

const folders: string[] = [];
let postgres: TestPostgres | undefined;

/** A folder that goes when the tests end. */
export async function newFolder(): Promise<string> {
  const folder = await temporaryFolder();
  folders.push(folder);
  return folder;
}

/** Removes the folders. */
export async function removeFolders(): Promise<void> {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** The kinds; their servers run while the tests of the file do. */
export function storeKinds(): readonly StoreKind[] {
  const redis = redisHere();
  beforeAll(async () => {
    if (hasPostgres) postgres = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    postgres?.close();
    await removeFolders();
  });
  return [
    { name: "files", isHere: true, address: async () => join(await newFolder(), "store") },
    {
      name: "sqlite",
      isHere: driver !== undefined,
      address: async () => `sqlite:${join(await newFolder(), "contexts.db")}`,
    },
    {
      name: "postgres",
      isHere: hasPostgres,
      address: async () => `${postgres?.url}?schema=archive_${randomUUID().replaceAll("-", "")}&max=4`,
    },
    { name: "redis", isHere: hasRedis, address: async () => `${redis.url}?prefix=kept-${randomUUID()}:` },
  ];
}

/** The folder of an archive that is not there yet. */
export async function newArchive(): Promise<string> {
  return join(await newFolder(), "archive");
}

/** The objects in the folder of an archive. */
export function objectsIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"));
}
