/** The reader of the runbook. */
import { fieldsOf, matches } from "./hand.ts";
import type { Reading, Statement } from "./hand.ts";

/** The settings of every service. */
export const settings = ["replicas", "timeout_ms", "retries", "queue_depth"] as const;

/** The reader: YAML under its file's name or service, log lines and notes that name a service, output of commands. */
export const runbookReading: Reading = (passage) => {
  if (passage.who === "assistant" || passage.who === "call") return [];
  const found: Statement[] = [];
  let service = /conf\/(\w+)\.yaml/.exec(`${passage.who} ${passage.title}`)?.[1];
  const yields = service !== undefined;
  let machine = /whois (\w+)/.exec(passage.title)?.[1];
  for (const line of passage.text.split("\n")) {
    for (const [name, value] of fieldsOf(line.trim())) {
      if (name === "service" || name === "case_of") service = value;
      else if (name === "whois") machine = value;
      else if (name === "pager" && machine !== undefined) found.push({ key: `pager ${machine}`, value });
      else if ([...settings, "machine", "unlock"].includes(name) && service !== undefined) {
        found.push({ key: `${name} ${service}`, value, yields });
      }
    }
    const reload = /INFO (\w+) reload: (\w+) (\d+) -> (\d+)/.exec(line);
    if (reload) found.push({ key: `${reload[2]} ${reload[1]}`, value: reload[4] as string, old: reload[3] as string });
    const set = /^(\w+): (\w+) is (\d+) now, it was (\d+)$/.exec(line);
    if (set) {
      found.push({ key: `${set[2]} ${set[1]}`, value: set[3] as string, old: set[4] as string });
      found.push({ key: `before ${set[2]} ${set[1]}`, value: set[4] as string });
    }
    const note = /^[-*] (\w+) \/ (\w+): (\d+) \(was (\d+)\)/.exec(line);
    if (note) found.push({ key: `${note[2]} ${note[1]}`, value: note[3] as string, old: note[4] as string });
  }
  found.push(
    ...matches(
      passage,
      /For (\w+) take (\w+) of (\d+) rather than (\d+)/g,
      ([name, setting, value = "", old = ""]) => ({
        key: `${setting} ${name}`,
        value,
        old,
      }),
    ),
    ...matches(passage, /(\w+) has moved from machine (\w+) to (\w+)\b/g, ([name, old = "", value = ""]) => ({
      key: `machine ${name}`,
      value,
      old,
    })),
  );
  return found;
};
