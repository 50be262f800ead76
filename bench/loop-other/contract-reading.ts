/** The reader of the contract. */
import { matches, stretches } from "./hand.ts";
import type { Reading, Statement } from "./hand.ts";

/** The points of every clause. */
export const points = ["notice", "ceiling", "place", "party"] as const;

export type Point = (typeof points)[number];

const patterns: Readonly<Record<Point, RegExp>> = {
  notice: /[Nn]otice under clause (\d+\.\d+) (?:is given|shall be) (\d+) days? (?:ahead|before)/g,
  ceiling: /[Ll]iability under clause (\d+\.\d+) ends at (\d+) crowns/g,
  place: /[Dd]elivery under clause (\d+\.\d+) is made at (\w+)/g,
  party: /[Cc]osts under clause (\d+\.\d+) are borne by (\w+)/g,
};

/** The reader: sentences that name their clause, those of a clause's own text, and amendments. */
export const contractReading: Reading = (passage) => {
  if (passage.who === "call") return [];
  if (passage.who === "assistant") {
    return [
      ...matches(
        passage,
        /[Oo]f clauses (\d+\.\d+) and (\d+\.\d+), (\d+\.\d+) has the higher ceiling/g,
        ([one, other, value = ""]) => ({
          key: `higher ${one} ${other}`,
          value,
        }),
      ),
    ];
  }
  const found: Statement[] = [];
  for (const point of points) {
    found.push(
      ...matches(passage, patterns[point], ([clause, value = ""]) => ({
        key: `${point} ${clause}`,
        value,
        yields: passage.who === "read_clause",
      })),
    );
  }
  const amended: readonly (readonly [Point, RegExp])[] = [
    ["notice", /clause (\d+\.\d+) the words "(\d+) days" give way to "(\d+) days"/g],
    ["ceiling", /ceiling of clause (\d+\.\d+) is no longer (\d+) crowns but (\d+)/g],
    ["place", /place of delivery of clause (\d+\.\d+) has moved from (\w+) to (\w+)/g],
    ["party", /[Nn]ot (\w+) but (\w+) bears the costs of clause (\d+\.\d+)/g],
    ["notice", /(\d+) days, and not (\d+), is the notice of clause (\d+\.\d+)/g],
  ];
  amended.forEach(([point, pattern], at) => {
    found.push(
      ...matches(passage, pattern, ([one = "", two = "", three = ""]) => {
        if (at === 3) return { key: `${point} ${three}`, value: two, old: one };
        if (at === 4) return { key: `${point} ${three}`, value: one, old: two };
        return { key: `${point} ${one}`, value: three, old: two };
      }),
    );
  });
  // An answer of the registry names its clause in the same line.
  for (const stretch of stretches(passage)) {
    for (const [, clause, value = ""] of stretch.matchAll(/clause (\d+\.\d+) filed under ([\w-]+)/g)) {
      found.push({ key: `filing ${clause}`, value });
    }
  }
  return found;
};
