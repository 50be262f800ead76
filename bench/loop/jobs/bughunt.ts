/** Bug hunt: facts of an incident lie scattered over logs, host records and build notes; its cause combines them. */
import { Dice } from "./dice.ts";
import { Fact, Schedule, Scorer } from "./job.ts";
import type { Call, Job, Planned, Turn } from "./job.ts";
import { fieldOf, gather, lineWith } from "./need.ts";
import type { Need } from "./need.ts";
import type { View } from "./view.ts";

interface Host {
  readonly name: string;
  readonly build: Fact;
}

/** A job of bug hunting with about `size` calls. */
export function bughunt(seed: number, size: number): Job {
  return new BugHunt(new Dice("bughunt", seed), size);
}

class BugHunt implements Job {
  readonly system =
    "You look for the causes of incidents. The build on a host is what its record says, unless the user says otherwise.";
  readonly tools = [
    { name: "read", description: "A file", args: ["path"] },
    { name: "grep", description: "The lines with a text, of all files", args: ["pattern"] },
    { name: "report", description: "Reports an incident's cause", args: ["incident", "host", "build", "author"] },
  ];
  readonly score = new Scorer();
  readonly #dice: Dice;
  readonly #schedule = new Schedule();
  readonly #files = new Map<string, string>();
  readonly #hosts: readonly Host[];
  /** The author of each build. */
  readonly #builds = new Map<string, Fact>();
  /** The host of each incident. */
  readonly #incidents = new Map<string, Host>();

  constructor(dice: Dice, size: number) {
    this.#dice = dice;
    const builds = Array.from({ length: Math.ceil(size / 9) }, () => `${dice.word()}-${dice.digits(3)}`);
    for (const build of builds) this.#builds.set(build, new Fact(`author of ${build}`, dice.name()));
    this.#hosts = Array.from({ length: Math.ceil(size / 8) }, () => {
      const name = `${dice.word()}-${dice.digits(2)}`;
      return { name, build: new Fact(`build on ${name}`, dice.pick(builds)) };
    });
    for (const build of builds) this.#files.set(`builds/${build}.md`, this.#note(build));
    for (const host of this.#hosts) this.#files.set(`hosts/${host.name}.json`, this.#record(host));
    for (let log = size / 6; log > 0; log--) this.#files.set(`logs/${dice.word()}.log`, this.#log());
    this.#plan(size);
  }

  next(): string | undefined {
    return this.#schedule.next();
  }

  run({ tool, args }: Call): string {
    if (tool === "read") return this.#files.get(String(args["path"])) ?? "There is no such file.";
    if (tool === "grep") return this.#grep(String(args["pattern"]));
    const host = this.#incidents.get(String(args["incident"]));
    if (!host) return "There is no such incident.";
    const author = this.#builds.get(host.build.value) as Fact;
    const name = new Fact(`host of ${args["incident"]}`, host.name);
    this.score.action([name, args["host"]], [host.build, args["build"]], [author, args["author"]]);
    return JSON.stringify({ incident: args["incident"], state: "reported", number: this.#dice.digits(5) });
  }

  *turn(message: string, start: View): Turn {
    const paths = [...message.matchAll(/\b((?:logs|hosts|builds)\/\S+\.(?:log|json|md))/g)];
    for (const [, path = ""] of paths) yield { calls: [{ tool: "read", args: { path } }] };
    if (paths.length > 0) return { say: "I have read this." };
    if (!message.startsWith("Report")) return { say: "I shall keep it in mind." };
    let view = start;
    for (const [incident] of message.matchAll(/I-\d+/g)) {
      const hosts = yield* gather(view, [hostNeed(incident)]);
      const [host = ""] = hosts.values;
      const builds = yield* gather(hosts.view, [buildNeed(host)], [[`host of ${incident}`, host]]);
      const [build = ""] = builds.values;
      const known = [
        [`host of ${incident}`, host],
        [`build on ${host}`, build],
      ] as const;
      const [author = ""] = (yield* gather(builds.view, [authorNeed(build)], known)).values;
      view = yield { calls: [{ tool: "report", args: { incident, host, build, author } }] };
    }
    return { say: "It is reported." };
  }

  #grep(pattern: string): string {
    const hits = [...this.#files].flatMap(([path, text]) =>
      text.split("\n").flatMap((line, at) => (line.includes(pattern) ? [`${path}:${at + 1}:${line}`] : [])),
    );
    return hits.length === 0 ? "No matches." : hits.slice(0, 40).join("\n");
  }

  #note(build: string): string {
    const dice = this.#dice;
    const items = Array.from({ length: dice.between(10, 18) }, () => `- ${dice.prose(1)}`);
    const author = this.#builds.get(build)?.value ?? "";
    items.splice(
      dice.below(items.length),
      0,
      `- The last change of ${build} was made by ${author}, commit ${dice.word()}${dice.digits(4)}.`,
    );
    return `# Build ${build}\n\n${dice.prose(2)}\n\n${items.join("\n")}\n`;
  }

  #record({ name, build }: Host): string {
    const dice = this.#dice;
    const record = {
      host: name,
      zone: dice.pick(["a", "b", "c"]),
      cores: dice.pick([4, 8, 16, 32]),
      memory_gb: dice.digits(2),
      kernel: `6.${dice.below(20)}.${dice.below(90)}`,
      build: build.value,
      started: `2031-04-0${dice.between(1, 9)}T0${dice.below(9)}:10:00Z`,
      rack: `${dice.word()}-${dice.digits(2)}`,
      disks: Array.from({ length: 18 }, () => `${dice.word()}${dice.digits(4)}`),
      remarks: dice.prose(2),
    };
    return JSON.stringify(record, null, 2);
  }

  #log(): string {
    const dice = this.#dice;
    const lines = Array.from({ length: dice.between(50, 80) }, (_, at) => `04:00:${10 + at} ${this.#noise()}`);
    for (let incidents = dice.between(1, 3); incidents > 0; incidents--) {
      const host = dice.pick(this.#hosts);
      const incident = `I-${this.#incidents.size + 100}`;
      this.#incidents.set(incident, host);
      const at = lines.findLastIndex(
        (line, place) => !line.includes("incident") && (place === 1 || dice.below(9) === 0),
      );
      lines[at] = `04:00:${10 + at} ERROR incident ${incident}: request ${dice.word()} failed on host ${host.name}`;
    }
    return lines.join("\n");
  }

  #noise(): string {
    const dice = this.#dice;
    return dice.pick([
      `INFO request ${dice.word()} done in ${dice.digits(3)} ms`,
      `DEBUG lease ${dice.word()} renewed for ${dice.digits(2)} s`,
      `WARN retry ${dice.below(5)} of job ${dice.word()}, last answer ${dice.digits(3)}`,
      `INFO queue ${dice.word()} has ${dice.digits(3)} waiting, oldest ${dice.digits(2)} s`,
    ]);
  }

  /** Reads in the first half of the calls, and reports between and after them. */
  #plan(size: number): void {
    const dice = this.#dice;
    this.#schedule.add({
      message:
        "We look into the incidents of last night. I name files to read, and later ask for reports on incidents.",
    });
    const paths = dice.shuffled([...this.#files.keys()]);
    const readings: Planned[] = [];
    for (let at = 0; at < paths.length;) {
      const named = paths.slice(at, (at += dice.between(2, 5)));
      readings.push({ message: `Read ${named.join(", ")} please. ${dice.prose(1)}` });
    }
    // A third of the hosts has another build than its record says.
    const changes = this.#hosts.filter(() => dice.below(3) === 0).map((host) => this.#change(host));
    readings.forEach((reading, at) => {
      this.#schedule.add(reading);
      if (at % 2 === 1) this.#schedule.add(...changes.splice(0, 1));
    });
    let calls = 1 + paths.length + this.#schedule.length;
    const incidents = dice.shuffled([...this.#incidents.keys()]);
    while (calls < size && incidents.length > 0) {
      const asked = incidents.splice(0, dice.between(1, 3));
      this.#schedule.add({ message: `Report ${asked.join(", ")}.` }, ...changes.splice(0, dice.below(2)));
      calls += asked.length + 1.5;
    }
  }

  #change(host: Host): Planned {
    const dice = this.#dice;
    const others = [...this.#builds.keys()].filter((name) => name !== this.#schedule.expected(host.build));
    const build = dice.pick(others);
    const { before, begin } = this.#schedule.change(host.build, build);
    const said = dice.pick([
      `The record of ${host.name} is wrong: host ${host.name} runs build ${build}, not ${before}.`,
      `Yesterday at noon ${before} was taken off, and since then host ${host.name} runs build ${build}.`,
    ]);
    return { message: `${dice.prose(dice.below(3))} ${said} ${dice.prose(1)}`.trim(), begin };
  }
}

function hostNeed(incident: string): Need {
  const pattern = new RegExp(String.raw`incident ${incident}: request \w+ failed on host ([\w-]+)`);
  return {
    key: `host of ${incident}`,
    queries: [`incident ${incident} failed on host`],
    again: [{ tool: "grep", args: { pattern: `incident ${incident}:` } }],
    read: (statement) => lineWith(statement, [pattern]),
  };
}

function buildNeed(host: string): Need {
  const pattern = new RegExp(String.raw`host ${host} runs build ([\w-]+)`);
  return {
    key: `build on ${host}`,
    queries: [`host ${host} runs build`],
    again: [{ tool: "read", args: { path: `hosts/${host}.json` } }],
    read: (statement) => (statement.who === "user" ? lineWith(statement, [pattern]) : undefined),
    otherwise: (statement) => fieldOf(statement, host, "build"),
  };
}

function authorNeed(build: string): Need {
  const pattern = new RegExp(String.raw`last change of ${build} was made by (\w+)`);
  return {
    key: `author of ${build}`,
    queries: [`the last change of ${build} was made by`],
    again: [{ tool: "read", args: { path: `builds/${build}.md` } }],
    read: (statement) => lineWith(statement, [pattern]),
  };
}
