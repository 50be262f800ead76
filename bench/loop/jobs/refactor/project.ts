/** A project of source files in memory, with the tools of a coding agent: grep, read, edit, and its tests. */
import type { Dice } from "../dice.ts";
import type { Call } from "../job.ts";

/** A function of the project. */
export interface ProjectFunction {
  readonly name: string;
  readonly path: string;
  /** The name of the variable that its guard compares with. */
  readonly bound: string;
}

/** Lines of context that an edit's result shows before and after the change. */
const context = 5;

/** Files of made-up code. */
export class Project {
  readonly functions: readonly ProjectFunction[];
  readonly #files = new Map<string, string[]>();
  /** Every line that a file ever had. */
  readonly #ever = new Map<string, Set<string>>();
  readonly #dice: Dice;

  constructor(dice: Dice, files: number, functionsEach: number) {
    this.#dice = dice;
    const folders = ["core", "net", "store"];
    const paths = Array.from({ length: files }, (_, at) => `src/${folders[at % folders.length]}/${dice.word()}.ts`);
    this.functions = paths.flatMap((path) => {
      const bound = dice.word();
      return Array.from({ length: functionsEach }, () => ({ name: dice.word() + dice.name(), path, bound }));
    });
    for (const path of paths) this.#files.set(path, this.#code(path));
    for (const [path, lines] of this.#files) this.#ever.set(path, new Set(lines));
  }

  /** The paths of all files. */
  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** The lines of a file as they are. */
  lines(path: string): readonly string[] {
    return this.#files.get(path) ?? [];
  }

  /** Whether a file once had all lines of a text, and has it no more. */
  wasOnce(path: string, text: string): boolean {
    const ever = this.#ever.get(path);
    return text.split("\n").every((line) => ever?.has(line)) && !this.lines(path).join("\n").includes(text);
  }

  /** Runs one of the tools. */
  run({ tool, args }: Call): string {
    const path = String(args["path"] ?? "");
    if (tool === "grep") return this.#grep(String(args["pattern"]), path);
    if (tool === "run_tests") return this.#tests();
    if (!this.#files.has(path)) return `There is no file ${path}.`;
    if (tool === "read") return numbered(this.lines(path), 0);
    return this.#edit(path, String(args["old"]), String(args["new"]));
  }

  #grep(pattern: string, under: string): string {
    const hits = this.paths
      .filter((path) => path.startsWith(under))
      .flatMap((path) =>
        this.lines(path).flatMap((line, at) => (line.includes(pattern) ? [`${path}:${at + 1}:${line}`] : [])),
      );
    return hits.length === 0 ? "No matches." : hits.join("\n");
  }

  #edit(path: string, before: string, after: string): string {
    const text = this.lines(path).join("\n");
    const places = text.split(before).length - 1;
    if (places === 0) return `Error: the old text was not found in ${path}.`;
    if (places > 1) return `Error: the old text stands ${places} times in ${path}; give more of the lines around it.`;
    const lines = text.replace(before, () => after).split("\n");
    this.#files.set(path, lines);
    for (const line of lines) this.#ever.get(path)?.add(line);
    const at = text.slice(0, text.indexOf(before)).split("\n").length - 1;
    const first = Math.max(0, at - context);
    const shown = lines.slice(first, at + after.split("\n").length + context);
    return `Edited ${path}:\n${numbered(shown, first)}`;
  }

  #tests(): string {
    const dice = this.#dice;
    const lines = this.paths.flatMap((path) =>
      Array.from(
        { length: 3 },
        () => `  ok ${path.replace(".ts", ".test.ts")} > ${dice.word()} ${dice.word()} (${dice.digits(2)} ms)`,
      ),
    );
    return `${lines.join("\n")}\n\n${lines.length} passed, 0 failed in ${dice.digits(4)} ms`;
  }

  #code(path: string): string[] {
    const dice = this.#dice;
    const own = this.functions.filter((one) => one.path === path);
    const others = this.functions.filter((one) => one.path !== path);
    const lines = [
      `/** ${dice.prose(1)} */`,
      `import type { Batch } from "../core/batch.ts";`,
      `import { report } from "../core/report.ts";`,
      "",
      `const ${own[0]?.bound} = ${dice.digits(3)};`,
    ];
    for (const { name, bound } of own) {
      const [total, used] = [dice.word(), dice.pick(others)];
      lines.push(
        "",
        `/** ${dice.prose(1)} */`,
        `export function ${name}(input: Batch, limit = ${dice.digits(2)}): number {`,
        "  let total = 0;",
        "  for (const item of input.items) {",
        `    if (item.weight > ${bound}) continue;`,
        `    const ${total} = ${used.name}(item.parts, ${dice.digits(2)});`,
        `    total += ${total} * ${dice.digits(2)};`,
        "  }",
        `  report("${name}", total);`,
        "  return Math.min(limit, total);",
        "}",
      );
    }
    return lines;
  }
}

function numbered(lines: readonly string[], before: number): string {
  return lines.map((line, at) => `${String(before + at + 1).padStart(6)}\t${line}`).join("\n");
}
