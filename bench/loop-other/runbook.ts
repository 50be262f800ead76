/** An operator's shift: settings in YAML, logs, notes and command output; changes made, undone and ordered by word of mouth. */
import { unknown } from "./hand.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { runbookReading as reading, settings } from "./runbook-reading.ts";
import { logText, machineText, noteText, partsOf, range, run, settingOf, settingsText } from "./runbook-texts.ts";
import type { Service, Setting } from "./runbook-texts.ts";
import { Luck, paragraph } from "./words.ts";

const system =
  "You run the services of a small house from a shell. `cat conf/NAME.yaml` shows a service's settings as they were filed once, " +
  "`tail log/NAME.log` its log, `cat notes/N.md` a note, `whois MACHINE` a machine. Notes and the operator's word hold " +
  "over the files, which never follow, and so do reloads in a log and changes by `ctl set`. The words that unlock a case are printed once, and so is what a setting was.";

/** Plans a job. */
export function runbook(seed: number, size: number): Plan {
  const luck = new Luck(seed * 31 + 3);
  const agenda = new Agenda();
  const services: Service[] = [];
  const machines = new Map<string, string>();
  const output = new Map<string, () => string>();
  /** Plans another value for a setting. */
  const shift = (service: Service) => {
    const setting = luck.of(settings);
    const fact = service.facts[setting];
    const old = plannedOf(fact);
    const before = fact.plan(luck.another(...range[setting], fact.planned));
    service.changed = undefined;
    return { service, setting, old, value: plannedOf(fact), before };
  };
  const machine = (): string => {
    const name = luck.word();
    const pager = luck.name();
    machines.set(name, pager);
    const text = machineText(luck, name, pager, new Luck(seed + machines.size));
    output.set(`whois ${name}`, () => text);
    return name;
  };

  const survey = (): void => {
    const name = luck.word(3);
    const facts = Object.fromEntries(
      settings.map((setting) => [setting, new Fact(`${setting} of ${name}`, luck.between(...range[setting]))]),
    ) as Record<Setting, Fact>;
    const on = machine();
    const service: Service = {
      name,
      facts,
      machine: new Fact(`machine of ${name}`, on),
      pager: new Fact(`pager of ${on}`, machines.get(on) as string),
      unlock: new Fact(`unlock words of ${name}`, `${luck.word()}-${luck.word()}`),
      changed: undefined,
      isOpen: false,
    };
    services.push(service);
    const filed = settingsText(luck, service, on);
    output.set(`cat conf/${name}.yaml`, () => filed);
    agenda.add({
      text: `You take over ${name}. Look at its settings, and at the machine that it runs on.`,
      calls: 3,
      *script(hand) {
        yield* hand.calls([run(`cat conf/${name}.yaml`)]);
        const [host = ""] = yield* hand.find([settingOf(service, "machine")]);
        yield* hand.calls([run(`whois ${host}`)]);
        return `I have looked at ${name}.`;
      },
    });
  };

  const log = (): void => {
    const { service, setting, old, value, before } = shift(luck.of(services));
    const { name } = service;
    const text = logText(luck, `INFO ${name} reload: ${setting} ${old} -> ${value}`);
    const command = `tail log/${name}.log`;
    agenda.add({
      text: `Something happened to ${name}. See the end of its log.`,
      calls: 2,
      before: () => {
        before();
        output.set(command, () => text);
      },
      *script(hand) {
        yield* hand.calls([run(command)]);
        return `I have seen the log of ${name}.`;
      },
    });
  };

  let notes = 0;
  const note = (): void => {
    const number = ++notes;
    const changes: (() => void)[] = [];
    const lines = luck
      .shuffled(services)
      .slice(0, 3)
      .flatMap((service) => {
        const { setting, old, value, before } = shift(service);
        changes.push(before);
        return [
          `- ${service.name} / ${setting}: ${value} (was ${old}), asked for by ${luck.name()}`,
          `  ${paragraph(luck, 1)}`,
        ];
      });
    const mover = luck.of(services);
    const from = plannedOf(mover.machine);
    const to = machine();
    changes.push(mover.machine.plan(to), mover.pager.plan(machines.get(to) as string));
    const text = noteText(luck, number, lines, `${mover.name} has moved from machine ${from} to ${to}`);
    output.set(`cat notes/${number}.md`, () => text);
    agenda.add({
      text: `Note ${number} lies there. Read it and go by it.`,
      calls: 2,
      before: () => changes.forEach((change) => change()),
      *script(hand) {
        yield* hand.calls([run(`cat notes/${number}.md`)]);
        return "Read.";
      },
    });
  };

  const order = (): void => {
    const { service, setting, old, value, before } = shift(luck.of(services));
    agenda.tell(
      `${paragraph(luck, 1)} For ${service.name} take ${setting} of ${value} rather than ${old}, whatever is filed.`,
      before,
    );
  };

  const change = (): void => {
    const { service, setting, old, value, before } = shift(luck.of(services));
    const { name } = service;
    service.changed = { setting, before: new Fact(`${setting} of ${name} before`, old) };
    const command = `ctl set ${name} --${setting} ${value}`;
    agenda.add({
      text: `Set ${setting} of ${name} to ${value} for a trial.`,
      calls: 2,
      before: () => {
        before();
        output.set(command, () => `${name}: ${setting} is ${value} now, it was ${old}`);
      },
      *script(hand) {
        yield* hand.calls([run(command)]);
        return "It is set.";
      },
    });
  };

  const undo = (): void => {
    const service = luck.of(services.filter(({ changed }) => changed !== undefined));
    if (!service?.changed) return change();
    const { name } = service;
    const { setting, before } = service.changed;
    service.changed = undefined;
    agenda.add({
      text: `Write into the shift book, with \`ctl book\`, what ${setting} of ${name} was before you set it.`,
      calls: 2,
      checks: [{ tool: "ctl book", args: { [setting]: before } }],
      *script(hand) {
        const [value = ""] = yield* hand.find([
          { key: `before ${setting} ${name}`, about: name, sought: `${setting} it was` },
        ]);
        yield* hand.calls([run(`ctl book ${name} --${setting} ${value}`)]);
        return "It stands in the book.";
      },
    });
  };

  const open = (): void => {
    const service = luck.of(services.filter(({ isOpen }) => !isOpen));
    if (!service) return;
    service.isOpen = true;
    const { name, unlock } = service;
    agenda.add({
      text: `Open a case for ${name}.`,
      calls: 2,
      before: () =>
        output.set(
          `ctl open ${name}`,
          () => `case_of: ${name}\nunlock: ${unlock.now}\nwritten down nowhere; it is asked for when the case is shut`,
        ),
      *script(hand) {
        yield* hand.calls([run(`ctl open ${name}`)]);
        return "The case is open.";
      },
    });
  };

  const shut = (): void => {
    const service = luck.of(services.filter(({ isOpen }) => isOpen));
    if (!service) return;
    service.isOpen = false;
    const { name, unlock } = service;
    agenda.add({
      text: `The case of ${name} can be shut.`,
      calls: 2,
      checks: [{ tool: "ctl shut", args: { unlock: new Fact(unlock.name, plannedOf(unlock)) } }],
      *script(hand) {
        const [words = ""] = yield* hand.find([{ key: `unlock ${name}`, about: name, sought: "unlock case" }]);
        yield* hand.calls([run(`ctl shut ${name} --unlock ${words}`)]);
        return "The case is shut.";
      },
    });
  };

  const deploy = (): void => {
    const service = luck.of(services);
    const { name, facts, machine: on } = service;
    const chosen = luck.shuffled(settings).slice(0, 2);
    agenda.add({
      text: `Roll ${name} out again on its machine, with ${chosen.join(" and ")} as they are in force.`,
      calls: 2,
      checks: [
        { tool: "ctl roll", args: { on, ...Object.fromEntries(chosen.map((setting) => [setting, facts[setting]])) } },
      ],
      *script(hand) {
        const [host = unknown, ...values] = yield* hand.find(
          ["machine", ...chosen].map((setting) => settingOf(service, setting)),
        );
        yield* hand.calls([
          run(`ctl roll ${name} --on ${host} ${chosen.map((setting, at) => `--${setting} ${values[at]}`).join(" ")}`),
        ]);
        return `${name} is rolled out.`;
      },
    });
  };

  const page = (): void => {
    const service = luck.of(services);
    agenda.add({
      text: `Page whoever looks after the machine of ${service.name}.`,
      calls: 2,
      checks: [{ tool: "ctl page", args: { to: service.pager } }],
      *script(hand) {
        const [host = ""] = yield* hand.find([settingOf(service, "machine")]);
        const [, to = ""] = yield* hand.find([
          settingOf(service, "machine"),
          { key: `pager ${host}`, about: host, sought: "pager", again: [run(`whois ${host}`)] },
        ]);
        yield* hand.calls([run(`ctl page ${service.name} --to ${to}`)]);
        return "Paged.";
      },
    });
  };

  survey();
  survey();
  const turns = agenda.fill(size, [
    survey,
    open,
    log,
    deploy,
    change,
    note,
    deploy,
    order,
    shut,
    survey,
    page,
    undo,
    deploy,
    log,
  ]);
  return {
    system,
    tools: { run: ["Runs a command", "command"] },
    turns,
    reading,
    parts: ({ args }) => partsOf(String(args.command)),
    run: (_, { command = "" }) =>
      output.get(command)?.() ?? (command.startsWith("ctl ") ? "ok" : `${command}: no such thing`),
  };
}
