/** The ranking of messages, computed anew from all of them, to compare an index with. */
import { termsOf } from "../kit/inside/window.ts";

/** A message of the log. */
export interface Said {
  readonly session: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly seq: number;
  readonly text: string;
}

/** What BM25 with shares of neighbours answers, among the messages that `sees` lets through: `session seq score`. */
export function bruteForce(log: readonly Said[], query: string, sees: (said: Said) => boolean): readonly string[] {
  const seen = log.filter(sees).map((said) => ({ ...said, terms: termsOf(said.text), own: 0, score: 0 }));
  const average = Math.max(1, seen.reduce((sum, { terms }) => sum + terms.length, 0) / Math.max(1, seen.length));
  for (const term of new Set(termsOf(query))) {
    const holding = seen.filter(({ terms }) => terms.includes(term)).length;
    const rarity = Math.log(1 + (seen.length - holding + 0.5) / (holding + 0.5));
    for (const said of seen) {
      const count = Math.min(255, said.terms.filter((one) => one === term).length);
      said.own += (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * said.terms.length) / average));
    }
  }
  for (const session of new Set(seen.map((said) => said.session))) {
    const messages = seen.filter((said) => said.session === session).toSorted((left, right) => left.seq - right.seq);
    messages.forEach((said, at) => {
      said.score = said.own;
      for (const [distance, share] of [0.5, 0.3, 0.2].entries()) {
        said.score += share * ((messages[at - distance - 1]?.own ?? 0) + (messages[at + distance + 1]?.own ?? 0));
      }
    });
  }
  return seen.filter(({ score }) => score > 0).map(({ session, seq, score }) => scoreLine(session, seq, score));
}

/** A hit with its score, rounded so that the order of sums does not matter. */
export function scoreLine(session: string, seq: number, score: number): string {
  return `${session} ${seq} ${score.toPrecision(9)}`;
}
