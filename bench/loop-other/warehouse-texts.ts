/** The papers of the warehouse. */
import { plannedOf } from "./plan.ts";
import type { Fact } from "./plan.ts";
import { filler } from "./sayings.ts";
import type { Luck } from "./words.ts";

/** What is said in a warehouse without need. */
export const talk = [
  "The {word} lift was out for {n} minutes, and {name} carried everything by hand.",
  "{name} parked a trailer across the {word} ramp and went for lunch.",
  "Somebody stacked {n} crates of {word} where the fire door is.",
  "The insurance wants photographs of the {word} racks before {name} leaves.",
  "Night shift found a {word} in the baler and named it {name}.",
  "Please remember that the {word} cage stays locked, even when {name} asks.",
  "Carrier {name} was {n} minutes late again, with papers for somebody else's {word}.",
  "Pallet {code} of {word} goes back to {name} when anyone has the time.",
];

/** A stock sheet, as it is printed once. */
export function sheetText(luck: Luck, rows: readonly { id: string; bin: Fact; pieces: Fact; kind: string }[]): string {
  const lines = rows.map(({ id, bin, pieces, kind }) => {
    const remark = `${luck.word()}${luck.chance(0.4) ? ` ${luck.word()}` : ""}`;
    return `| ${id} | ${plannedOf(bin)} | ${plannedOf(pieces)} | ${kind} | ${remark} |`;
  });
  return ["| article | bin | pieces | class | remark |", "|---|---|---|---|---|", ...lines].join("\n");
}

/** A sheet of movements, with some rows that matter, in their order. */
export function movementsText(luck: Luck, own: readonly string[]): string {
  const left = [...own];
  const places = luck.shuffled([...left, ...Array.from({ length: luck.between(12, 60) }, () => "")]);
  const rows = places.map((place, at) => {
    const row = place === "" ? undefined : left.shift();
    const other = `${luck.word()} | weight | ${luck.between(2, 99)} | was ${luck.between(2, 99)}`;
    return `| ${7 + Math.floor(at / 60)}:${10 + (at % 50)} | ${row ?? other} |`;
  });
  return ["| time | article | field | new | old |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** A device's file. */
export function deviceText(luck: Luck, values: ReadonlyMap<string, Fact>): string {
  const sections = new Map([...values.keys()].map((knob) => [knob.split(".")[0] as string, [] as string[]]));
  for (let at = luck.between(2, 9); at > 0; at--) sections.set(luck.word(), []);
  for (const lines of sections.values())
    for (let at = luck.between(2, 6); at > 0; at--)
      lines.push(`${luck.word()} = ${luck.between(2, 900)}`, `; ${filler(luck, talk, 1)}`);
  for (const [knob, fact] of values) {
    const [section = "", field = ""] = knob.split(".");
    const lines = sections.get(section) as string[];
    lines.splice(luck.between(0, lines.length), 0, `${field} = ${plannedOf(fact)}`);
  }
  const parts = luck.shuffled([...sections]).map(([section, lines]) => [`[${section}]`, ...lines].join("\n"));
  return parts.join("\n\n");
}

/** The manifest of an order. */
export function manifestText(luck: Luck, order: string, customer: string, dock: string): string {
  const lines = Array.from({ length: luck.between(8, 44) }, () => {
    return { item: luck.word(), quantity: luck.between(1, 90), comment: filler(luck, talk, 1) };
  });
  return JSON.stringify({ order, placed_by: luck.word(), customer, dock: Number(dock), lines }, null, 2);
}

/** What a check-up prints, with one line that matters. */
export function checkText(luck: Luck, number: string, own: string): string {
  const lines = Array.from(
    { length: luck.between(16, 90) },
    () => `${luck.word()}: self-test ${luck.between(2, 99)} passed in ${luck.between(2, 900)} ms`,
  );
  lines.splice(luck.between(0, lines.length), 0, own);
  return [`$ checkup --run ${number} --all`, ...lines].join("\n");
}
