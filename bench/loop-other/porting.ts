/** A port of a code base: numbered listings, comments that are out of date, test output, changelogs, own edits to undo. */
import { acting, need, News, reads, receipts, topOf, want, woven } from "./acts.ts";
import type { Call, Need } from "./hand.ts";
import { unknown } from "./hand.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import {
  ceiling,
  ceilingAgain,
  portingReading,
  renamed,
  renamedAgain,
  reviewer,
  slowest,
  vectorAgain,
} from "./porting-reading.ts";
import { filler, prose } from "./sayings.ts";
import { codeLines, factOf, listing, talk } from "./porting-texts.ts";
import { Luck } from "./words.ts";

const system =
  "You port firmware to a new target. `list_source` lists a module, with numbers that are no part of its lines; `edit_line` takes the exact " +
  "old line, without its indentation, and the new one. Comments are left as they are: test runs, mails and people hold over them. " +
  "The simulator keeps no runs, so that a run is seen once. Call old functions by the names that the newest changelog gives.";

interface Place {
  readonly file: string;
  readonly name: string;
  readonly line: Fact;
}

/** Makes a new line of the old one and a value. */
type Make = (line: string, found: string) => string;

/** Plans a job. */
export function porting(seed: number, size: number): Plan {
  const luck = new Luck(seed * 53 + 17);
  const agenda = new Agenda();
  const act = acting(agenda, luck);
  const receipt = receipts(luck, talk);
  const texts = new Map<string, string>();
  const runs = new Map<string, string[]>();
  const files = new Map<string, (string | Fact)[]>();
  const limits: (Place & { readonly ceiling: Fact })[] = [];
  const calls: (Place & { readonly old: string; readonly version: string; readonly heir: Fact })[] = [];
  /** The newest edits, with the lines before them. */
  const edited = new Map<string, { readonly place: Place; readonly before: string }>();
  const news: { readonly old: string; readonly version: string; readonly heir: Fact }[] = [];
  const reviewers = new Map<string, Fact>();
  const vectors: Fact[] = [];
  const slow = new Map<string, Fact>();
  const camel = (): string => luck.word() + luck.name();
  const dotted = (): string => `${luck.word()}.${luck.word()}`;
  const who = (): string => `${luck.of(["Ms", "Mr"])} ${luck.name()}`;
  const hex = (): string => `0x${luck.between(4096, 65535).toString(16)}`;
  const limit = (): number => luck.between(120, 990);

  let versions = 0;
  const changelog = (): void => {
    const version = `4.${++versions}.0`;
    const told = new News(luck);
    for (const { old, heir } of luck.shuffled(news).slice(0, 1)) told.change(renamedAgain, heir, dotted, { of: old });
    for (let at = 0; at < 3; at++) {
      const old = camel();
      const heir = new Fact(`heir of ${old}`, dotted());
      news.push({ old, version, heir });
      told.said.push(renamed.say(luck, { of: old, value: plannedOf(heir), n: String(luck.between(100, 999)) }));
    }
    const lines = Array.from({ length: luck.between(12, 60) }, () => `- ${filler(luck, talk, 1)}`);
    const text = luck.shuffled([...told.said, ...lines]).join("\n");
    texts.set(`read_changelog ${version}`, `# Changelog\n\n## ${version} (${who()})\n\n### Changed\n\n${text}`);
    const ask = luck.of([
      `Version ${version} of the kernel is out. Read its changelog.`,
      `See what ${version} changed.`,
    ]);
    reads(agenda, ask, "read_changelog", { version }, told);
  };

  const module = (): void => {
    const file = `${luck.of(["drv", "core", "net"])}/${luck.word()}.${luck.of(["ts", "js"])}`;
    const lines: (string | Fact)[] = [...codeLines(luck)];
    for (let at = 0; at < 2; at++) {
      const name = camel();
      const most = new Fact(`ceiling of ${name}`, limit());
      const line = new Fact(`line of ${name}`, `const ${name} = ${luck.between(2, 99)}; // ${luck.word()}`);
      limits.push({ file, name, line, ceiling: most });
      const comment = `// ${ceiling.say(luck, { of: name, value: plannedOf(most), who: who() })}`;
      lines.splice(luck.between(0, lines.length), 0, comment);
      lines.splice(luck.between(0, lines.length), 0, line);
    }
    for (const { old, version, heir } of luck.shuffled(news).slice(0, 2)) {
      const name = camel();
      const line = new Fact(`line of ${name}`, `const ${name} = ${old}(${luck.word()}, ${luck.between(2, 99)});`);
      calls.push({ file, name, line, old, version, heir });
      lines.splice(luck.between(0, lines.length), 0, line);
    }
    files.set(file, lines);
    reviewers.set(file, new Fact(`reviewer of ${file}`, who()));
    const said = reviewer.say(luck, { of: file, value: plannedOf(reviewers.get(file) as Fact) });
    const text = `We turn to ${file} next, so list it. ${filler(luck, talk, luck.between(0, 3))} ${said} ${filler(luck, talk, 1)}`;
    reads(agenda, text, "list_source", { path: file });
  };

  const testRun = (): void => {
    const suite = `suite-${luck.word()}`;
    const told = new News(luck);
    const times = luck.shuffled(Array.from({ length: luck.between(16, 90) }, (_, at) => 12 + at * 7));
    const tests = times.map(() => luck.word());
    const lines = times.map((time, at) => `ok ${at + 1} - ${tests[at]} (${time} ms)`);
    slow.set(suite, new Fact(`slowest test of ${suite}`, tests[times.indexOf(Math.max(...times))] as string));
    const vector = new Fact(`vector ${luck.word()}`, hex());
    vectors.push(vector);
    const own = [`not ok - ${vector.name}: wanted ${plannedOf(vector)}, have 0x0000`];
    const one = luck.of(limits);
    const { old, value } = told.renew(one.ceiling, limit);
    own.push(`# ${one.name}: comment allows ${old}, target stops at ${value}`);
    for (const line of own) lines.splice(luck.between(0, lines.length), 0, line);
    runs.set(suite, [[`TAP version 13`, ...lines, `1..${times.length}`].join("\n")]);
    const text = `Run ${suite} on the simulator, and say which of its tests is the slowest.`;
    reads(
      agenda,
      text,
      "run_tests",
      { suite },
      {
        before: told.before,
        answer: (result) => slowest.say(luck, { of: suite, value: topOf(result, /- (\w+) \((\d+) ms\)/g) }),
      },
    );
  };

  const correct = (told: News): void => {
    const kind = luck.between(0, 3);
    if (kind === 3) {
      const vector = luck.of(vectors);
      told.change(vectorAgain, vector, hex, { of: vector.name.replace("vector ", ""), who: who() });
    } else if (kind === 0) {
      const [of, fact] = luck.of([...reviewers]);
      told.change(reviewer, fact, who, { of });
    } else if (kind === 1) {
      const { old, heir } = luck.of(news);
      told.change(renamedAgain, heir, dotted, { of: old });
    } else {
      const { name, ceiling: fact } = luck.of(limits);
      told.change(ceilingAgain, fact, limit, { of: name, who: who() });
    }
  };

  const tell = (): void => {
    const told = new News(luck);
    correct(told);
    agenda.tell(prose(luck, told.said, talk, luck.between(0, 8)), told.before);
  };

  let mails = 0;
  const mail = (): void => {
    const number = String(++mails);
    const told = new News(luck);
    correct(told);
    texts.set(
      `open_mail ${number}`,
      `From: ${luck.word()}@${luck.word()}.example\n\n${prose(luck, told.said, talk, luck.between(6, 18))}`,
    );
    reads(agenda, `Mail ${number} came from the vendor. Read it.`, "open_mail", { number }, told);
  };

  /** Plans an edit of a line; the new one is made of the old one and what was found. */
  const edit = (text: string, place: Place, [right, ...wrong]: readonly string[], sought: Need, make: Make): void => {
    const { file, name, line } = place;
    const list: Call = { tool: "list_source", args: { path: file } };
    const fact = factOf(`new line of ${name}`, [...wrong, right as string]);
    const before = plannedOf(line);
    const effect = line.plan(right as string);
    edited.set(name, { place, before });
    agenda.add({
      text,
      calls: 2,
      checks: [{ tool: "edit_line", args: { old_line: line, new_line: fact }, effect }],
      *script(hand) {
        const stands = need(`line ${file} ${name}`, name, `line ${file}`, list);
        const [old = unknown, found = unknown] = yield* hand.find([stands, sought]);
        const value = found === unknown && sought.key.startsWith("undo ") ? hand.earlier(stands.key, old) : found;
        yield* hand.call("edit_line", { path: file, old_line: old, new_line: make(old, value) });
        return "The line is edited.";
      },
    });
  };

  const raise = (): void => {
    const make: Make = (line, most) => line.replace(/= \d+;/, `= ${most};`);
    const one = luck.of(
      limits.filter(({ line, ceiling: most }) => make(plannedOf(line), plannedOf(most)) !== plannedOf(line)),
    );
    const { file, name, line, ceiling: most } = one;
    const lines = most.planned.toReversed().map((value) => make(plannedOf(line), value));
    const sought = need(`ceiling ${name}`, name, "ceiling comment", { tool: "list_source", args: { path: file } });
    const text = `Set ${name} in ${file} to the most that is safe on the new target.`;
    edit(luck.chance(0.5) ? text : `${filler(luck, talk, 1)} ${text}`, one, lines, sought, make);
  };

  const port = (): void => {
    const make: Make = (line, heir) => line.replace(/= [\w.]+\(/, `= ${heir}(`);
    const open = calls.filter(({ line, heir }) => make(plannedOf(line), plannedOf(heir)) !== plannedOf(line));
    if (open.length === 0) return raise();
    const one = luck.of(open);
    const { file, name, line, old, heir, version } = one;
    const lines = heir.planned.toReversed().map((value) => make(plannedOf(line), value));
    const again = { tool: "read_changelog", args: { version } };
    const text = `${name} in ${file} has to do without ${old}, which went with ${version}. Port the line.`;
    edit(text, one, lines, need(`call ${old}`, old, "use instead", again), make);
  };

  const undo = (): void => {
    if (edited.size === 0) return raise();
    const { place, before } = luck.of([...edited.values()]);
    const { file, name } = place;
    const sought = need(`undo ${file} ${name}`, name, `edit_line ${file}`);
    const text = `The newest edit of ${name} in ${file} broke the build. Put back what stood there before it, to the letter.`;
    edit(text, place, [before], sought, (_, found) => found);
    edited.delete(name);
  };

  const write = (): void => {
    const vector = luck.of(vectors);
    const text = `Write ${vector.name} into the fixture, as the target wants it.`;
    act("write_vector", { vector: vector.name }, text, { value: want(vector, vector.name, vector.name, "wanted") });
  };

  const review = (): void => {
    const [file, fact] = luck.of([...reviewers]);
    act("ask_review", { path: file }, `${file} is ready. Ask its reviewer.`, {
      to: { fact, need: need(`reviewer ${file}`, file, "reviews") },
    });
  };

  const skip = (): void => {
    const [suite, fact] = luck.of([...slow]);
    const text = `Skip the test of ${suite} that you found to be the slowest.`;
    act("skip_test", { suite }, text, { test: { fact, need: need(`slowest ${suite}`, suite, "slowest test") } });
  };

  for (const begin of [changelog, module, module, testRun]) begin();
  const turns = agenda.fill(
    size,
    woven([module, tell, testRun, changelog, module, mail], [raise, port, undo, review, port, write, raise, skip]),
  );
  return {
    system,
    tools: {
      list_source: ["Lists a module", "path"],
      edit_line: ["Edits a line", "path", "old_line", "new_line"],
      read_changelog: ["The changelog of a version", "version"],
      run_tests: ["Runs a suite, once", "suite"],
      open_mail: ["A mail", "number"],
      write_vector: ["Writes a vector into the fixture", "vector", "value"],
      ask_review: ["Asks for a review", "path", "to"],
      skip_test: ["Skips a test", "suite", "test"],
    },
    turns,
    reading: portingReading,
    run: (tool, args) => {
      const [first = "", old = "", line = ""] = Object.values(args);
      const lines = files.get(first);
      if (tool === "list_source" && lines) return listing(lines, 0, lines.length);
      if (tool === "run_tests") return runs.get(first)?.shift() ?? `${first}: the simulator is taken`;
      if (tool !== "edit_line" || !lines) return texts.get(`${tool} ${first}`) ?? receipt(`${tool}: ok`);
      const name = /^const (\w+) /.exec(line === unknown ? old : line)?.[1] ?? unknown;
      const at = lines.findIndex((one) => typeof one !== "string" && one.now.startsWith(`const ${name} `));
      return at < 0 ? `${first} has no such line` : `${first} now has\n${listing(lines, Math.max(0, at - 1), at + 2)}`;
    },
  };
}
