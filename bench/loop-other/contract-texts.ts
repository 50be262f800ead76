/** The clauses of the contract, their prose, and how their points are looked for. */
import type { Point } from "./contract-reading.ts";
import type { Need } from "./hand.ts";
import { plannedOf } from "./plan.ts";
import type { Fact } from "./plan.ts";
import { paragraph } from "./words.ts";
import type { Luck } from "./words.ts";

/** A clause with what holds of it now. */
export interface Clause {
  readonly number: string;
  readonly heading: string;
  readonly notice: Fact;
  readonly ceiling: Fact;
  readonly place: Fact;
  readonly party: Fact;
}

/** Words for a point. */
const words: Readonly<Record<Point, string>> = {
  notice: "notice days",
  ceiling: "liability ceiling crowns",
  place: "delivery place",
  party: "costs borne",
};

/** A point of a clause as a need. */
export function pointOf(point: Point, clause: string): Need {
  const again = [{ tool: "read_clause", args: { clause } }];
  return { key: `${point} ${clause}`, about: `clause ${clause}`, sought: words[point], again };
}

/** The points of a clause in any order, with sentences between them that say nothing. */
export function proseOf(luck: Luck, { number, notice, ceiling, place, party }: Clause, filler: number): string {
  const sentences = [
    `Notice under clause ${number} ${luck.of(["is given", "shall be"])} ${plannedOf(notice)} days ${luck.of(["ahead", "before the end of a quarter"])}, in writing.`,
    `Liability under clause ${number} ends at ${plannedOf(ceiling)} crowns for each event.`,
    `Delivery under clause ${number} is made at ${plannedOf(place)}, unless the weather forbids it.`,
    `Costs under clause ${number} are borne by ${plannedOf(party)} alone.`,
  ];
  return luck
    .shuffled(sentences)
    .map((sentence) => `${paragraph(luck, filler)} ${sentence}`)
    .join(" ");
}
