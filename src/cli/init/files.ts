/** The files of `windrow init`: what each would be, what is there already, and writing them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { configIn } from "../../config/find.ts";
import { loadConfig } from "../../config/config.ts";
import { makeFolders } from "../../disk/folders.ts";
import { WindrowError } from "../../errors.ts";
import type { ChosenHost } from "./hosts.ts";
import { missingNodeTypes } from "./node-types.ts";
import { ignoreLine } from "./project.ts";
import type { Project } from "./project.ts";

/** The fate of a file: `kept` as it is, since it was there; `extended` by a line. */
export type FileAction = "written" | "overwritten" | "extended" | "kept";

/** A file of the project, and what becomes of it. */
export interface PlannedFile {
  /** The name in the project's folder. */
  readonly name: string;
  readonly action: FileAction;
  /** The whole text that the file has then; undefined where it is kept. */
  readonly text?: string;
  /** A few words about it, for people. */
  readonly about: string;
}

const configText = `# yaml-language-server: $schema=./node_modules/windrow/docs/windrow.schema.json
# For agents (SessionManager.open({ config: true })) and for the command; npx windrow config shows what holds.
version: 1
store: ./contexts
`;

/**
 * The files of a host's agent in a project, and what would become of each. Nothing is written.
 *
 * @param force - what is there is overwritten; else it is kept
 * @throws WindrowError `bad-option` for a configuration that is wrong
 */
export async function planFiles(project: Project, chosen: ChosenHost, force: boolean): Promise<readonly PlannedFile[]> {
  const { folder } = project;
  const { key } = chosen.host;
  const plan = (name: string, text: string, about: string): PlannedFile => {
    const isThere = existsSync(join(folder, name));
    if (isThere && !force) return { name, action: "kept", about: "is there already; --force overwrites it" };
    return { name, action: isThere ? "overwritten" : "written", text, about };
  };
  const found = configIn(folder);
  // A configuration of another form is kept even by force: two in one folder are refused.
  const name = found ? basename(found.path) : "windrow.config.yaml";
  const config: PlannedFile =
    name === "windrow.config.yaml"
      ? plan(name, configText, "where sessions are kept")
      : { name, action: "kept", about: "is the configuration of this folder" };
  const store = config.action === "kept" ? await storeOf(folder) : "./contexts";
  return [
    plan(agentName(project), templateText(project, chosen), `the agent; a scripted model answers until ${key} is set`),
    config,
    ...ignoreFile(folder, store),
  ];
}

/** The name of the agent's file. */
export function agentName({ isTypeScript, isModule }: Pick<Project, "isTypeScript" | "isModule">): string {
  return `windrow-agent.${isTypeScript ? (isModule ? "ts" : "mts") : "mjs"}`;
}

/**
 * Writes the files of a plan into a folder, which is made where it is absent. A file that came since is not overwritten.
 *
 * @throws WindrowError `store-unavailable` where the system refuses
 */
export function writeFiles(folder: string, files: readonly PlannedFile[]): void {
  let path = folder;
  try {
    makeFolders(folder);
    for (const { name, action, text } of files) {
      path = join(folder, name);
      if (text !== undefined) writeFileSync(path, text, { flag: action === "written" ? "wx" : "w" });
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${path} cannot be written: ${reason}. Make the folder writable, or name another one.`;
    throw new WindrowError("store-unavailable", message, { path }, { cause: error });
  }
}

async function storeOf(folder: string): Promise<string> {
  const { settings } = await loadConfig({ folder, environment: {} });
  return settings.store ?? "./contexts";
}

function templateText({ folder, isTypeScript }: Project, { host, provider }: ChosenHost): string {
  const root = dirname(createRequire(import.meta.url).resolve("windrow/package.json"));
  const text = readFileSync(join(root, "templates", `${host.template}.${isTypeScript ? "ts" : "mjs"}`), "utf8");
  const changed = (provider?.changes ?? []).reduce((before, [from, to]) => before.replaceAll(from, to), text);
  return isTypeScript && missingNodeTypes(folder) !== undefined
    ? `/// <reference types="node" />\n${changed}`
    : changed;
}

function ignoreFile(folder: string, store: string): readonly PlannedFile[] {
  const name = ".gitignore";
  const line = ignoreLine(folder, store);
  if (line === undefined) return [];
  const path = join(folder, name);
  if (!existsSync(path)) return [{ name, action: "written", text: `${line}\n`, about: line }];
  const before = readFileSync(path, "utf8");
  const bare = (text: string): string => text.trim().replace(/^\//, "").replace(/\/$/, "");
  if (before.split("\n").some((one) => bare(one) === bare(line))) {
    return [{ name, action: "kept", about: `has ${line} already` }];
  }
  const text = `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${line}\n`;
  return [{ name, action: "extended", text, about: `by ${line}` }];
}
