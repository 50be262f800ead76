/** The services of the runbook, and the texts that a shell prints of them. */
import type { Call, Need } from "./hand.ts";
import type { Fact } from "./plan.ts";
import { settings } from "./runbook-reading.ts";
import { paragraph } from "./words.ts";
import type { Luck } from "./words.ts";

/** One of `settings`. */
export type Setting = (typeof settings)[number];

/** A service of the house. */
export interface Service {
  readonly name: string;
  /** Settings in force; the file has the first ones for good. */
  readonly facts: Readonly<Record<Setting, Fact>>;
  readonly machine: Fact;
  readonly pager: Fact;
  readonly unlock: Fact;
  /** The newest change made by hand: its setting and the value before it. */
  changed: { readonly setting: Setting; readonly before: Fact } | undefined;
  isOpen: boolean;
}

/** The least and the most that a setting may be. */
export const range: Readonly<Record<Setting, readonly [number, number]>> = {
  replicas: [2, 40],
  timeout_ms: [150, 9_000],
  retries: [1, 90],
  queue_depth: [64, 4_000],
};

/** A service's settings as YAML, between others. */
export function settingsText(luck: Luck, { name, facts }: Service, on: string): string {
  const noise = (): string[] =>
    Array.from({ length: 34 }, () => `  ${luck.word()}: ${luck.chance(0.5) ? luck.word() : luck.between(1, 900)}`);
  const [flags, labels, extra] = [noise(), noise(), noise()] as const;
  const filed = settings.map((setting) => `  ${setting}: ${facts[setting].now}`);
  return [
    `# ${paragraph(luck, 2)}`,
    `service: ${name}`,
    `machine: ${on}`,
    "limits:",
    ...filed.slice(0, 2),
    "flags:",
    ...flags,
    "flow:",
    ...filed.slice(2),
    "labels:",
    ...labels,
    "extra:",
    ...extra,
  ].join("\n");
}

/** A machine and whoever looks after it. */
export function machineText(luck: Luck, name: string, pager: string, remarks: Luck): string {
  const noise = Array.from({ length: 5 }, () => `${luck.word()}: ${luck.word()}-${luck.between(10, 99)}`);
  return [`whois: ${name}`, ...noise, `pager: ${pager}`, `remarks: ${paragraph(remarks, 1)}`].join("\n");
}

/** The end of a log, with one line that matters. */
export function logText(luck: Luck, said: string): string {
  const stamp = (): string =>
    `2031-0${luck.between(1, 9)}-${luck.between(10, 28)}T${luck.between(10, 23)}:${luck.between(10, 59)}:${luck.between(10, 59)}Z`;
  const lines = Array.from(
    { length: 66 },
    () =>
      `${stamp()} ${luck.of(["INFO", "WARN", "DEBUG"])} ${luck.word()} ${luck.word()}: ${luck.word()} took ${luck.between(2, 800)} ms`,
  );
  lines.splice(luck.between(3, 22), 0, `${stamp()} ${said}`);
  return lines.join("\n");
}

/** A note with settings and a move. */
export function noteText(luck: Luck, number: number, lines: readonly string[], move: string): string {
  return `# Note ${number}\n\n${paragraph(luck, 9)}\n\n## Settings\n\n${lines.join("\n")}\n\n## Moves\n\n${paragraph(luck, 6)} Since the night ${move}, as planned. ${paragraph(luck, 6)}\n`;
}

/** A call that runs a command. */
export function run(command: string): Call {
  return { tool: "run", args: { command } };
}

/** A setting of a service, or its machine, as a need. */
export function settingOf({ name }: Service, setting: string): Need {
  return { key: `${setting} ${name}`, about: name, sought: setting, again: [run(`cat conf/${name}.yaml`)] };
}

/** A command by its first two words, with its options as arguments. */
export function partsOf(command: string): Call {
  const named = [...command.matchAll(/--(\w+) (\S+)/g)].map(([, name, value]) => [name, value] as const);
  return { tool: command.split(" ").slice(0, 2).join(" "), args: Object.fromEntries(named) as Call["args"] };
}
