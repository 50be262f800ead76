/** Data cleaning: parts of tables as CSV, corrected by later rows and by a log of changes, spellings that a user wants. */
import type { Need } from "./hand.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { tablesReading as reading } from "./tables-reading.ts";
import { Luck } from "./words.ts";

interface Row {
  readonly id: string;
  readonly part: string;
  readonly firm: Fact;
  readonly town: string;
  readonly amount: Fact;
  readonly grade: Fact;
  readonly owner: string;
}

const grades = ["a", "b", "c", "d", "e", "f", "g", "h"];

const system =
  "You clean the tables of a ledger. A part is a CSV print with the columns row, firm, town, amount, grade, owner, " +
  "remark; parts are never printed again, so a later row of the same name and the log of changes hold over them. A " +
  "seal is shown once. Firms are copied as the user spells them.";

/** Plans a job. */
export function tables(seed: number, size: number): Plan {
  const luck = new Luck(seed * 31 + 2);
  const agenda = new Agenda();
  const documents = new Map<string, string>();
  const firms = Array.from({ length: 9 }, () => {
    const name = luck.name();
    return { name, spelling: new Fact(`spelling of ${name}`, `${luck.name()}`) };
  });
  const rows: Row[] = [];
  const counts: Fact[] = [];
  const seals = new Map<string, Fact>();
  const sealed: string[] = [];
  const columns = "row,firm,town,amount,grade,owner,remark";
  const printed = ({ id, firm, town, amount, grade, owner }: Row, remark: string): string =>
    [id, firm.now, town, plannedOf(amount), plannedOf(grade), owner, remark].join(",");
  const field = (name: string, { id, part }: Row): Need => ({
    key: `${name} ${id}`,
    about: id,
    sought: name,
    again: [{ tool: "fetch_part", args: { part } }],
  });

  const spell = (at: number): void => {
    const { name, spelling } = firms[at] as (typeof firms)[number];
    agenda.tell(
      `One more for the ledger. Firm ${name} is spelled '${plannedOf(spelling)}' there, whatever the parts say.`,
    );
  };

  let row = luck.between(100, 400);
  const part = (): void => {
    const name = `P${seals.size + 1}`;
    seals.set(name, new Fact(`seal of ${name}`, luck.code()));
    const again = luck.shuffled(rows.slice(-90)).slice(0, rows.length > 0 ? 3 : 0);
    const changes: (() => void)[] = [];
    const fresh = Array.from({ length: 92 }, (): Row => {
      const id = `Q${(row += luck.between(1, 4))}`;
      return {
        id,
        part: name,
        firm: new Fact(`firm of ${id}`, luck.of(firms).name),
        town: luck.name(),
        amount: new Fact(`amount of ${id}`, luck.between(100, 9_999)),
        grade: new Fact(`grade of ${id}`, luck.of(grades)),
        owner: luck.word(),
      };
    });
    const lines = fresh.map((one) => printed(one, luck.chance(0.5) ? `seen by ${luck.name()}` : ""));
    for (const one of again) {
      const old = plannedOf(one.amount);
      changes.push(one.amount.plan(luck.another(100, 9_999, one.amount.planned)));
      lines.splice(luck.between(5, lines.length), 0, printed(one, `amount was ${old}`));
    }
    rows.push(...fresh);
    documents.set(name, [columns, ...lines].join("\n"));
    const grade = luck.of(grades);
    const count = lines.filter((line) => line.split(",")[4] === grade).length;
    counts.push(new Fact(name, count));
    agenda.add({
      text: `Part ${name} is printed. Fetch it, and count its rows of grade ${grade}; I will ask for the number some day.`,
      calls: 2,
      before: () => changes.forEach((change) => change()),
      *script(hand) {
        const text = yield* hand.call("fetch_part", { part: name });
        const number = text.split("\n").filter((line) => line.split(",")[4] === grade).length;
        return `Part ${name} has ${number} rows of grade ${grade}.`;
      },
    });
  };

  let entries = 0;
  const log = (): void => {
    const entry = String(++entries);
    const lines: string[] = [];
    const changes: (() => void)[] = [];
    for (const one of luck.shuffled(rows.slice(-140)).slice(0, 7)) {
      const isAmount = luck.chance(0.6);
      const fact = isAmount ? one.amount : one.grade;
      const old = plannedOf(fact);
      const left = grades.filter((grade) => !fact.planned.includes(grade));
      changes.push(fact.plan(isAmount ? luck.another(100, 9_999, fact.planned) : luck.of(left)));
      lines.push(
        `| ${one.id} | ${isAmount ? "amount" : "grade"} | ${old} | ${plannedOf(fact)} | ${luck.word()} ${luck.word()} |`,
      );
    }
    documents.set(
      `log ${entry}`,
      ["| row | column | from | to | asked by |", "|---|---|---|---|---|", ...lines].join("\n"),
    );
    agenda.add({
      text: `Entry ${entry} of the log of changes is out. Read it; it holds from now on.`,
      calls: 2,
      before: () => changes.forEach((change) => change()),
      *script(hand) {
        yield* hand.call("change_log", { entry });
        return "I have read the entry.";
      },
    });
  };

  const respell = (): void => {
    const { name, spelling } = luck.of(firms);
    const old = plannedOf(spelling);
    const before = spelling.plan(luck.name());
    agenda.tell(
      `I have to take something back: '${plannedOf(spelling)}' is right for firm ${name}, '${old}' was my mistake.`,
      before,
    );
  };

  const copy = (): void => {
    const chosen = luck.shuffled(rows).slice(0, 2);
    agenda.add({
      text: `Copy the rows ${chosen.map(({ id }) => id).join(" and ")} into the ledger, each with its firm as I spell it, its amount and its grade.`,
      calls: 2,
      checks: chosen.map(({ firm, amount, grade }) => ({
        tool: "ledger_line",
        args: { firm: (firms.find(({ name }) => name === firm.now) as (typeof firms)[number]).spelling, amount, grade },
      })),
      *script(hand) {
        const fields = chosen.flatMap((one) => ["firm", "amount", "grade"].map((name) => field(name, one)));
        const named = (yield* hand.find(fields)).filter((_, at) => at % 3 === 0);
        const read = yield* hand.find([
          ...fields,
          ...named.map((firm) => ({ key: `spelling ${firm}`, about: firm, sought: "spelled" })),
        ]);
        const spelled = read.slice(fields.length);
        yield* hand.calls(
          chosen.map(({ id }, at) => ({
            tool: "ledger_line",
            args: { row: id, firm: spelled[at] ?? "", amount: read[at * 3 + 1] ?? "", grade: read[at * 3 + 2] ?? "" },
          })),
        );
        return "Both are copied.";
      },
    });
  };

  const seal = (): void => {
    const name = luck.of([...seals.keys()]);
    const fact = seals.get(name) as Fact;
    const isAgain = sealed.includes(name);
    if (!isAgain) sealed.push(name);
    agenda.add({
      text: isAgain ? `The seal of part ${name} broke. Seal it anew.` : `Seal part ${name}.`,
      calls: 2,
      ...(isAgain && { before: fact.plan(luck.code()) }),
      *script(hand) {
        yield* hand.call("seal_part", { part: name });
        return "It is sealed.";
      },
    });
  };

  const show = (): void => {
    if (sealed.length === 0) return;
    const name = luck.of(sealed);
    agenda.add({
      text: `The auditor wants to see part ${name}. Open it to him with its seal.`,
      calls: 2,
      checks: [{ tool: "open_to_auditor", args: { seal: seals.get(name) as Fact } }],
      *script(hand) {
        const [found = ""] = yield* hand.find([{ key: `seal ${name}`, about: name, sought: "seal" }]);
        yield* hand.call("open_to_auditor", { part: name, seal: found });
        return "He can see it.";
      },
    });
  };

  const report = (): void => {
    const chosen = luck.shuffled(counts).slice(0, 2);
    agenda.add({
      text: `Report the numbers that you counted for ${chosen.map(({ name }) => `part ${name}`).join(" and ")}.`,
      calls: 2,
      checks: chosen.map((fact) => ({ tool: "report_count", args: { number: fact } })),
      *script(hand) {
        const read = yield* hand.find(
          chosen.map(({ name }) => ({ key: `count ${name}`, about: `Part ${name}`, sought: "rows of grade" })),
        );
        yield* hand.calls(
          chosen.map(({ name }, at) => ({ tool: "report_count", args: { part: name, number: read[at] ?? "" } })),
        );
        return "The numbers are reported.";
      },
    });
  };

  firms.forEach((_, at) => spell(at));
  part();
  const turns = agenda.fill(size, [
    part,
    copy,
    seal,
    log,
    copy,
    respell,
    part,
    show,
    copy,
    report,
    log,
    copy,
    part,
    show,
    copy,
  ]);
  return {
    system,
    tools: {
      fetch_part: ["The CSV print of a part", "part"],
      change_log: ["An entry of the log of changes", "entry"],
      ledger_line: ["Writes a row into the ledger", "row", "firm", "amount", "grade"],
      seal_part: ["Seals a part", "part"],
      open_to_auditor: ["Opens a sealed part", "part", "seal"],
      report_count: ["Reports a count of rows", "part", "number"],
    },
    turns,
    reading,
    run: (tool, args) => {
      if (tool === "fetch_part") return documents.get(args.part ?? "") ?? `no part is called ${args.part}`;
      if (tool === "change_log") return documents.get(`log ${args.entry}`) ?? `no entry ${args.entry}`;
      if (tool === "seal_part")
        return `part: ${args.part}\nseal: ${seals.get(args.part ?? "")?.now ?? "none"}\nkept: nowhere but with you`;
      return `${tool}: taken down`;
    },
  };
}
