/** A code base that moves to new names: numbered listings, exact edits, texts that are put back, figures in comments. */
import { unknown } from "./hand.ts";
import type { Call, Need } from "./hand.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { migrationReading as reading } from "./migration-reading.ts";
import { Luck, paragraph } from "./words.ts";

/** A line of a module that calls an old function. */
interface Site {
  readonly path: string;
  readonly old: string;
  /** The line as it stands. */
  readonly line: Fact;
  /** The line before the agent's own edit. */
  readonly before: Fact;
  state: "old" | "moved" | "back";
}

interface Guide {
  readonly old: string;
  readonly page: string;
  readonly name: Fact;
}

const system =
  "You move a code base to new names. `show_code` lists a module, with numbers that are no part of its lines; " +
  "`swap_text` takes the exact old line, without its indentation, and the new one. The guide's pages name what an old " +
  "function is called now; later pages and the maintainer's word hold over earlier ones. Every limit stands in a comment " +
  "of its module until somebody says otherwise.";

/** Plans a job. */
export function migration(seed: number, size: number): Plan {
  const luck = new Luck(seed * 31 + 4);
  const agenda = new Agenda();
  const modules = new Map<string, (string | Site)[]>();
  const pages = new Map<string, string>();
  const guides: Guide[] = [];
  const sites: Site[] = [];
  const limits: { readonly path: string; readonly fact: Fact }[] = [];
  const camel = (): string => luck.word() + luck.name();
  const again = (path: string): readonly Call[] => [{ tool: "show_code", args: { path } }];
  const lineOf = ({ old, path }: Site): Need => ({
    key: `line ${old}`,
    about: old,
    sought: `line ${path}`,
    again: again(path),
  });

  let pagesOut = 0;
  const guide = (): void => {
    const page = String(++pagesOut);
    const fresh = Array.from({ length: 4 }, (): Guide => {
      const old = camel();
      return { old, page, name: new Fact(`new name of ${old}`, camel()) };
    });
    const changes: (() => void)[] = [];
    const revised = luck
      .shuffled(guides)
      .slice(0, 2)
      .map(({ old, name }) => {
        const was = plannedOf(name);
        changes.push(name.plan(camel()));
        return `- \`${old}\` becomes \`${plannedOf(name)}\`, no longer \`${was}\``;
      });
    guides.push(...fresh);
    const text = [
      `# Guide, page ${page}`,
      "",
      paragraph(luck, 9),
      "",
      "| old | new | since |",
      "|---|---|---|",
      ...fresh.map(
        ({ old, name }) => `| \`${old}\` | \`${plannedOf(name)}\` | ${luck.between(2, 9)}.${luck.between(0, 9)} |`,
      ),
      "",
      "## Second thoughts",
      "",
      ...(revised.length > 0 ? revised : ["- none"]),
      "",
      paragraph(luck, 9),
    ].join("\n");
    pages.set(page, text);
    agenda.add({
      text: `Page ${page} of the guide is out. Read it.`,
      calls: 2,
      before: () => changes.forEach((apply) => apply()),
      *script(hand) {
        yield* hand.call("guide_page", { page });
        return "I have read the page.";
      },
    });
  };

  const module = (): void => {
    const path = `lib/${luck.word()}/${luck.word()}.ts`;
    const unused = guides.filter(({ old }) => !sites.some((site) => site.old === old));
    const lines: (string | Site)[] = Array.from({ length: 64 }, () =>
      luck.of([
        () => `const ${camel()} = ${camel()}(${luck.word()}, ${luck.between(2, 99)});`,
        () => `if (${luck.word()}.${luck.word()} > ${luck.between(2, 900)}) return ${camel()};`,
        () => `// ${paragraph(luck, 1)}`,
        () => `${luck.word()}.set("${luck.word()}", ${camel()});`,
      ])(),
    );
    for (const { old } of unused.slice(0, 3)) {
      const text = `const ${luck.word()} = ${old}(${luck.word()}, ${luck.between(10, 999)}); // @${old}`;
      const site: Site = {
        path,
        old,
        line: new Fact(`line of ${old}`, text),
        before: new Fact(`line of ${old} before`, text),
        state: "old",
      };
      sites.push(site);
      lines.splice(luck.between(2, 50), 0, site);
    }
    const fact = new Fact(`LIMIT_${luck.word().toUpperCase()}`, luck.between(20, 900));
    limits.push({ path, fact });
    lines.splice(
      luck.between(2, 50),
      0,
      `// ${fact.name} stays at ${fact.now} for the time being; ${luck.name()} asked for it.`,
    );
    modules.set(path, lines);
    agenda.add({
      text: `Look at ${path}; we come back to it.`,
      calls: 2,
      *script(hand) {
        yield* hand.call("show_code", { path });
        return `I have looked at ${path}.`;
      },
    });
  };

  const move = (): void => {
    const site = luck.of(sites.filter(({ state }) => state === "old"));
    if (!site) return;
    site.state = "moved";
    const { old, path, line } = site;
    const { name, page } = guides.find((one) => one.old === old) as Guide;
    const was = plannedOf(line);
    const after = new Fact(`new line of ${old}`, "");
    for (const value of name.planned) after.plan(was.replace(`${old}(`, `${value}(`))();
    const before = new Fact(line.name, was);
    const effect = line.plan(plannedOf(after));
    agenda.add({
      text: `In ${path}, call ${old}, of page ${page} of the guide, by its new name.`,
      calls: 2,
      checks: [{ tool: "swap_text", args: { old_line: before, new_line: after }, effect }],
      *script(hand) {
        const [current = "", called = ""] = yield* hand.find([
          lineOf(site),
          {
            key: `name ${old}`,
            about: old,
            sought: "becomes new name",
            again: [{ tool: "guide_page", args: { page } }],
          },
        ]);
        yield* hand.call("swap_text", { path, old_line: current, new_line: current.replace(`${old}(`, `${called}(`) });
        return "It is moved.";
      },
    });
  };

  const putBack = (): void => {
    const site = luck.of(sites.filter(({ state }) => state === "moved"));
    if (!site) return;
    site.state = "back";
    const { old, path, line, before } = site;
    const current = new Fact(line.name, plannedOf(line));
    const effect = line.plan(plannedOf(before));
    agenda.add({
      text: `The move of ${old} in ${path} came too early. Put the line back as it was, to the letter.`,
      calls: 2,
      checks: [{ tool: "swap_text", args: { old_line: current, new_line: before }, effect }],
      *script(hand) {
        const [now = "", was = ""] = yield* hand.find([
          lineOf(site),
          { key: `before ${old}`, about: old, sought: `swap ${path}` },
        ]);
        yield* hand.call("swap_text", { path, old_line: now, new_line: was });
        return "The line is as it was.";
      },
    });
  };

  const rename = (): void => {
    const one = luck.of(guides.filter(({ old }) => sites.every((site) => site.old !== old || site.state === "old")));
    if (!one) return;
    const was = plannedOf(one.name);
    const before = one.name.plan(camel());
    agenda.tell(
      `${paragraph(luck, 1)} Call ${one.old} by the name of ${plannedOf(one.name)} instead of ${was}.`,
      before,
    );
  };

  const relimit = (): void => {
    const { fact } = luck.of(limits);
    const was = plannedOf(fact);
    const before = fact.plan(luck.another(20, 900, fact.planned));
    agenda.tell(
      `The comment is out of date: ${fact.name} is not ${was} but ${plannedOf(fact)}. Leave the comment, and go by this.`,
      before,
    );
  };

  const setLimit = (): void => {
    const chosen = luck.shuffled(limits).slice(0, 2);
    agenda.add({
      text: `Put ${chosen.map(({ fact }) => fact.name).join(" and ")} into the options.`,
      calls: 2,
      checks: chosen.map(({ fact }) => ({ tool: "set_option", args: { value: fact } })),
      *script(hand) {
        const read = yield* hand.find(
          chosen.map(({ fact, path }) => ({ key: fact.name, about: fact.name, sought: "limit", again: again(path) })),
        );
        yield* hand.calls(
          chosen.map(({ fact }, at) => ({
            tool: "set_option",
            args: { option: fact.name, value: read[at] ?? unknown },
          })),
        );
        return "Both are in the options.";
      },
    });
  };

  guide();
  module();
  const turns = agenda.fill(size, [
    guide,
    module,
    move,
    setLimit,
    module,
    rename,
    move,
    putBack,
    relimit,
    module,
    setLimit,
    move,
    putBack,
    setLimit,
  ]);
  return {
    system,
    tools: {
      show_code: ["A module as it stands, with numbered lines", "path"],
      swap_text: ["Puts a line in the place of another", "path", "old_line", "new_line"],
      guide_page: ["A page of the guide", "page"],
      set_option: ["Sets an option", "option", "value"],
    },
    turns,
    reading,
    run: (tool, args) => {
      const lines = modules.get(args.path ?? "");
      if (tool === "guide_page") return pages.get(args.page ?? "") ?? "there is no such page";
      if (tool === "set_option") return `${args.option} set`;
      if (!lines) return `${args.path}: no such module`;
      if (tool === "swap_text") return `1 line of ${args.path} swapped`;
      return lines
        .map((line, at) => `${String(at + 1).padStart(4)}|   ${typeof line === "string" ? line : line.line.now}`)
        .join("\n");
    },
  };
}
