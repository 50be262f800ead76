/** Refactor: renames, new limits and guards by exact edits, and limits put back as they were before. */
import { Dice } from "../dice.ts";
import { Fact, Scorer } from "../job.ts";
import type { Call, Job, Turn } from "../job.ts";
import type { View } from "../view.ts";
import { change } from "./agent.ts";
import { Project } from "./project.ts";
import type { ProjectFunction } from "./project.ts";

/** A change that was asked for. */
interface Change {
  readonly name: string;
  /** Says after the turn whether it was made. */
  readonly isMade: () => boolean;
}

interface Planned {
  readonly message: string;
  /** Says before the turn which changes are asked for. */
  readonly changes: () => readonly Change[];
}

/** A job of refactoring with about `size` calls. */
export function refactor(seed: number, size: number): Job {
  return new Refactor(new Dice("refactor", seed), size);
}

class Refactor implements Job {
  readonly system = "You change a project as you are asked to. An edit needs the exact text that the file has now.";
  readonly tools = [
    { name: "grep", description: "The lines with a text, of files whose path begins so", args: ["pattern", "path"] },
    { name: "read", description: "A file with line numbers", args: ["path"] },
    { name: "edit", description: "Replaces a text that stands once in a file", args: ["path", "old", "new"] },
    { name: "run_tests", description: "Runs all tests", args: [] },
  ];
  readonly score = new Scorer();
  readonly #project: Project;
  readonly #dice: Dice;
  readonly #turns: Planned[] = [];
  #asked: readonly Change[] = [];
  #next = 0;

  constructor(dice: Dice, size: number) {
    this.#dice = dice;
    this.#project = new Project(dice, 9, 8);
    this.#plan(size);
  }

  next(): string | undefined {
    for (const { name, isMade } of this.#asked)
      this.score.action([new Fact(name, "made"), isMade() ? "made" : "missing"]);
    const turn = this.#turns[this.#next++];
    this.#asked = turn?.changes() ?? [];
    return turn?.message;
  }

  run(call: Call): string {
    const { tool, args } = call;
    const [path, before] = [String(args["path"]), String(args["old"])];
    if (tool === "edit" && this.#project.wasOnce(path, before)) {
      const text = new Fact(`text of ${path}`, before);
      text.value = "another text";
      this.score.action([text, before]);
    }
    return this.#project.run(call);
  }

  turn(message: string, view: View): Turn {
    return change(message, view);
  }

  #plan(size: number): void {
    const dice = this.#dice;
    this.#turns.push({
      message: "We tidy up this project together, one task after the other. Change nothing that I do not ask for.",
      changes: () => [],
    });
    const names = new Map(this.#project.functions.map((one) => [one, one.name]));
    const paths = dice.shuffled(this.#project.paths);
    const untouched = dice.shuffled(this.#project.functions);
    let calls = 1;
    for (let round = 0; calls < size; round++) {
      const path = paths[round % paths.length] as string;
      const limit = dice.digits(4);
      // A function keeps its name until its limit is put back.
      const others = this.#project.functions.filter((one) => one.path !== path);
      calls += this.#limits(path, limit);
      for (let turn = 0; turn < 2; turn++) calls += this.#rename(dice.pick(others), names);
      for (let turn = 0; turn < 2 && untouched.length > 0; turn++)
        calls += this.#guard(untouched.pop() as ProjectFunction, names);
      this.#turns.push(this.#restoring(path, limit));
      calls += 11;
    }
  }

  #rename(one: ProjectFunction, names: Map<ProjectFunction, string>): number {
    const before = names.get(one) ?? one.name;
    const after = this.#dice.word() + this.#dice.name();
    names.set(one, after);
    const count = this.#project.paths
      .flatMap((path) => this.#project.lines(path))
      .filter((line) => line.includes(one.name)).length;
    this.#turns.push({
      message: `Rename ${before} to ${after} everywhere, then run the tests. ${this.#dice.prose(1)}`,
      changes: () => {
        const word = new RegExp(String.raw`\b${before}\b`, "g");
        return this.#project.paths.flatMap((path) =>
          this.#project
            .lines(path)
            .filter((line) => line.includes(before))
            .map((line) => this.#has(path, line.replaceAll(word, after))),
        );
      },
    });
    return count + 4;
  }

  #limits(path: string, limit: number): number {
    const wanted = `limit = ${limit}`;
    this.#turns.push({
      message: `Set every default limit in ${path} to ${limit}. ${this.#dice.prose(1)}`,
      changes: () => this.#limitLines(path).map((line) => this.#has(path, line.replace(/limit = \d+/, wanted))),
    });
    return 11;
  }

  #restoring(path: string, limit: number): Planned {
    let before: readonly string[] = [];
    const first = this.#turns.findLast(({ message }) => message.includes(`limit in ${path} to ${limit}`)) as Planned;
    this.#turns[this.#turns.indexOf(first)] = {
      ...first,
      changes: () => {
        before = this.#limitLines(path).map((line) => /limit = \d+/.exec(line)?.[0] ?? "");
        return first.changes();
      },
    };
    return {
      message: `Put the default limits in ${path} back to what they were before I had you set them to ${limit}.`,
      changes: () =>
        this.#limitLines(path).map((line, at) => this.#has(path, line.replace(/limit = \d+/, before[at] ?? ""))),
    };
  }

  #guard(one: ProjectFunction, names: ReadonlyMap<ProjectFunction, string>): number {
    const name = names.get(one) ?? one.name;
    this.#turns.push({
      message: `The function ${name} of ${one.path} skips an item whose weight is above its bound. It shall skip one that is equal to it as well.`,
      changes: () => [
        {
          name: `the guard of ${name}`,
          isMade: () => {
            const lines = this.#project.lines(one.path);
            const at = lines.findIndex((line) => line.includes(`export function ${name}(`));
            return lines[at + 3]?.includes(">=") === true;
          },
        },
      ],
    });
    return 3;
  }

  #limitLines(path: string): readonly string[] {
    return this.#project.lines(path).filter((line) => /export function .*limit = \d+/.test(line));
  }

  #has(path: string, line: string): Change {
    return { name: `${path}: ${line.trim()}`, isMade: () => this.#project.lines(path).includes(line) };
  }
}
