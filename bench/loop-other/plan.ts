/** A job of the second bench: turns that are planned from a seed, and a score of what the agent did. */
import type { Action, Job, Mistake } from "../loop/jobs/job.ts";
import type { LoopJob } from "../loop/loop.ts";
import { Hand, unknown } from "./hand.ts";
import type { Call, Reading, Script } from "./hand.ts";
import type { Sight } from "./sight.ts";

/** A fact of the world with all values that it had. */
export class Fact {
  readonly name: string;
  readonly #values: string[];
  readonly #planned: string[];

  constructor(name: string, value: string | number) {
    this.name = name;
    this.#values = [String(value)];
    this.#planned = [...this.#values];
  }

  get now(): string {
    return this.#values.at(-1) as string;
  }

  get before(): readonly string[] {
    return this.#values.slice(0, -1);
  }

  /** All values that are planned so far, the newest last. */
  get planned(): readonly string[] {
    return this.#planned;
  }

  /** Plans a further value, which holds from the moment that the answer is called. */
  plan(value: string | number): () => void {
    this.#planned.push(String(value));
    return () => void this.#values.push(String(value));
  }
}

/** The newest value that is planned for a fact. */
export function plannedOf(fact: Fact): string {
  return fact.planned.at(-1) as string;
}

/** A call that a turn asks for, with the facts that its arguments have to be. */
export interface Check {
  readonly tool: string;
  readonly args: Readonly<Record<string, Fact>>;
  /** What the call changes in the world. */
  readonly effect?: () => void;
}

/** A user's message, and what the agent does about it. */
export interface Turn {
  readonly text: string;
  /** Calls of the model that it takes with a full history. */
  readonly calls: number;
  /** What is different in the world from this message on. */
  readonly before?: () => void;
  readonly checks?: readonly Check[];
  script(hand: Hand): Script<string>;
}

// oxlint-disable-next-line require-yield -- it answers without a call.
function* keepInMind(): Script<string> {
  return "I will keep to that.";
}

/** The turns of a job while they are planned. */
export class Agenda {
  readonly turns: Turn[] = [];

  add(turn: Turn): void {
    this.turns.push(turn);
  }

  /** A turn in which the user says something that is to be kept in mind. */
  tell(text: string, before?: () => void): void {
    this.add({
      text,
      calls: 1,
      ...(before && { before }),
      script: keepInMind,
    });
  }

  /** Plans turns in rounds until the job has its size. */
  fill(size: number, rounds: readonly (() => void)[]): readonly Turn[] {
    for (let at = 0; this.turns.reduce((sum, { calls }) => sum + calls, 0) < size; at++) {
      (rounds[at % rounds.length] as () => void)();
    }
    return this.turns;
  }
}

/** A job as a family plans it. */
export interface Plan {
  readonly system: string;
  /** The tools with the names of their arguments. */
  readonly tools: Readonly<Record<string, readonly [description: string, ...args: string[]]>>;
  readonly turns: readonly Turn[];
  readonly reading: Reading;
  /** The name and the arguments of a call as checks know them; as they are called where it is absent. */
  readonly parts?: (call: Call) => Call;
  /** The result of a call. */
  run(tool: string, args: Readonly<Record<string, string>>): string;
}

/** The job of a plan. */
export function jobOf(plan: Plan): LoopJob<Sight> {
  const { system, tools, turns, reading, parts = (call): Call => call } = plan;
  const mistakes: Mistake[] = [];
  let actions = 0;
  let at = -1;
  let open: Check[] = [];
  const judge = ({ args }: Check, given: Readonly<Record<string, string | number>>): void => {
    for (const [name, fact] of Object.entries(args)) {
      actions++;
      const value = String(given[name] ?? unknown);
      if (value === fact.now) continue;
      mistakes.push({ fact: fact.name, given: value, right: fact.now, isVoid: fact.before.includes(value) });
    }
  };
  return {
    system,
    tools: Object.entries(tools).map(([name, [description, ...args]]) => ({ name, description, args })),
    next: () => {
      for (const check of open) judge(check, {});
      const turn = turns[++at];
      turn?.before?.();
      open = [...(turn?.checks ?? [])];
      return turn?.text;
    },
    *turn(_message: string, sight: Sight): Generator<Action, Action, Sight> {
      return { say: yield* (turns[at] as Turn).script(new Hand(sight, reading)) };
    },
    run: ({ tool, args }: Call) => {
      const called = parts({ tool, args });
      const check = open.find((one) => one.tool === called.tool);
      if (check) {
        open = open.filter((one) => one !== check);
        judge(check, called.args);
        check.effect?.();
      }
      return plan.run(tool, args as Readonly<Record<string, string>>);
    },
    get score(): Job["score"] {
      return { actions, mistakes };
    },
  };
}
