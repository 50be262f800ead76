/** The tools of the demo's agent. They are real: each works on the files of one folder and answers with text. */
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { JsonObject } from "../../src/message/message.ts";

/** What a tool answered. */
export interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

/** Most lines that `grep` answers with. */
const mostHits = 120;
/** Most characters of one answer; what is longer keeps its head and its tail. */
const longestAnswer = 24_000;

type Tool = (args: Readonly<Record<string, string | number>>, signal: AbortSignal) => Promise<string>;

/** The tools over one folder. A tool that throws answers with its message, marked as an error. */
export class Tools {
  readonly #root: string;
  readonly #tools: Readonly<Record<string, Tool>>;

  constructor(root: string) {
    this.#root = root;
    this.#tools = {
      list: ({ path = "." }) => this.#list(String(path)),
      read: ({ path = "", offset = 1, limit = 150 }) => this.#read(String(path), Number(offset), Number(limit)),
      grep: ({ pattern = "", path = "." }) => this.#grep(new RegExp(String(pattern)), String(path)),
      edit: ({ path = "", oldText = "", newText = "" }) => this.#edit(String(path), String(oldText), String(newText)),
      write: ({ path = "", content = "" }) => this.#write(String(path), String(content)),
      bash: ({ command = "" }, signal) => this.#bash(String(command), signal),
    };
  }

  /** Runs one call. Rejects only when it was aborted. */
  async run(name: string, args: JsonObject, signal: AbortSignal): Promise<Answer> {
    const tool = this.#tools[name];
    try {
      if (!tool) throw new Error(`There is no tool ${name}.`);
      const text = await tool(args as Readonly<Record<string, string | number>>, signal);
      return { text: this.#clean(text), isError: false };
    } catch (error) {
      if (signal.aborted) throw error;
      return { text: this.#clean(error instanceof Error ? error.message : String(error)), isError: true };
    }
  }

  /** What differs from run to run and from machine to machine is no part of a recording. */
  #clean(text: string): string {
    const plain = text
      .replaceAll(`file://${this.#root}`, ".")
      .replaceAll(this.#root, ".")
      .replaceAll(/(duration_ms:? )[\d.]+/g, "$10")
      .replaceAll(/\([\d.]+ms\)/g, "(0ms)");
    if (plain.length <= longestAnswer) return plain;
    const half = longestAnswer / 2;
    return `${plain.slice(0, half)}\n[… ${plain.length - longestAnswer} characters …]\n${plain.slice(-half)}`;
  }

  #inside(path: string): string {
    const full = resolve(this.#root, path);
    if (relative(this.#root, full).startsWith("..")) throw new Error(`${path} is outside of the project.`);
    return full;
  }

  async #files(path: string): Promise<readonly string[]> {
    const entries = await readdir(this.#inside(path), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map((entry) => relative(this.#root, join(entry.parentPath, entry.name))).toSorted();
  }

  async #list(path: string): Promise<string> {
    return (await this.#files(path)).join("\n");
  }

  async #read(path: string, offset: number, limit: number): Promise<string> {
    const lines = (await readFile(this.#inside(path), "utf8")).trimEnd().split("\n");
    const shown = lines.slice(offset - 1, offset - 1 + limit);
    const numbered = shown.map((line, index) => `${String(offset + index).padStart(4)}\t${line}`);
    const left = lines.length - (offset - 1 + shown.length);
    return [...numbered, ...(left > 0 ? [`[${left} more lines]`] : [])].join("\n");
  }

  async #grep(pattern: RegExp, path: string): Promise<string> {
    const hits: string[] = [];
    for (const file of await this.#files(path)) {
      const lines = (await readFile(join(this.#root, file), "utf8")).split("\n");
      lines.forEach((line, index) => {
        if (pattern.test(line)) hits.push(`${file}:${index + 1}:${line}`);
      });
    }
    if (hits.length === 0) return "no matches";
    const more = hits.length > mostHits ? [`[${hits.length - mostHits} more matches]`] : [];
    return [...hits.slice(0, mostHits), ...more].join("\n");
  }

  async #edit(path: string, oldText: string, newText: string): Promise<string> {
    const before = await readFile(this.#inside(path), "utf8");
    const places = before.split(oldText).length - 1;
    if (places !== 1)
      throw new Error(`oldText stands ${places} times in ${path}; it must stand there once. Nothing was changed.`);
    const at = before.indexOf(oldText);
    await writeFile(this.#inside(path), before.slice(0, at) + newText + before.slice(at + oldText.length));
    return `Edited ${path} at line ${before.slice(0, at).split("\n").length}.`;
  }

  async #write(path: string, content: string): Promise<string> {
    await mkdir(dirname(this.#inside(path)), { recursive: true });
    await writeFile(this.#inside(path), content);
    return `Wrote ${path}, ${content.trimEnd().split("\n").length} lines.`;
  }

  #bash(command: string, signal: AbortSignal): Promise<string> {
    const env = { PATH: process.env["PATH"] ?? "", HOME: this.#root, NO_COLOR: "1", LC_ALL: "C", TZ: "UTC" };
    return new Promise((done, fail) => {
      const child = spawn("bash", ["-c", command], { cwd: this.#root, env, signal, stdio: ["ignore", "pipe", "pipe"] });
      let output = "";
      const take = (chunk: Buffer): void => void (output += chunk.toString("utf8"));
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.on("error", fail);
      child.on("close", (status) => {
        if (status === 0) done(output.trimEnd());
        else fail(new Error(`${output.trimEnd()}\nexit status ${String(status)}`));
      });
    });
  }
}
