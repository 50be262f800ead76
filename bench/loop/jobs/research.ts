/** Research and bookkeeping: figures and their corrections inside long paragraphs, questions in groups, then a table. */
import { Dice } from "./dice.ts";
import { Fact, Schedule, Scorer } from "./job.ts";
import type { Call, Change, Job, Planned, Turn } from "./job.ts";
import { gather, lineWith, unknown } from "./need.ts";
import type { Need } from "./need.ts";
import type { View } from "./view.ts";

const kinds = [
  ["yield", "mill", "percent"],
  ["depth", "shaft", "metres"],
  ["price", "lease", "crowns"],
  ["output", "kiln", "tons"],
  ["length", "weir", "feet"],
] as const;

/** A job of research with about `size` calls. */
export function research(seed: number, size: number): Job {
  return new Research(new Dice("research", seed), size);
}

class Research implements Job {
  readonly system =
    "You read documents, answer questions from them, and keep a table. A later document corrects an earlier one.";
  readonly tools = [
    { name: "open", description: "A document", args: ["document"] },
    {
      name: "write_row",
      description: "Writes the answer that was given to a question into the table",
      args: ["question", "answer"],
    },
  ];
  readonly score = new Scorer();
  readonly #dice: Dice;
  readonly #schedule = new Schedule();
  readonly #documents = new Map<string, string>();
  readonly #known: Fact[] = [];
  readonly #units = new Map<Fact, string>();
  /** Each question's fact. */
  readonly #asked = new Map<string, Fact>();
  /** The answer that was given to each question. */
  readonly #given = new Map<string, Fact>();

  constructor(dice: Dice, size: number) {
    this.#dice = dice;
    this.#plan(size);
  }

  next(answer: string): string | undefined {
    for (const [, question = "", value = ""] of answer.matchAll(/^(Q\d+): .* is (\S+(?: [a-z]+)?)\.$/gm)) {
      const fact = this.#asked.get(question);
      if (!fact || this.#given.has(question)) continue;
      this.score.action([fact, value]);
      this.#given.set(question, new Fact(`the answer to ${question}`, value));
    }
    return this.#schedule.next();
  }

  run({ tool, args }: Call): string {
    if (tool === "open") return this.#documents.get(String(args["document"])) ?? "There is no such document.";
    const given = this.#given.get(String(args["question"]));
    if (given) this.score.action([given, args["answer"]]);
    return `Row ${args["question"]} is written.`;
  }

  *turn(message: string, start: View): Turn {
    const documents = [...message.matchAll(/\bD-\d+\b/g)];
    for (const [document] of documents) yield { calls: [{ tool: "open", args: { document } }] };
    if (documents.length > 0) return { say: "I have read this." };
    if (message.startsWith("Write")) {
      const questions = [...message.matchAll(/Q\d+/g)].map(([question]) => question);
      const { values } = yield* gather(start, questions.map(answerNeed));
      const rows = questions.map((question, at) => ({ question, answer: values[at] ?? unknown }));
      yield { calls: rows.map((args) => ({ tool: "write_row", args })) };
      return { say: "The rows are written." };
    }
    const questions = [...message.matchAll(/^(Q\d+): what is (.+)\?$/gm)];
    if (questions.length === 0) return { say: "I have taken note of it." };
    const { values } = yield* gather(
      start,
      questions.map(([, , subject = ""]) => figureNeed(subject)),
    );
    return {
      say: questions
        .map(([, question, subject], at) => `${question}: ${subject} is ${values[at] ?? unknown}.`)
        .join("\n"),
    };
  }

  #plan(size: number): void {
    const dice = this.#dice;
    this.#schedule.add({
      message:
        "I have documents about an old works. Read those I name; then I ask questions, and at the end you write your " +
        "answers into a table.",
    });
    let calls = 1;
    let rows = 0;
    while (calls + (2 * rows) / 6 < size) {
      const kind = dice.below(8);
      const open = this.#known.filter((fact) => ![...this.#asked.values()].includes(fact));
      if (kind < 4 || open.length < 12) {
        const names = Array.from({ length: dice.between(1, 3) }, () => this.#document());
        this.#schedule.add({
          message: `Please read ${names.map(({ name }) => name).join(" and ")}. ${dice.prose(1)}`,
          begin: () => names.forEach(({ begin }) => begin()),
        });
        calls += names.length + 1;
      } else if (kind < 5) {
        this.#schedule.add(this.#word(dice.pick(open)));
        calls++;
      } else {
        const asked = dice.shuffled(open).slice(0, dice.between(3, 6));
        const lines = asked.map((fact) => {
          const question = `Q${this.#asked.size + 1}`;
          this.#asked.set(question, fact);
          return `${question}: what is ${fact.name}?`;
        });
        this.#schedule.add({ message: `Some questions.\n${lines.join("\n")}` });
        calls++;
        rows += asked.length;
      }
    }
    const questions = [...this.#asked.keys()];
    while (questions.length > 0) {
      this.#schedule.add({
        message: `Write the answers you gave to ${questions.splice(0, 6).join(", ")} into the table.`,
      });
    }
  }

  /** A document with new figures and corrections of known ones. */
  #document(): { readonly name: string; readonly begin: () => void } {
    const dice = this.#dice;
    const changes: (() => void)[] = [];
    const paragraphs = Array.from({ length: dice.between(4, 7) }, () => {
      const sentences = Array.from({ length: dice.between(3, 6) }, () => dice.prose(1));
      const open = this.#known.filter((fact) => ![...this.#asked.values()].includes(fact));
      const said = dice.below(4);
      if (said === 0 && open.length > 0) {
        const fact = dice.pick(open);
        const { before, value, begin } = this.#change(fact);
        changes.push(begin);
        const correction = dice.pick([
          `Contrary to what is said elsewhere, ${fact.name} is not ${before} but ${value}.`,
          `It has to be added that ${fact.name} was measured again and is now put at ${value}.`,
        ]);
        sentences.splice(dice.below(sentences.length), 0, correction);
      } else if (said < 3) {
        const fact = this.#figure();
        const sentence = dice.pick([
          `As the books have it, ${fact.name} is ${fact.value}.`,
          `In that year ${fact.name} came to ${fact.value}, which surprised nobody.`,
          `We know from a letter that ${fact.name} was ${fact.value}, give or take a little.`,
        ]);
        sentences.splice(dice.below(sentences.length), 0, sentence);
      }
      return sentences.join(" ");
    });
    const name = `D-${this.#documents.size + 1}`;
    this.#documents.set(name, `Document ${name}: ${dice.name()} and ${dice.name()}\n\n${paragraphs.join("\n\n")}`);
    return { name, begin: () => changes.forEach((change) => change()) };
  }

  #figure(): Fact {
    const dice = this.#dice;
    const [measure, thing, unit] = dice.pick(kinds);
    const fact = new Fact(
      `the ${measure} of the ${dice.name()} ${thing}`,
      `${dice.digits(2)}.${dice.between(1, 9)} ${unit}`,
    );
    this.#units.set(fact, unit);
    this.#known.push(fact);
    return fact;
  }

  /** Plans another value of a fact. */
  #change(fact: Fact): Change & { readonly value: string } {
    const value = `${this.#dice.digits(2)}.${this.#dice.between(1, 9)} ${this.#units.get(fact)}`;
    return { value, ...this.#schedule.change(fact, value) };
  }

  /** A correction by the user. */
  #word(fact: Fact): Planned {
    const { before, value, begin } = this.#change(fact);
    const message = `${this.#dice.prose(1)} I have looked it up myself: ${fact.name} is not ${before} but ${value}. ${this.#dice.prose(1)}`;
    return { message, begin };
  }
}

const figure = String.raw`(\d+\.\d [a-z]+)(?=[.,])`;

function figureNeed(subject: string): Need {
  // Each mill, shaft or weir has a name of its own, which says enough where the line before it is cut off.
  const name = subject.split(" ").slice(-2).join(" ");
  const patterns = [
    new RegExp(String.raw`${name} was measured again and is now put at ${figure}`),
    new RegExp(String.raw`${name} is not \S+ [a-z]+ but ${figure}`),
    new RegExp(String.raw`${name} (?:is|was|came to) ${figure}`),
  ];
  return { key: subject, queries: [`${subject} is`, subject], read: (statement) => lineWith(statement, patterns) };
}

/** The answer that the agent itself gave to a question. */
function answerNeed(question: string): Need {
  const pattern = new RegExp(String.raw`^${question}: .* is (\S+(?: [a-z]+)?)\.$`);
  return {
    key: `the answer to ${question}`,
    queries: [`${question}: the answer is`, question],
    read: (statement) => (statement.who === "user" ? undefined : lineWith(statement, [pattern])),
  };
}
