/** A laboratory: protocols as TOML, a notebook in long prose, assays that use their sample up, and what colleagues say. */
import { acting, need, News, reads, receipts, topOf, want, woven } from "./acts.ts";
import type { Need } from "./hand.ts";
import { acidity, acidityAgain, freezer, freezerAgain, notebookReading, setting } from "./notebook-reading.ts";
import { settings, strongest } from "./notebook-reading.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { filler, prose } from "./sayings.ts";
import { Luck } from "./words.ts";

const system =
  "You keep a laboratory going. A protocol's file under protocols/ was approved once and is never edited; what the notebook " +
  "or a person says later holds over it. An assay uses its sample up, so that its readout is printed once. In the files, " +
  "spin speed is rpm and spin time minutes of [spin], heat is degrees and time in the heat minutes of [heat], dilution is parts of [mix].";

const talk = [
  "The {word} rinse was repeated {n} times, which {name} thought was {n} times too many.",
  "A faint smell of {word} was noticed near bench {n}, and the hood was left running.",
  "{name} of the {word} group borrowed the small balance and wrote its number, {code}, on the door.",
  "Yield of the {word} side reaction stood at {n} micrograms, too little to be of use to anyone.",
  "No growth on the {word} plates, even after {n} hours; plates kept in the cold room for {name}.",
  "Tubes {code} and {code} were mixed up and thrown away, since neither belonged to a {word} run.",
  "It is still not clear why the {word} column clogs; {name} has asked the maker about it.",
  "Room temperature wandered a little that night, and the {word} logger lost {n} readings.",
];

/** Plans a job. */
export function notebook(seed: number, size: number): Plan {
  const luck = new Luck(seed * 37 + 11);
  const agenda = new Agenda();
  const act = acting(agenda, luck);
  const receipt = receipts(luck, talk);
  const texts = new Map<string, string>();
  const protocols: { readonly name: string; readonly values: ReadonlyMap<string, Fact> }[] = [];
  const samples: { readonly id: string; readonly place: Fact; titre?: Fact; well?: Fact; isReported?: boolean }[] = [];
  const buffers: { readonly name: string; readonly ph: Fact; readonly entry: string }[] = [];
  const readouts = new Map<string, string[]>();
  const who = (): string => `${luck.of(["Dr", "Ms", "Mr"])} ${luck.name()}`;
  const ph = (): string => `${luck.between(3, 10)}.${luck.between(1, 9)}${luck.between(1, 9)}`;

  const approve = (): void => {
    const name = luck.word();
    const values = new Map(
      settings.map(({ what, low, high }) => [what, new Fact(`${what} of ${name}`, luck.between(low, high))]),
    );
    protocols.push({ name, values });
    const lines = [`# Approved by ${who()}`, `name = "${name}"`, `serial = "${luck.code()}"`];
    for (const section of luck.shuffled(["spin", "heat", "mix", luck.word(), luck.word(), luck.word()])) {
      lines.push("", `[${section}]`, `# ${filler(luck, talk, 1)}`);
      for (let at = luck.between(1, 4); at > 0; at--) lines.push(`${luck.word()} = ${luck.between(1, 900)}`);
      for (const { what, section: own, field } of settings)
        if (own === section) lines.push(`${field} = ${plannedOf(values.get(what) as Fact)}`);
      lines.push(`remark = "${filler(luck, talk, luck.between(2, 7))}"`);
    }
    const path = `protocols/${name}.toml`;
    texts.set(`read_file ${path}`, lines.join("\n"));
    const ways = [
      `A new protocol, ${name}, was approved. Read ${path}.`,
      `${filler(luck, talk, 1)} Have a look at ${path}, please; we start on it soon.`,
    ];
    reads(agenda, luck.of(ways), "read_file", { path });
  };

  const settle = (news: News): void => {
    const { name, values } = luck.of(protocols);
    const { what, low, high } = luck.of(settings);
    news.change(setting, values.get(what) as Fact, () => luck.between(low, high), { what, of: name });
  };

  const correctBuffer = (news: News): void => {
    if (buffers.length === 0) return settle(news);
    const { name, ph: fact, entry } = luck.of(buffers.slice(-6));
    news.change(acidityAgain, fact, ph, { of: name, n: entry, who: who() });
  };

  let entries = 0;
  const entry = (): void => {
    const number = String(++entries);
    const news = new News(luck);
    if (entries > 1) luck.of([settle, correctBuffer])(news);
    for (let at = 0; at < 2; at++) {
      const name = luck.word();
      const one = { name, ph: new Fact(`pH of ${name}`, ph()), entry: number };
      buffers.push(one);
      news.said.push(acidity.say(luck, { of: name, value: plannedOf(one.ph) }));
    }
    const date = `${luck.of(["3", "11", "19", "27"])} ${luck.of(["March", "June", "October"])}`;
    const text = prose(luck, news.said, talk, luck.between(6, 20));
    texts.set(`open_entry ${number}`, `Entry ${number}, ${date}, written by ${who()}\n\n${text}`);
    const ask = luck.of([
      `Entry ${number} of the notebook is written. Open it.`,
      `See entry ${number} of the notebook.`,
    ]);
    reads(agenda, ask, "open_entry", { number }, news);
  };

  const arrive = (): void => {
    const id = `S-${100 + samples.length * 5 + luck.between(0, 4)}`;
    const one = { id, place: new Fact(`freezer of ${id}`, luck.name()) };
    samples.push(one);
    const said = freezer.say(luck, { of: id, value: plannedOf(one.place) });
    agenda.tell(`${filler(luck, talk, luck.between(1, 5))} ${said} ${filler(luck, talk, luck.between(0, 4))}`);
  };

  const assay = (): void => {
    const sample = luck.of(samples.filter(({ titre }) => !titre));
    const { id } = sample;
    const titre = new Fact(`titre of ${id}`, luck.between(110, 990));
    sample.titre = titre;
    const densities = luck.shuffled(Array.from({ length: luck.between(20, 64) }, (_, at) => 100 + at * 11));
    const wells = densities.map((_, at) => `${"ABCDEFGH"[at % 8]}${1 + Math.floor(at / 8)}`);
    const best = wells[densities.indexOf(Math.max(...densities))] as string;
    sample.well = new Fact(`strongest well of ${id}`, best);
    const print = [
      `$ assay --sample ${id} --consume`,
      `reader ${luck.code()} warm, lamp ${luck.between(60, 99)} %`,
      ...wells.map(
        (well, at) => `well ${well}  od 0.${densities[at]}  ${luck.word()}  ${luck.of(["ok", "ok", "drift"])}`,
      ),
      `titre of ${id}: ${plannedOf(titre)}`,
      `${luck.between(2, 9)} warnings; sample ${id} is used up`,
    ];
    readouts.set(id, [print.join("\n")]);
    const say =
      luck.of([0, 1]) === 0 ? `Run the assay of ${id}.` : `${filler(luck, talk, 1)} It is time to assay ${id}.`;
    reads(
      agenda,
      `${say} Tell me its strongest well, and keep the titre in mind.`,
      "run_assay",
      { sample: id },
      {
        answer: (result) => strongest.say(luck, { of: id, value: topOf(result, /well (\w+) +od 0\.(\d+)/g) }),
      },
    );
  };

  let calibrations = 0;
  const calibrate = (): void => {
    const number = String(++calibrations);
    const news = new News(luck);
    const lines = Array.from(
      { length: luck.between(20, 90) },
      () => `${luck.word()}: gain ${luck.between(2, 99)} -> ${luck.between(2, 99)}`,
    );
    for (const { id, titre } of luck.shuffled(samples).slice(0, 3)) {
      if (!titre) continue;
      const { old, value } = news.renew(titre, () => luck.between(110, 990));
      lines.splice(luck.between(0, lines.length), 0, `sample ${id}: titre ${old} -> ${value} (lamp was off)`);
    }
    texts.set(`calibration_log ${number}`, [`$ calibrate --replay --run ${number}`, ...lines, "done"].join("\n"));
    const text = `Calibration ${number} ran over night, and may have put some titres right. See its log.`;
    reads(agenda, text, "calibration_log", { number }, news);
  };

  const tell = (): void => {
    const news = new News(luck);
    const move = (one: News): void => {
      const { id, place } = luck.of(samples);
      one.change(freezerAgain, place, () => luck.name(), { of: id });
    };
    for (let at = luck.between(1, 2); at > 0; at--) luck.of([settle, correctBuffer, move])(news);
    agenda.tell(prose(luck, news.said, talk, luck.between(0, 7)), news.before);
  };

  const run = (): void => {
    const { name, values } = luck.of(protocols);
    const [one, other] = luck.shuffled(settings).map(({ what }) => what);
    const again = { tool: "read_file", args: { path: `protocols/${name}.toml` } };
    const part = (what = ""): { fact: Fact; need: Need } => ({
      fact: values.get(what) as Fact,
      need: need(`${what} ${name}`, name, what, again),
    });
    act("set_up", { protocol: name }, `Set protocol ${name} up once more: ${one} and ${other} as they hold now.`, {
      first: part(one),
      second: part(other),
    });
  };

  const adjust = (): void => {
    const { name, ph: fact, entry: number } = luck.of(buffers);
    act(
      "make_buffer",
      { buffer: name },
      `We are out of buffer ${name}, which is in entry ${number}. Make some, at the pH that it should have.`,
      { ph: { fact, need: need(`pH ${name}`, name, "buffer pH", { tool: "open_entry", args: { number } }) } },
    );
  };

  const fetch = (): void => {
    const { id, place } = luck.of(samples);
    act("send_lift", { sample: id }, `Somebody is here for what we keep of ${id}. Send the lift to its freezer.`, {
      freezer: want(place, `freezer ${id}`, id, "freezer"),
    });
  };

  const report = (): void => {
    const { id, titre, well } = luck.of(samples.filter((one) => one.titre));
    const isWell = luck.chance(0.4);
    act(
      isWell ? "report_well" : "report_titre",
      { sample: id },
      isWell
        ? `Which well did you call the strongest of ${id}? Report it.`
        : `The clinic wants the titre of ${id}. Report it.`,
      isWell
        ? { well: want(well as Fact, `well ${id}`, id, "strongest well") }
        : { titre: want(titre as Fact, `titre ${id}`, id, "titre") },
    );
  };

  for (const begin of [approve, arrive, entry, approve, arrive, assay]) begin();
  const turns = agenda.fill(
    size,
    woven([approve, tell, arrive, assay, entry, tell, calibrate], [run, fetch, adjust, report]),
  );
  return {
    system,
    tools: {
      read_file: ["A file of the laboratory", "path"],
      open_entry: ["An entry of the notebook", "number"],
      run_assay: ["Assays a sample and uses it up", "sample"],
      calibration_log: ["The log of a calibration", "number"],
      set_up: ["Sets two things of a protocol up, in the order asked", "protocol", "first", "second"],
      make_buffer: ["Makes a buffer", "buffer", "ph"],
      send_lift: ["Sends the lift to a freezer", "sample", "freezer"],
      report_titre: ["Reports a titre", "sample", "titre"],
      report_well: ["Reports a strongest well", "sample", "well"],
    },
    turns,
    reading: notebookReading,
    run: (tool, args) => {
      const [first = ""] = Object.values(args);
      if (tool === "run_assay") return readouts.get(first)?.shift() ?? `sample ${first} is used up`;
      return texts.get(`${tool} ${first}`) ?? receipt(`${tool} ${first}: accepted`);
    },
  };
}
