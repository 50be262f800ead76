/** Holdings: what a log holds, in a line, for an answer that found nothing. */
import { recallId } from "../stub/stub.ts";
import type { RecallDocument } from "./document.ts";

/** Tools that are counted, subjects of each that are named, tools that are named. */
const mostTools = 256;
const mostSubjects = 3;
const namedTools = 8;

/** Characters of a subject that are named. */
const subjectLength = 40;

/** Counts the documents of a log by tool or speaker, with the newest subjects of each. */
export class Holdings {
  readonly #tools = new Map<string, { count: number; subjects: string[] }>();
  #first = 0;
  #last = 0;

  /** Takes note of a message's documents. */
  note(documents: readonly RecallDocument[]): void {
    for (const { seq, label, isCall } of documents) {
      this.#first ||= seq;
      this.#last = seq;
      if (isCall === true) continue;
      const [tool = "", ...words] = label.split(" ");
      let known = this.#tools.get(tool);
      if (!known && this.#tools.size >= mostTools) continue;
      if (!known) this.#tools.set(tool, (known = { count: 0, subjects: [] }));
      known.count++;
      const subject = words.join(" ").slice(0, subjectLength).toWellFormed();
      if (subject === "" || known.subjects.at(-1) === subject) continue;
      known.subjects = [...known.subjects.filter((one) => one !== subject), subject].slice(-mostSubjects);
    }
  }

  /** The tools by how often they answered, each with as many of its newest subjects as are asked for. */
  describe(most: number): string {
    if (this.#last === 0) return "The log holds nothing there";
    const tools = [...this.#tools].sort(([, left], [, right]) => right.count - left.count).slice(0, namedTools);
    const named = tools.map(([tool, { count, subjects: known }]) => {
      const subjects = most === 0 ? [] : known.slice(-most);
      const about =
        subjects.length === 0 ? "" : `; ${subjects.toReversed().join(", ")}${count > subjects.length ? ", …" : ""}`;
      return `${tool} (${count}${about})`;
    });
    return `The log holds ${recallId(this.#first, this.#last)}: ${named.join(", ")}`;
  }
}
