/** The choice of lines: greedy by value per token, so that what later calls look back for stays, and in passages. */
import { atOnce } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import { Heap } from "./heap.ts";
import type { Line, Passage } from "./line.ts";
import { isRule } from "./requests.ts";
import { rowsOf } from "./rows.ts";
import type { ChoiceOptions, Row, Rows, Stated, Title } from "./rows.ts";
import type { Statement } from "./statements.ts";
import type { Word } from "./texts.ts";

/** Most lines and tokens between two chosen lines that are shown too: a mark would cost nearly as much. */
const longestFill = 3;
const fillTokens = 16;
const gapTokens = 2;
/** A line that closes what stands before it. */
const closing = /^[\])};,]+$/;

/** Lines that are looked at in one step, and those whose newer ones are looked for. */
const linesPerStep = 512;
const looksPerStep = 32;

/** Lines without room between two looks at whether what is left has room for any. */
const missesPerLook = 1_024;

/**
 * Shares of the room for the user's lines that change what stands, for what was printed later of what stands, and for
 * the user's rules and short messages.
 */
const amendmentShare = 0.5;
const laterShare = 0.1;
const instructionShare = 0.1;
/** Most tokens of a message of the user's that is shown whole; of a longer one, its rules. */
const shortMessage = 160;

/** The choices made so far: what one of them shows bears its number. */
let choices = 0;

/** As {@link choosing}, at once. */
export function lineChooser(
  passages: readonly Passage[],
  options: ChoiceOptions,
): (room: number) => readonly Passage[] {
  const choose = atOnce(choosing(passages, options));
  return (room) => atOnce(choose(room));
}

/**
 * Chooses, for as many tokens as it is given (with what stands around the lines), passages of the lines worth most for
 * theirs, in the order of those they are from.
 */
export function* choosing(
  passages: readonly Passage[],
  options: ChoiceOptions,
): Work<(room: number) => Work<readonly Passage[]>> {
  const given = rowsOf(passages, options);
  yield;
  const first = yield* firstOf(given, options.stated);
  const shownWords = options.shownTexts.flatMap((text) => options.texts.known(text));
  return (room) => choose(given, first, new Choice(given, shownWords, room, first.newerOf));
}

/** The lines that a choice begins with. */
interface FirstChoices {
  /** The user's lines that change a text which stands in the window whatever is chosen, newest first. */
  readonly amendments: readonly Row[];
  /** The newest lines that speak of the same as what stands, the most often named first. */
  readonly later: readonly Row[];
  /** The user's rules, and short messages of the user's whole: newest messages first, rules before the rest. */
  readonly instructions: readonly (readonly Row[])[];
  /** The newest lines that speak of the same as one, which it never stands without. */
  readonly newerOf: (row: Row) => readonly Row[];
}

function* firstOf({ rows, whole, rowOf }: Rows, stated: Stated | undefined): Work<FirstChoices> {
  const newer = (statement: Statement | undefined, least = 0): readonly Row[] => {
    if (!stated || !statement) return [];
    return stated.statements.newerOf(statement).flatMap((one) => {
      const counts = one.isNamed || one.seq > least || one.statement.file === statement.file;
      return counts ? (rowOf(one.statement) ?? []) : [];
    });
  };
  // A file's line that was read again since says what holds.
  const newerOf = (row: Row): readonly Row[] => {
    const { seq, said } = row.line;
    return (row.newer ??= newer(said, said?.file === undefined ? 0 : seq));
  };
  const changing: Row[] = [];
  const after: Row[] = [];
  for (const [index, statement] of (stated?.standing ?? []).entries()) {
    changing.push(...newer(statement));
    if (index % looksPerStep === 0) yield;
  }
  for (const [index, row] of whole.entries()) {
    after.push(...newerOf(row));
    if (index % looksPerStep === 0) yield;
  }
  return {
    amendments: [...new Set(changing.filter(isUsers))].sort(newestFirst),
    later: oftenest([...after, ...changing.filter((row) => !isUsers(row))]),
    instructions: instructionsIn(rows.filter(isUsers)),
    newerOf,
  };
}

function isUsers({ line }: Row): boolean {
  return line.kind === "user";
}

function newestFirst(left: Row, right: Row): number {
  return right.line.seq - left.line.seq || left.at - right.at;
}

/** Rows, those first that are named most often; of equals the first. */
function oftenest(named: readonly Row[]): readonly Row[] {
  const counts = new Map<Row, number>();
  for (const one of named) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].toSorted(([, left], [, right]) => right - left).map(([one]) => one);
}

/** The user's messages, newest first: the rules of all, then those short enough to stand whole. */
function instructionsIn(users: readonly Row[]): readonly (readonly Row[])[] {
  const lines = users.filter(({ line, isDone }) => line.key !== "" && !isDone);
  const messages = new Map<number, Row[]>();
  for (const row of lines) {
    const known = messages.get(row.line.seq);
    if (known) known.push(row);
    else messages.set(row.line.seq, [row]);
  }
  const newest = [...messages].sort(([left], [right]) => right - left).map(([, rows]) => rows);
  return [
    ...newest.map((rows) => rows.filter(({ line }) => isRule(line.text))),
    ...newest.filter((rows) => tokensOf(rows) <= shortMessage),
  ];
}

function* choose({ rows, blocks }: Rows, first: FirstChoices, choice: Choice): Work<readonly Passage[]> {
  const { left: room } = choice;
  const unshown = (wanted: readonly Row[]): readonly Row[] => wanted.filter(({ isShown }) => !isShown);
  for (const row of unshown(first.amendments)) choice.take([row], room * (1 - amendmentShare));
  const leastBeside = choice.left - room * laterShare;
  for (const row of unshown(first.later)) choice.take([row], leastBeside);
  const least = choice.left - room * instructionShare;
  for (const found of first.instructions) choice.take(unshown(found), least);
  const heap = new Heap<Row>();
  const offer = (row: Row): void => heap.push(row, (row.value = choice.density(row)));
  for (const row of rows) if (row.isNew) offer(row);
  yield;
  let [steps, misses] = [0, 0];
  for (let row = heap.pop(); row !== undefined && choice.left > 4; row = heap.pop()) {
    if (++steps % linesPerStep === 0) yield;
    if (row.isChosen) continue;
    const now = choice.density(row);
    if (now <= 0) continue;
    // Lazy greedy: this gain may be stale, because lines chosen meanwhile show some of its words. Requeue it.
    if (now < row.value * 0.98) {
      heap.push(row, (row.value = now));
      continue;
    }
    const group = choice.take(choice.filled(row));
    // At the end hardly anything fits into what is left: it is asked for now and then whether anything does.
    if (group.length === 0 && misses++ % missesPerLook === 0 && !heap.some((one) => choice.mayFit(one))) break;
    for (const taken of group)
      for (const beside of choice.besides(taken))
        if (!beside.isChosen && (beside.isNew || beside.isAgain)) offer(beside);
  }
  return blocks.flatMap(({ passage, from, to }) => chosenOf(passage, rows.slice(from, to)));
}

const nothing: readonly Row[] = [];

/** One choice while it is made: what it has room for, and the words and titles it shows. */
class Choice {
  readonly #number = ++choices;
  readonly #rows: readonly Row[];
  readonly #newerOf: FirstChoices["newerOf"];
  #left: number;

  constructor({ rows }: Rows, shownWords: readonly Word[], room: number, newerOf: FirstChoices["newerOf"]) {
    this.#rows = rows;
    this.#newerOf = newerOf;
    this.#left = room;
    for (const row of rows) row.isChosen = false;
    for (const word of shownWords) word.shownBy = this.#number;
  }

  /** Tokens that are left. */
  get left(): number {
    return this.#left;
  }

  /** The rows beside one in its passage. */
  besides({ at, block: { from, to } }: Row): readonly Row[] {
    return [at - 1, at + 1].flatMap((beside) => (beside >= from && beside < to ? (this.#rows[beside] ?? []) : []));
  }

  /** The value of a candidate for each of its tokens. */
  density({ at, line, facts, block, tokens, weight, isNew, isAgain }: Row): number {
    let fresh = 0;
    if (isNew) for (const { worth, shownBy } of facts.words) if (shownBy !== this.#number) fresh += worth;
    let beside = 0;
    if (!line.isSentence || block.passage.file) {
      if (at > block.from && this.#rows[at - 1]!.isChosen) beside++;
      if (at + 1 < block.to && this.#rows[at + 1]!.isChosen) beside++;
    }
    const cost = tokens + 0.75 * gapTokens * (2 - beside) + 0.25 * this.#titling(block.title);
    const base = (isAgain ? 0 : 0.2) + 0.02 * Math.min(tokens, 40);
    return (weight * (base + fresh + 0.4 * beside) * (1 + 0.3 * beside)) / cost;
  }

  #titling({ tokens, shownBy }: Title): number {
    return shownBy === this.#number ? 0 : tokens;
  }

  /** Whether there may be room for a candidate, which never comes without its title. */
  mayFit({ isChosen, tokens, block }: Row): boolean {
    return !isChosen && tokens + this.#titling(block.title) <= this.#left;
  }

  /**
   * Takes candidates with the newest lines that speak of the same and with the beginnings of their messages, all or none,
   * and answers with those it took.
   *
   * @param least - tokens that stay for others
   */
  take(wanted: readonly Row[], least = 0): readonly Row[] {
    const room = this.#left - least;
    const group = new Set(wanted.filter(({ isChosen }) => !isChosen));
    const titles = new Set<Title>();
    let cost = 0;
    // What is added to the group meanwhile is visited, too.
    for (const row of group) {
      cost += row.tokens + (titles.has(row.block.title) ? 0 : this.#titling(row.block.title));
      if (cost > room) return nothing;
      titles.add(row.block.title);
      for (const one of this.#with(row)) group.add(one);
    }
    const [begin] = group;
    if (!begin) return nothing;
    const isBeside = this.besides(begin).some(({ isChosen }) => isChosen);
    cost += isBeside || group.size > 1 ? 0 : gapTokens;
    if (cost > room) return nothing;
    this.#left -= cost;
    for (const title of titles) title.shownBy = this.#number;
    for (const row of group) {
      row.isChosen = true;
      if (row.isNew) for (const word of row.facts.words) word.shownBy = this.#number;
    }
    return [...group];
  }

  /** The lines that a candidate never stands without, other than those that stand. */
  #with(row: Row): readonly Row[] {
    const { from, hasHead } = row.block;
    const newer = this.#newerOf(row);
    const rows = hasHead && row.at > from ? [...newer, this.#rows[from]!] : newer;
    return rows.filter(({ isChosen, isShown }) => !isChosen && !isShown);
  }

  /** A candidate with the lines that would be a short gap between it and chosen ones, and a bracket that closes it. */
  filled(row: Row): readonly Row[] {
    const { from, to } = row.block;
    const group = [row];
    for (const step of [-1, 1]) {
      const gap: Row[] = [];
      let at = row.at + step;
      while (at >= from && at < to && !this.#rows[at]!.isChosen && gap.length <= longestFill) {
        gap.push(this.#rows[at]!);
        at += step;
      }
      const isBetween = at >= from && at < to && gap.length <= longestFill && tokensOf(gap) <= fillTokens;
      if (isBetween) group.push(...gap);
    }
    const next = row.at + 1 < to ? this.#rows[row.at + 1] : undefined;
    if (next && !next.isChosen && closing.test(next.line.key) && !group.includes(next)) group.push(next);
    return group;
  }
}

function tokensOf(rows: Iterable<Row>): number {
  let sum = 0;
  for (const { tokens } of rows) sum += tokens;
  return sum;
}

/** The stretches of a passage that were chosen. */
function chosenOf(passage: Passage, rows: readonly Row[]): readonly Passage[] {
  const chosen: Passage[] = [];
  let open: Line[] | undefined;
  for (const [index, { isChosen, line }] of rows.entries()) {
    if (!isChosen) open = undefined;
    else if (open) open.push(line);
    else chosen.push({ ...passage, at: passage.at === 0 ? 0 : passage.at + index, lines: (open = [line]) });
  }
  return chosen;
}
