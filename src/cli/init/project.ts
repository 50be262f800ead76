/** A project as `windrow init` finds it: its packages, its language, its package manager, its store. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { WindrowError } from "../../errors.ts";

/** The facts about a project's folder on which the written files depend. */
export interface Project {
  /** The folder, an absolute path. */
  readonly folder: string;
  /** The packages that package.json names, of every kind. */
  readonly packages: ReadonlySet<string>;
  /** Whether the agent is written in TypeScript. */
  readonly isTypeScript: boolean;
  /** Whether files that end with `.ts` are ES modules. */
  readonly isModule: boolean;
  /** Whether this Node runs TypeScript by itself. */
  readonly stripsTypes: boolean;
  readonly manager: PackageManager;
}

/** The commands of a package manager, to which names of packages or of a program are appended. */
export interface PackageManager {
  readonly install: string;
  readonly add: string;
  readonly addForDevelopment: string;
  readonly run: string;
}

const npm: PackageManager = {
  install: "npm install",
  add: "npm install",
  addForDevelopment: "npm install --save-dev",
  run: "npx",
};
const managers: Readonly<Record<string, PackageManager>> = {
  "pnpm-lock.yaml": other("pnpm", "pnpm exec"),
  "yarn.lock": other("yarn", "yarn"),
  "bun.lock": other("bun", "bunx"),
  "bun.lockb": other("bun", "bunx"),
};

/**
 * Reads a project's folder, which may not be there yet.
 *
 * @param stripsTypes - whether Node runs TypeScript. Default: whether this one does
 * @throws WindrowError `input-unreadable` for a package.json that is no JSON object, `bad-option` for a path that is no folder
 */
export function readProject(path: string, stripsTypes = nodeStripsTypes()): Project {
  const folder = resolve(path);
  const manifest = readManifest(join(folder, "package.json"));
  const kinds = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
  const packages = new Set(kinds.flatMap((kind) => Object.keys(asRecord(manifest[kind]))));
  const lock = Object.keys(managers).find((name) => existsSync(join(folder, name)));
  return {
    folder,
    packages,
    isTypeScript: stripsTypes || packages.has("typescript") || existsSync(join(folder, "tsconfig.json")),
    isModule: manifest["type"] === "module",
    stripsTypes,
    manager: managers[lock ?? ""] ?? npm,
  };
}

/** Whether a package is installed in a folder or above it. */
export function isInstalled(folder: string, name: string): boolean {
  if (existsSync(join(folder, "node_modules", name, "package.json"))) return true;
  const above = dirname(folder);
  return above !== folder && isInstalled(above, name);
}

/**
 * The line of .gitignore for a store; undefined where it lies outside of the project or is no place on disk.
 *
 * @param store - the configuration's: a folder, or a URL
 */
export function ignoreLine(folder: string, store: string): string | undefined {
  const [, scheme = "", place = store] = /^([a-z]{2,}):(.*)$/.exec(store) ?? [];
  if (!["", "file", "sqlite"].includes(scheme)) return undefined;
  const path = relative(folder, resolve(folder, place.replace(/^\/\//, "")))
    .split(sep)
    .join("/");
  if (path === "" || path.startsWith("..") || /[\r\n]/.test(path)) return undefined;
  // A database has files beside it that begin with its name.
  return scheme === "sqlite" ? `/${path}*` : `/${path}/`;
}

function readManifest(path: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return {};
    if (code === "ENOTDIR") {
      throw new WindrowError(
        "bad-option",
        `${dirname(path)} is no folder. Name one, for example windrow init my-agent.`,
        {
          path: dirname(path),
        },
      );
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new WindrowError("input-unreadable", `${path} cannot be read: ${reason}`, { path }, { cause: error });
  }
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest))
      throw new Error("it is no object");
    return manifest as Readonly<Record<string, unknown>>;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${path} is no JSON: ${reason}. Mend it, or name the folder of another project; nothing was written.`;
    throw new WindrowError("input-unreadable", message, { path }, { cause: error });
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function nodeStripsTypes(): boolean {
  const { typescript = false } = process.features as { readonly typescript?: string | boolean };
  return typescript !== false;
}

function other(name: string, run: string): PackageManager {
  return { install: `${name} install`, add: `${name} add`, addForDevelopment: `${name} add -D`, run };
}
