/** Requests: lines of the user's that the agent carried out. They tell less of what counts from then on than others. */
import type { JsonValue } from "../../message/message.ts";
import { worthOf, wordsOf } from "./texts.ts";
import type { Line } from "./line.ts";

const rule =
  /\b(?:never|always|must(?:n't)?|don'?t|do not|only|should(?:n't)?|avoid|make sure|ensure|from now on|instead|prefer|remember|use|keep|ask|stop|no longer|not|rule)\b|絶対|必ず|禁止|ないで|しないこと|してください|だけ|まで|不要|必须|务必|不得|不准|别|请勿|只能|总是/iu;

/** Whether a line of the user's may lay down something for good. */
export function isRule(text: string): boolean {
  return rule.test(text);
}

/** Follows which of the user's lines were carried out, turn by turn. */
export class Requests {
  #asked: readonly Line[] = [];
  readonly #given = new Set<string>();
  readonly #done = new WeakSet<Line>();

  /** The user wrote lines: a turn begins. */
  ask(lines: readonly Line[]): void {
    this.#asked = lines;
    this.#given.clear();
  }

  /** The agent made a call. */
  act(args: JsonValue): void {
    for (const name of namesIn(JSON.stringify(args))) this.#given.add(name);
  }

  /**
   * The agent answered without a further call. A line was carried out where the turn's calls have every name and number
   * that it has; a question, where the answer has them. Lines that name nothing go with those that do; rules stay.
   */
  end(answer: string): void {
    const answered = new Set([...this.#given, ...namesIn(answer)]);
    const requests = this.#asked.filter(({ text }) => !isRule(text));
    const named = requests.map((line) => ({ line, names: namesIn(line.text) }));
    const isDone = ({ line, names }: (typeof named)[number]): boolean => {
      const given = question.test(line.text) ? answered : this.#given;
      return names.every((name) => given.has(name));
    };
    const done = named.filter((one) => one.names.length > 0 && isDone(one));
    const isWhole = done.length > 0 && named.every(isDone);
    for (const { line } of isWhole ? named : done) this.#done.add(line);
    this.ask([]);
  }

  /** Whether a line of the user's was carried out. */
  has(line: Line): boolean {
    return this.#done.has(line);
  }
}

const question = /[?？]["')\]]*\s*$/;

/** Names and numbers, those too that are short. */
function namesIn(text: string): readonly string[] {
  const names = wordsOf(text)
    .map((word) => word.replace(/^[./-]+|[./-]+$/g, ""))
    .filter((word) => worthOf(word) >= 1);
  return [...names, ...(text.match(/(?<![\p{L}\p{N}])\p{L}?\d+(?![\p{L}\p{N}])/gu) ?? [])];
}
