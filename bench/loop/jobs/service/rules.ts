/** The operator's rules: the words they stand in at first and later, and the pattern an agent reads them by. */

/** Every rule, with the words to recall it by. */
export const rules = {
  carrier: {
    first: (value: string) => `goods are sent with the carrier ${value}.`,
    later: (value: string, before: string) => `goods are now sent with the carrier ${value}; ${before} is on strike.`,
    pattern: /RULE: goods are (?:now )?sent with the carrier (\w+)/,
    queries: ["RULE goods are sent with the carrier", "carrier"],
  },
  tag: {
    first: (value: string) => `the tag of this shift is "${value}"; every refund carries the tag.`,
    later: (value: string, before: string) => `the tag of this shift is now "${value}", not "${before}".`,
    pattern: /RULE: the tag of this shift is (?:now )?"(\w+)"/,
    queries: ["RULE the tag of this shift", "tag"],
  },
  desk: {
    first: (value: string) => `whoever wants to speak to a person is passed on to the desk ${value}.`,
    later: (value: string, before: string) =>
      `the desk ${before} is closed; whoever wants to speak to a person is passed on to the desk ${value}.`,
    pattern: /RULE: (?:the desk \w+ is closed; )?whoever wants to speak to a person is passed on to the desk (\w+)/,
    queries: ["RULE whoever wants to speak to a person is passed on to the desk", "desk"],
  },
  wrapping: {
    first: (value: string) => `goods for a gold customer are wrapped in ${value} paper.`,
    later: (value: string, before: string) =>
      `we are out of ${before} paper: goods for a gold customer are wrapped in ${value} paper.`,
    pattern: /RULE: (?:we are out of \w+ paper: )?goods for a gold customer are wrapped in (\w+) paper/,
    queries: ["RULE goods for a gold customer are wrapped in paper", "wrapped paper"],
  },
} as const;

/** The name of a rule. */
export type Rule = keyof typeof rules;
/** The names of all rules. */
export const ruleNames = Object.keys(rules) as Rule[];
