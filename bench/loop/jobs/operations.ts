/** Operations: the settings of services change through logs and through the user's corrections; checks need the newest. */
import { Dice } from "./dice.ts";
import { Fact, Schedule, Scorer } from "./job.ts";
import type { Call, Change, Job, Planned, Turn } from "./job.ts";
import { gather, fieldOf, lineWith } from "./need.ts";
import type { Need } from "./need.ts";
import type { Statement, View } from "./view.ts";

const settings = ["pool", "timeout_ms", "retries", "replicas", "batch", "port"] as const;
type Setting = (typeof settings)[number];

/** A job of operations with about `size` calls. */
export function operations(seed: number, size: number): Job {
  return new Operations(new Dice("operations", seed), size);
}

class Operations implements Job {
  readonly system =
    "You watch over services. A setting is what the newest of these says: the inventory, a log, a word of the user.";
  readonly tools = [
    { name: "inventory", description: "The settings of a group of services, as of this morning", args: ["group"] },
    { name: "logs", description: "The log of a service for one hour", args: ["service", "hour"] },
    {
      name: "check",
      description: "Checks a setting against the value it should have now",
      args: ["service", "setting", "value"],
    },
  ];
  readonly score = new Scorer();
  readonly #dice: Dice;
  readonly #schedule = new Schedule();
  readonly #services: readonly string[];
  readonly #facts = new Map<string, Fact>();
  readonly #logs = new Map<string, string>();
  readonly #inventories = new Map<string, string>();
  readonly #changed: string[] = [];

  constructor(dice: Dice, size: number) {
    this.#dice = dice;
    this.#services = Array.from({ length: 12 }, () => `${dice.word()}-${dice.pick(["api", "gate", "queue", "store"])}`);
    for (const service of this.#services) {
      for (const name of settings)
        this.#facts.set(`${name} of ${service}`, new Fact(`${name} of ${service}`, dice.digits(3)));
    }
    for (const group of [0, 1, 2]) this.#takeInventory(group);
    this.#schedule.add({
      message:
        "You keep the settings of our services in view today. First look at the inventory of the groups 1, 2 and 3. " +
        "Later I ask you to check settings: each check needs the value that holds at that time.",
    });
    this.#plan(size);
  }

  next(): string | undefined {
    return this.#schedule.next();
  }

  run({ tool, args }: Call): string {
    if (tool === "inventory") return this.#inventories.get(String(args["group"])) ?? "There is no such group.";
    if (tool === "logs") return this.#logs.get(`${args["service"]} ${args["hour"]}`) ?? "No such log.";
    const fact = this.#facts.get(`${args["setting"]} of ${args["service"]}`);
    if (!fact) return "No such setting.";
    const right = this.score.action([fact, args["value"]]);
    return `${args["service"]} ${args["setting"]}: check ${right ? "passed" : "recorded"}`;
  }

  *turn(message: string, start: View): Turn {
    const hours = [...message.matchAll(/the log of (\S+) for hour (\d+)/g)];
    if (message.startsWith("You keep")) {
      for (const group of ["1", "2", "3"]) yield { calls: [{ tool: "inventory", args: { group } }] };
      return { say: "I have seen all three groups." };
    }
    for (const [, service = "", hour = ""] of hours) yield { calls: [{ tool: "logs", args: { service, hour } }] };
    if (hours.length > 0) return { say: "I have read it." };
    const asked = [...message.matchAll(/(\w+) of (\S+?)(?=[,.]| and )/g)];
    if (!message.startsWith("Check")) return { say: "Understood." };
    const needs = asked.map(([, setting = "", service = ""]) => settingNeed(setting, service));
    const { values } = yield* gather(start, needs);
    const calls = asked.map(([, setting = "", service = ""], at) => ({
      tool: "check",
      args: { service, setting, value: values[at] ?? "" },
    }));
    yield { calls };
    return { say: "The checks are made." };
  }

  #takeInventory(group: number): void {
    const records = this.#services.slice(group * 4, group * 4 + 4).map((service) => ({
      service,
      owner: this.#dice.name(),
      region: this.#dice.pick(["north", "south", "west"]),
      ...Object.fromEntries(settings.map((name) => [name, Number(this.#fact(name, service).value)])),
      image: `${service}:${this.#dice.digits(4)}`,
    }));
    const indent = group === 1 ? 0 : 2;
    this.#inventories.set(String(group + 1), JSON.stringify(records, null, indent));
  }

  #fact(name: Setting, service: string): Fact {
    return this.#facts.get(`${name} of ${service}`) as Fact;
  }

  #plan(size: number): void {
    const dice = this.#dice;
    let calls = 4;
    let hour = 0;
    while (calls < size) {
      const kind = dice.below(10);
      if (kind < 4) {
        const read = dice.between(1, 3);
        this.#schedule.add(this.#reading(read, ++hour));
        calls += read + 1;
      } else if (kind < 7 && this.#changed.length > 0) {
        this.#schedule.add(this.#correction());
        calls += 1;
      } else {
        this.#schedule.add({ message: this.#checks() });
        calls += 2;
      }
    }
  }

  /** Plans what a fact will be. */
  #change(fact: Fact, value: string): Change {
    if (!this.#changed.includes(fact.name)) this.#changed.push(fact.name);
    return this.#schedule.change(fact, value);
  }

  #reading(count: number, hour: number): Planned {
    const dice = this.#dice;
    const changes: (() => void)[] = [];
    const services = dice.shuffled(this.#services).slice(0, count);
    for (const service of services) {
      const lines = Array.from(
        { length: dice.between(20, 40) },
        (_, at) => `${clock(hour, 2 * at)} ${this.#noise(service)}`,
      );
      for (let turn = dice.below(3); turn > 0; turn--) {
        const setting = dice.pick(settings);
        const fact = this.#fact(setting, service);
        const value = String(dice.digits(3));
        const { before, begin } = this.#change(fact, value);
        const at = dice.between(2, lines.length - 2);
        const said = dice.pick([
          `INFO config ${setting} of ${service} is now ${value} (was ${before})`,
          `WARN ${service} reloaded: ${setting} of ${service} set to ${value}`,
        ]);
        lines.push(`${clock(hour, 59)} ${said}`);
        lines[at] = `${clock(hour, 2 * at)} INFO ${service} is asked to reload by ${dice.word()}`;
        changes.push(begin);
      }
      this.#logs.set(`${service} ${hour}`, lines.join("\n"));
    }
    const wanted = services.map((service) => `the log of ${service} for hour ${hour}`).join(", then ");
    return { message: `Read ${wanted}. ${dice.prose(1)}`, begin: () => changes.forEach((change) => change()) };
  }

  #correction(): Planned {
    const dice = this.#dice;
    const name = dice.pick(this.#changed);
    const fact = this.#facts.get(name) as Fact;
    const value = String(dice.digits(3));
    const { before, begin } = this.#change(fact, value);
    const said = dice.pick([
      `Correction: ${name} is not ${before}, it is now ${value}.`,
      `I have changed something by hand: ${name} is now ${value}.`,
      `Forget the ${before}: ${name} set to ${value} a minute ago.`,
    ]);
    const message = `${dice.prose(dice.below(3))} ${said} ${dice.prose(dice.below(3))}`.trim();
    return { message, begin };
  }

  #checks(): string {
    const dice = this.#dice;
    const wanted = new Set<string>();
    const count = dice.between(2, 4);
    while (wanted.size < count) {
      const known = this.#changed.length > 0 && dice.below(3) > 0;
      wanted.add(known ? dice.pick(this.#changed) : `${dice.pick(settings)} of ${dice.pick(this.#services)}`);
    }
    return `Check ${[...wanted].join(", ")}.`;
  }

  #noise(service: string): string {
    const dice = this.#dice;
    return dice.pick([
      `INFO ${service} served ${dice.digits(4)} requests, p99 ${dice.digits(2)} ms`,
      `DEBUG ${service} cache ${dice.word()} holds ${dice.digits(3)} entries`,
      `INFO ${service} worker ${dice.below(9)} finished job ${dice.word()} in ${dice.digits(3)} ms`,
      `WARN ${service} slow query on table ${dice.word()}: ${dice.digits(4)} ms`,
      `INFO ${service} heartbeat ok, lag ${dice.digits(2)} ms`,
    ]);
  }
}

function clock(hour: number, minute: number): string {
  return `${String(8 + hour).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}:07`;
}

function settingNeed(setting: string, service: string): Need {
  const name = `${setting} of ${service}`;
  const patterns = [
    new RegExp(String.raw`\b${name} (?:is now|set to) (\d+)`),
    new RegExp(String.raw`\b${name} is not \d+, it is now (\d+)`),
  ];
  return {
    key: name,
    queries: [`${name} is now`, name],
    read: (statement) =>
      isSaid(statement) ? (lineWith(statement, patterns) ?? fieldOf(statement, service, setting)) : undefined,
  };
}

/** Whether it is neither the agent's own nor an answer to its checks. */
function isSaid({ who }: Statement): boolean {
  return who !== "call" && who !== "agent" && who !== "check";
}
