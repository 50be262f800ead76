/** A job: a user's messages, tools over a world in memory, and an agent that decides from what its window says. */
import type { View } from "./view.ts";

/** A call of a tool. */
export interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, string | number>>;
}

/** One answer of the agent's model: words, calls, or both. Without calls it ends the turn. */
export interface Action {
  readonly say?: string;
  readonly calls?: readonly Call[];
}

/** A turn of the agent: each action is one call of its model, and each view is the window of that call. */
export type Turn<Result = Action> = Generator<Action, Result, View>;

/** A tool as the model is told of it. */
export interface JobTool {
  readonly name: string;
  readonly description: string;
  /** The names of its arguments; all are texts. */
  readonly args: readonly string[];
}

/** An action that was not right. */
export interface Mistake {
  /** The fact that decided it. */
  readonly fact: string;
  readonly given: string;
  readonly right: string;
  /** Whether the given value had been right before. */
  readonly isVoid: boolean;
}

/** The actions so far that could be right or wrong, and those that were wrong. */
export interface Score {
  readonly actions: number;
  readonly mistakes: readonly Mistake[];
}

/** A long job with one agent on it. */
export interface Job {
  readonly system: string;
  readonly tools: readonly JobTool[];
  /** The user's next message; undefined when the job is done. `answer` is the agent's last one. */
  next(answer: string): string | undefined;
  /** Runs a tool: its result as text. */
  run(call: Call): string;
  /** The agent's turn on the user's newest message. */
  turn(message: string, view: View): Turn;
  readonly score: Score;
}

/** A fact of a job's world that may change; what it was before is void. */
export class Fact {
  readonly name: string;
  readonly #before = new Set<string>();
  #value: string;

  constructor(name: string, value: string | number) {
    this.name = name;
    this.#value = String(value);
  }

  /** The value that holds. */
  get value(): string {
    return this.#value;
  }

  set value(value: string) {
    this.#before.add(this.#value);
    this.#before.delete(value);
    this.#value = value;
  }

  /** Whether a value held once and does no more. */
  wasOnce(value: string): boolean {
    return this.#before.has(value);
  }
}

/** Counts actions and mistakes. */
export class Scorer implements Score {
  actions = 0;
  readonly mistakes: Mistake[] = [];

  /** Counts one action, which is right when every fact it rests on has the value it was given. */
  action(...facts: readonly (readonly [fact: Fact, given: unknown])[]): boolean {
    this.actions++;
    const wrong = facts.find(([fact, given]) => fact.value !== String(given));
    if (!wrong) return true;
    const [fact, given] = wrong;
    this.mistakes.push({
      fact: fact.name,
      given: String(given),
      right: fact.value,
      isVoid: fact.wasOnce(String(given)),
    });
    return false;
  }
}

/** A message of the user's, written beforehand. */
export interface Planned {
  readonly message: string;
  /** Makes the world as it is once the message is written. */
  readonly begin?: () => void;
}

/** A change of a fact that a message will tell of. */
export interface Change {
  /** The fact's value until then. */
  readonly before: string;
  /** Makes the change. */
  readonly begin: () => void;
}

/** The user's messages, all written before the first one is sent, and what facts will be by then. */
export class Schedule {
  readonly #turns: Planned[] = [];
  readonly #values = new Map<Fact, string>();
  #next = 0;

  /** The number of messages. */
  get length(): number {
    return this.#turns.length;
  }

  add(...turns: readonly Planned[]): void {
    this.#turns.push(...turns);
  }

  /** The next message, with the world as it is from then on; undefined when there is none. */
  next(): string | undefined {
    const turn = this.#turns[this.#next++];
    turn?.begin?.();
    return turn?.message;
  }

  /** The value of a fact once all planned changes are made. */
  expected(fact: Fact): string {
    return this.#values.get(fact) ?? fact.value;
  }

  /** Plans what a fact will be. */
  change(fact: Fact, value: string): Change {
    const before = this.expected(fact);
    this.#values.set(fact, value);
    return { before, begin: () => (fact.value = value) };
  }
}
