/** The reader of the travel desk. */
import { fieldsOf, matches } from "./hand.ts";
import type { Reading, Statement } from "./hand.ts";

/** The reader: JSON by the trip or the hotel that stands above a line, sentences by the names in them. */
export const travelReading: Reading = (passage) => {
  if (passage.who === "call") return [];
  if (passage.who === "assistant") {
    return [
      ...matches(passage, /cheapest house of (\w+) is (\w+)/g, ([town = "", value = ""]) => ({
        key: `cheapest ${town}`,
        value,
      })),
    ];
  }
  const found: Statement[] = [];
  let trip = /T-\d+/.exec(passage.title)?.[0];
  let hotel: string | undefined;
  for (const line of passage.text.split("\n")) {
    if (/^…|^\s*\}/.test(line)) hotel = undefined;
    for (const [name, value] of fieldsOf(line)) {
      if (name === "trip") trip = value;
      else if (name === "hotel") hotel = value;
      else if (name === "nightly") {
        if (hotel !== undefined) found.push({ key: `rate ${hotel}`, value, yields: true });
      } else if (["traveller", "town", "nights", "leaves", "hold_code"].includes(name) && trip !== undefined) {
        found.push({ key: `${name} ${trip}`, value });
      }
    }
  }
  const fromTo = (key: string, old: string, value: string): Statement => ({ key, value, old });
  found.push(
    ...matches(passage, /Hotel (\w+) no longer asks (\d+) a night but (\d+)/g, ([name = "", old = "", value = ""]) =>
      fromTo(`rate ${name}`, old, value),
    ),
    ...matches(passage, /trip (T-\d+) leaves at ([\d:]+) instead of ([\d:]+)/g, ([id = "", value = "", old = ""]) =>
      fromTo(`leaves ${id}`, old, value),
    ),
    ...matches(passage, /(M[rs] \w+) sits in (\w+) and eats (\w+)/g, ([who = "", value = ""]) => ({
      key: `seat ${who}`,
      value,
    })),
    ...matches(passage, /(M[rs] \w+) sits in (\w+) and eats (\w+)/g, ([who = "", , value = ""]) => ({
      key: `meal ${who}`,
      value,
    })),
    ...matches(passage, /Not (\w+) but (\w+) for (M[rs] \w+), as a seat/g, ([old = "", value = "", who = ""]) =>
      fromTo(`seat ${who}`, old, value),
    ),
    ...matches(passage, /(M[rs] \w+) eats no (\w+) any more; it is (\w+) now/g, ([who = "", old = "", value = ""]) =>
      fromTo(`meal ${who}`, old, value),
    ),
  );
  return found;
};
