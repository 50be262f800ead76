/** The review of a contract: long clauses with figures, addenda that amend them, what counsel says, the agent's own findings. */
import { unknown } from "./hand.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { points, contractReading as reading } from "./contract-reading.ts";
import type { Point } from "./contract-reading.ts";
import { pointOf, proseOf } from "./contract-texts.ts";
import type { Clause } from "./contract-texts.ts";
import { Luck, paragraph } from "./words.ts";

const system =
  "You review a contract of many clauses. `read_clause` gives a clause as it was signed, `read_addendum` an addendum; " +
  "the latest addendum, and what counsel says here, hold over what was signed. A filing number is given once. Note down " +
  "what is asked, with what holds now.";

/** Plans a job. */
export function contract(seed: number, size: number): Plan {
  const luck = new Luck(seed * 31 + 5);
  const agenda = new Agenda();
  const clauses: Clause[] = [];
  const texts = new Map<string, string>();
  const filings = new Map<string, Fact>();
  const findings: { readonly one: string; readonly other: string; readonly fact: Fact }[] = [];
  const make: Readonly<Record<Point, (fact: Fact) => string | number>> = {
    notice: (fact) => luck.another(11, 240, fact.planned),
    ceiling: (fact) => luck.another(1_000, 90_000, fact.planned),
    place: () => luck.name(),
    party: () => luck.name(),
  };
  const read = (): void => {
    const number = `${1 + Math.floor(clauses.length / 4)}.${1 + (clauses.length % 4)}`;
    const fact = (point: Point, value: string | number): Fact => new Fact(`${point} of clause ${number}`, value);
    const clause: Clause = {
      number,
      heading: luck.name(3),
      notice: fact("notice", luck.between(11, 240)),
      ceiling: fact("ceiling", luck.between(1_000, 90_000)),
      place: fact("place", luck.name()),
      party: fact("party", luck.name()),
    };
    clauses.push(clause);
    texts.set(
      `clause ${number}`,
      `${number} ${clause.heading}. ${proseOf(luck, clause, 9)} ${paragraph(luck, 5)}\n\n${paragraph(luck, 16)}`,
    );
    agenda.add({
      text: `Read clause ${number}.`,
      calls: 2,
      *script(hand) {
        yield* hand.call("read_clause", { clause: number });
        return `I have read clause ${number}.`;
      },
    });
  };

  const changed = (clause: Clause, point: Point): readonly [old: string, value: string, before: () => void] => {
    const fact = clause[point];
    const old = plannedOf(fact);
    const before = fact.plan(make[point](fact));
    return [old, plannedOf(fact), before];
  };

  let addenda = 0;
  const addendum = (): void => {
    const number = String(++addenda);
    const changes: (() => void)[] = [];
    const said = luck
      .shuffled(clauses)
      .slice(0, 3)
      .map((clause, at) => {
        if (at === 2) {
          // A whole clause is put anew.
          for (const point of luck.shuffled(points).slice(0, 2)) changes.push(changed(clause, point)[2]);
          return `Clause ${clause.number} is amended to read: ${clause.number} ${clause.heading}. ${proseOf(luck, clause, 4)}`;
        }
        const point = luck.of(points);
        const [old, value, before] = changed(clause, point);
        changes.push(before);
        const { number: of } = clause;
        return {
          notice: `In clause ${of} the words "${old} days" give way to "${value} days".`,
          ceiling: `The ceiling of clause ${of} is no longer ${old} crowns but ${value}.`,
          place: `The place of delivery of clause ${of} has moved from ${old} to ${value}.`,
          party: `Not ${old} but ${value} bears the costs of clause ${of}.`,
        }[point];
      });
    texts.set(
      `addendum ${number}`,
      `ADDENDUM ${number}\n\n${said.map((one) => `${paragraph(luck, 9)} ${one} ${paragraph(luck, 7)}`).join("\n\n")}`,
    );
    agenda.add({
      text: `Addendum ${number} was signed. Read it.`,
      calls: 2,
      before: () => changes.forEach((change) => change()),
      *script(hand) {
        yield* hand.call("read_addendum", { number });
        return "I have read the addendum.";
      },
    });
  };

  const counsel = (): void => {
    const clause = luck.of(clauses);
    const point = luck.of(["notice", "party"] as const);
    const [old, value, before] = changed(clause, point);
    agenda.tell(
      point === "notice"
        ? `Counsel rang. ${paragraph(luck, 1)} ${value} days, and not ${old}, is the notice of clause ${clause.number}.`
        : `Counsel wants it so: Not ${old} but ${value} bears the costs of clause ${clause.number}. ${paragraph(luck, 1)}`,
      before,
    );
  };

  const note = (): void => {
    const clause = luck.of(clauses);
    const { number } = clause;
    const chosen = luck.shuffled(points).slice(0, 2);
    agenda.add({
      text: `Note down for clause ${number}: ${chosen.join(" and ")}.`,
      calls: 2,
      checks: chosen.map((point) => ({ tool: "note_down", args: { content: clause[point] } })),
      *script(hand) {
        const values = yield* hand.find(chosen.map((point) => pointOf(point, number)));
        yield* hand.calls(
          chosen.map((point, at) => ({
            tool: "note_down",
            args: { clause: number, point, content: values[at] ?? unknown },
          })),
        );
        return "Noted down.";
      },
    });
  };

  const compare = (): void => {
    const [one, other] = luck.shuffled(clauses) as readonly Clause[];
    if (!one || !other || findings.some((finding) => finding.one === one.number && finding.other === other.number))
      return note();
    const [first, second] = [plannedOf(one.ceiling), plannedOf(other.ceiling)].map(Number) as [number, number];
    const fact = new Fact(`higher of ${one.number} and ${other.number}`, first >= second ? one.number : other.number);
    findings.push({ one: one.number, other: other.number, fact });
    agenda.add({
      text: `Which of the clauses ${one.number} and ${other.number} has the higher ceiling today? Note it down, too.`,
      calls: 2,
      checks: [{ tool: "note_down", args: { content: fact } }],
      *script(hand) {
        const [here = "", there = ""] = yield* hand.find([
          pointOf("ceiling", one.number),
          pointOf("ceiling", other.number),
        ]);
        const isKnown = here !== unknown && there !== unknown;
        const higher = !isKnown ? unknown : Number(here) >= Number(there) ? one.number : other.number;
        yield* hand.call("note_down", { clause: one.number, point: "higher", content: higher });
        return `Of clauses ${one.number} and ${other.number}, ${higher} has the higher ceiling.`;
      },
    });
  };

  const repeat = (): void => {
    const finding = luck.of(findings);
    if (!finding) return note();
    const { one, other, fact } = finding;
    agenda.add({
      text: `When you compared clauses ${one} and ${other}, which had the higher ceiling? Cite your answer of that day.`,
      calls: 2,
      checks: [{ tool: "cite", args: { answer: fact } }],
      *script(hand) {
        const [answer = ""] = yield* hand.find([
          { key: `higher ${one} ${other}`, about: `clauses ${one} and ${other}`, sought: "higher ceiling" },
        ]);
        yield* hand.call("cite", { about: `${one}, ${other}`, answer });
        return "Cited.";
      },
    });
  };

  const file = (): void => {
    const { number } = luck.of(clauses);
    const fact = filings.get(number);
    const before = fact?.plan(luck.code());
    if (!fact) filings.set(number, new Fact(`filing of ${number}`, luck.code()));
    agenda.add({
      text: `File clause ${number} with the registry${fact ? ", once more" : ""}.`,
      calls: 2,
      ...(before && { before }),
      *script(hand) {
        yield* hand.call("file_clause", { clause: number });
        return "It is filed.";
      },
    });
  };

  const quote = (): void => {
    const [number, fact] = luck.of([...filings]);
    agenda.add({
      text: `The registry asks about clause ${number}. Answer it with the filing number.`,
      calls: 2,
      checks: [{ tool: "answer_registry", args: { filing: fact } }],
      *script(hand) {
        const [filing = ""] = yield* hand.find([
          { key: `filing ${number}`, about: `clause ${number}`, sought: "filed under" },
        ]);
        yield* hand.call("answer_registry", { clause: number, filing });
        return "The registry has its answer.";
      },
    });
  };

  read();
  read();
  read();
  const turns = agenda.fill(size, [
    file,
    note,
    addendum,
    read,
    compare,
    note,
    counsel,
    quote,
    read,
    note,
    repeat,
    addendum,
    note,
    read,
    compare,
  ]);
  return {
    system,
    tools: {
      read_clause: ["A clause as it was signed", "clause"],
      read_addendum: ["An addendum", "number"],
      note_down: ["Notes down a point of a clause", "clause", "point", "content"],
      cite: ["Cites an earlier answer", "about", "answer"],
      file_clause: ["Files a clause with the registry", "clause"],
      answer_registry: ["Answers the registry", "clause", "filing"],
    },
    turns,
    reading,
    run: (tool, args) => {
      if (tool === "read_clause") return texts.get(`clause ${args.clause}`) ?? "There is no such clause.";
      if (tool === "read_addendum") return texts.get(`addendum ${args.number}`) ?? "There is no such addendum.";
      if (tool === "file_clause")
        return `Registry: clause ${args.clause} filed under ${filings.get(args.clause ?? "")?.now ?? "nothing"}, which is not kept here.`;
      return `${tool}: done`;
    },
  };
}
