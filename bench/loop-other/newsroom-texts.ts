/** The wire of the newsroom. */
import { plannedOf } from "./plan.ts";
import type { Fact } from "./plan.ts";
import { filler } from "./sayings.ts";
import type { Luck } from "./words.ts";

/** What newspapers print without need. */
export const talk = [
  "The mayor of {name} declined to comment on the {word}, as did {n} of the councillors.",
  "Residents of {name} told this paper that the {word} had been noisy for years.",
  "A spokeswoman said the {word} plan was on schedule, and that {n} trees would be planted.",
  "It was the {n}th time that {name} hosted the {word} fair, according to the organisers.",
  "{name} was last in the news over a {word} that nobody claimed.",
  "Pictures of the {word} are with {name}, reference {code}.",
  "The canteen closes at three; {name} has the key to the {word}.",
  "Police in {name} are looking for a {word} with a dented door.",
];

/** A story as it is wired. */
export function storyText(luck: Luck, id: string, byline: string, numbers: ReadonlyMap<string, Fact>): string {
  const figure = ([name, fact]: readonly [string, Fact]): string =>
    `    <figure name="${name}" unit="${luck.word()}">${plannedOf(fact)}</figure>`;
  const paragraph = (): string => `    <p>${filler(luck, talk, luck.between(2, 5))}</p>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<story id="${id}" agency="${luck.name()}" priority="${luck.between(1, 5)}">`,
    `  <slug>${luck.word()} ${luck.word()}</slug>`,
    `  <byline>${byline}</byline>`,
    "  <figures>",
    ...[...numbers].map(figure),
    "  </figures>",
    "  <body>",
    ...Array.from({ length: luck.between(4, 16) }, paragraph),
    "  </body>",
    "</story>",
  ].join("\n");
}
