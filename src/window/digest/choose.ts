/** The choice of lines: greedy by value per token, so that what later calls look back for stays, and in passages. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { errorWords } from "../excerpt.ts";
import type { DigestLine } from "../window.ts";
import { Heap } from "./heap.ts";

/** What the choice is made under. */
export interface ChoiceOptions {
  /** Tokens the chosen lines may use together. */
  readonly room: number;
  readonly counter: TokenCounter;
  /** How recent a message is, 0 to 1. */
  readonly recency: (seq: number) => number;
  /** How much calls have to do with a subject, from 0. */
  readonly heat: (subject: string) => number;
  /** Words that stand in the window already. */
  readonly shown: ReadonlySet<string>;
}

const base: Readonly<Record<DigestLine["kind"], number>> = { user: 3, error: 2, written: 1.2, result: 1, said: 0.35 };

/** The words of a text that can be looked back for. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_$.@/-]{3,}/gu) ?? [];
}

interface Candidate {
  readonly line: DigestLine;
  readonly tokens: number;
  readonly words: readonly string[];
  /** What a line of its kind is worth beside others. */
  readonly weight: number;
  value: number;
  chosen: boolean;
}

/** The lines worth most for their tokens, in the order of their messages. */
export function chooseLines(lines: readonly DigestLine[], options: ChoiceOptions): readonly DigestLine[] {
  const { counter, recency, heat } = options;
  const shown = new Set(options.shown);
  const candidates = lines.map((line): Candidate => {
    const words = [...new Set(wordsOf(line.text))];
    const failure = line.kind === "result" && errorWords.test(line.text);
    const weight = failure ? base.error : base[line.kind];
    return { line, tokens: counter.count(line.text) + 1, words, weight, value: 0, chosen: false };
  });
  const places = new Map(candidates.map((candidate) => [placeOf(candidate.line, 0), candidate]));
  const beside = ({ line }: Candidate): readonly (Candidate | undefined)[] => [
    places.get(placeOf(line, -1)),
    places.get(placeOf(line, 1)),
  ];
  const density = (candidate: Candidate): number => {
    const { line, tokens, words, weight } = candidate;
    const fresh = words.filter((word) => !shown.has(word)).length;
    const information = 0.15 * Math.min(tokens, 40) + fresh;
    const neighbours = beside(candidate).filter((one) => one?.chosen).length;
    const gaps = 2 - neighbours;
    const worth = weight * information * recency(line.seq) * (1 + heat(line.subject)) * (1 + 0.5 * neighbours);
    return worth / (tokens + 1.5 * gaps);
  };
  const heap = new Heap<Candidate>();
  for (const candidate of candidates) {
    candidate.value = density(candidate);
    if (candidate.words.length > 0) heap.push(candidate, candidate.value);
  }
  let left = options.room;
  for (let candidate = heap.pop(); candidate && left > 4; candidate = heap.pop()) {
    if (candidate.chosen) continue;
    const now = density(candidate);
    // Others that were chosen meanwhile may have shown what this one would have: then it waits its turn again.
    if (now < candidate.value * 0.98) {
      candidate.value = now;
      heap.push(candidate, candidate.value);
      continue;
    }
    const neighbours = beside(candidate);
    const cost = candidate.tokens + 1.5 * (2 - neighbours.filter((one) => one?.chosen).length);
    if (cost > left) continue;
    candidate.chosen = true;
    left -= cost;
    for (const word of candidate.words) shown.add(word);
    for (const neighbour of neighbours) {
      if (!neighbour || neighbour.chosen) continue;
      neighbour.value = density(neighbour);
      heap.push(neighbour, neighbour.value);
    }
  }
  return candidates.filter(({ chosen }) => chosen).map(({ line }) => line);
}

function placeOf(line: DigestLine, offset: number): string {
  return `${line.seq}/${line.kind}/${line.subject}/${line.at + offset}`;
}
