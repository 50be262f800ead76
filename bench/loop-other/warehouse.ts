/** A warehouse: stock sheets and movements as tables, devices as INI, orders as JSON, a scanner's words, codes shown once. */
import { acting, need, News, reads, receipts, want, woven } from "./acts.ts";
import type { Need } from "./hand.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { filler, prose } from "./sayings.ts";
import {
  countAgain,
  dockAgain,
  film,
  filmAgain,
  knobAgain,
  knobs,
  tally,
  warehouseReading,
} from "./warehouse-reading.ts";
import { checkText, deviceText, manifestText, movementsText, sheetText, talk } from "./warehouse-texts.ts";
import { Luck } from "./words.ts";

const system =
  "You run a warehouse. A stock sheet has the columns article, bin, pieces, class and remark, and is printed once; sheets of " +
  "movements, with the columns time, article, field, new value and old value, hold over it, a later row over an earlier one. Files under " +
  "devices/ are never edited. A barrier code is shown once, and a new booking voids the old code.";

/** Plans a job. */
export function warehouse(seed: number, size: number): Plan {
  const luck = new Luck(seed * 43 + 7);
  const agenda = new Agenda();
  const act = acting(agenda, luck);
  const receipt = receipts(luck, talk);
  const texts = new Map<string, string>();
  const articles: { readonly id: string; readonly sheet: string; readonly bin: Fact; readonly pieces: Fact }[] = [];
  const sheets: { readonly name: string; readonly kind: string; readonly rows: Fact }[] = [];
  const devices: { readonly name: string; readonly values: ReadonlyMap<string, Fact> }[] = [];
  const customers: { readonly name: string; readonly wish: Fact }[] = [];
  const orders: {
    readonly id: string;
    readonly wish: Fact;
    readonly customer: Fact;
    readonly dock: Fact;
    readonly code: Fact;
    isBooked: boolean;
  }[] = [];
  const who = (): string => `${luck.of(["Ms", "Mr"])} ${luck.name()}`;
  const bin = (): string => `${luck.of(["K", "L", "M", "R", "T"])}-${luck.between(10, 99)}`;
  const setting = (): number => luck.between(12, 480);

  const stock = (): void => {
    const sheet = `${luck.of(["north", "south", "loft"])}-${sheets.length + 1}`;
    const kinds = ["a", "b", "c", "d"];
    const rows = Array.from({ length: luck.between(34, 220) }, () => {
      const id = `A-${200 + articles.length * 3 + luck.between(0, 2)}`;
      const one = {
        id,
        sheet,
        bin: new Fact(`bin of ${id}`, bin()),
        pieces: new Fact(`pieces of ${id}`, luck.between(20, 990)),
      };
      articles.push(one);
      return { ...one, kind: luck.of(kinds) };
    });
    const kind = luck.of(kinds);
    const count = rows.filter((row) => row.kind === kind).length;
    sheets.push({ name: sheet, kind, rows: new Fact(`rows of class ${kind} on ${sheet}`, count) });
    texts.set(`stock_sheet ${sheet}`, sheetText(luck, rows));
    const text = `Sheet ${sheet} is printed. Read it, and tell me how many of its rows are of class ${kind}; I may ask for the number again.`;
    reads(
      agenda,
      text,
      "stock_sheet",
      { sheet },
      {
        answer: (result) => {
          const count = result.split("\n").filter((line) => line.split("|")[4]?.trim() === kind).length;
          return tally.say(luck, { of: sheet, kind, value: String(count) });
        },
      },
    );
  };

  let moves = 0;
  const movements = (): void => {
    const number = String(++moves);
    const news = new News(luck);
    const touched = luck.shuffled(articles).slice(0, 3);
    const own = [...touched, ...touched.slice(0, 1)].map(({ id, bin: place, pieces }) => {
      const isBin = luck.chance(0.5);
      const { old, value } = isBin ? news.renew(place, bin) : news.renew(pieces, () => luck.between(20, 990));
      return `${id} | ${isBin ? "bin" : "pieces"} | ${value} | was ${old}`;
    });
    texts.set(`movements ${number}`, movementsText(luck, own));
    const text = luck.of([
      `Movements ${number} are in. Read them.`,
      `${filler(luck, talk, 1)} See movements ${number}.`,
    ]);
    reads(agenda, text, "movements", { number }, news);
  };

  const install = (): void => {
    const name = `${luck.of(["belt", "crane", "press"])}-${luck.word()}`;
    const values = new Map(knobs.map((knob) => [knob, new Fact(`${knob} of ${name}`, setting())]));
    devices.push({ name, values });
    texts.set(`read_file devices/${name}.ini`, deviceText(luck, values));
    reads(agenda, `${name} is bolted down. Read devices/${name}.ini.`, "read_file", { path: `devices/${name}.ini` });
  };

  let checks = 0;
  const check = (): void => {
    const number = String(++checks);
    const { name, values } = luck.of(devices);
    const [knob, fact] = luck.of([...values]);
    const news = new News(luck);
    const { old, value } = news.renew(fact, setting);
    const own = `${name}: ${knob} ${old} refused by the drive, running at ${value}`;
    texts.set(`check_up ${number}`, checkText(luck, number, own));
    reads(agenda, `Check-up ${number} of all devices is through. See what it printed.`, "check_up", { number }, news);
  };

  const customer = (): void => {
    const name = luck.name();
    const one = { name, wish: new Fact(`film of ${name}`, luck.word()) };
    customers.push(one);
    const said = film.say(luck, { of: name, value: plannedOf(one.wish) });
    agenda.tell(`${filler(luck, talk, luck.between(1, 4))} ${said} ${filler(luck, talk, luck.between(0, 4))}`);
  };

  const order = (): void => {
    const id = `O-${10 + orders.length * 3 + luck.between(0, 2)}`;
    const { name, wish } = luck.of(customers);
    const one = {
      id,
      wish,
      customer: new Fact(`customer of ${id}`, name),
      dock: new Fact(`dock of ${id}`, luck.between(1, 60)),
      code: new Fact(`barrier code of ${id}`, luck.code()),
      isBooked: false,
    };
    orders.push(one);
    texts.set(`manifest ${id}`, manifestText(luck, id, name, plannedOf(one.dock)));
    reads(agenda, `Order ${id} has come in. Read its manifest.`, "manifest", { order: id });
  };

  const change = (news: News): void => {
    const kind = luck.between(0, 3);
    if (kind === 0) {
      const { name, wish } = luck.of(customers);
      news.change(filmAgain, wish, () => luck.word(), { of: name });
    } else if (kind === 1) {
      const { id, dock } = luck.of(orders);
      news.change(dockAgain, dock, () => luck.between(1, 60 + orders.length), { of: id });
    } else if (kind === 2) {
      const { name, values } = luck.of(devices);
      const [what, fact] = luck.of([...values]);
      news.change(knobAgain, fact, setting, { of: name, what, who: who() });
    } else {
      const { id, pieces } = luck.of(articles);
      news.change(countAgain, pieces, () => luck.between(20, 990), { of: id, who: who() });
    }
  };

  const tell = (): void => {
    const news = new News(luck);
    change(news);
    agenda.tell(prose(luck, news.said, talk, luck.between(0, 8)), news.before);
  };

  let mails = 0;
  const mail = (): void => {
    const number = String(++mails);
    const news = new News(luck);
    for (let at = 0; at < 2; at++) change(news);
    const body = prose(luck, news.said, talk, luck.between(6, 18));
    texts.set(`open_mail ${number}`, `From: ${who()}\nTo: the warehouse\n\n${body}`);
    reads(agenda, `Open mail ${number}; some of it may concern us.`, "open_mail", { number }, news);
  };

  const pick = (): void => {
    const { id, sheet, bin: place, pieces } = luck.of(articles);
    const part = (field: string): Need => need(`${field} ${id}`, id, field, { tool: "stock_sheet", args: { sheet } });
    act(
      "pick",
      { article: id },
      luck.of([
        `Pick all pieces of ${id} (sheet ${sheet}).`,
        `Empty the bin of ${id}, once on sheet ${sheet}, and note how many pieces it has to be.`,
      ]),
      { bin: { fact: place, need: part("bin") }, pieces: { fact: pieces, need: part("pieces") } },
    );
  };

  const start = (): void => {
    const { name, values } = luck.of(devices);
    const [one, other] = luck.shuffled(knobs);
    const part = (knob: (typeof knobs)[number]): { fact: Fact; need: Need } => ({
      fact: values.get(knob) as Fact,
      need: need(`${knob} ${name}`, name, knob, { tool: "read_file", args: { path: `devices/${name}.ini` } }),
    });
    act("start_device", { device: name }, `Start ${name} by hand. Give ${one} and ${other} as they are right by now.`, {
      first: part(one as (typeof knobs)[number]),
      second: part(other as (typeof knobs)[number]),
    });
  };

  const load = (): void => {
    const { id, customer: owner, dock, wish } = luck.of(orders);
    const part = (field: string): Need => need(`${field} ${id}`, id, field, { tool: "manifest", args: { order: id } });
    act("load", { order: id }, `Load ${id}: at its dock, and in the film that its customer wants.`, {
      customer: { fact: owner, need: part("customer") },
      dock: { fact: dock, need: part("dock") },
      film: { fact: wish, need: ({ customer: found = "" }) => need(`film ${found}`, found, "film") },
    });
  };

  const book = (): void => {
    const one = luck.of(orders);
    const before = one.isBooked ? one.code.plan(luck.code()) : undefined;
    one.isBooked = true;
    act(
      "book_dock",
      { order: one.id },
      `Book the dock of ${one.id}${before ? " anew, since the truck did not come" : ""}.`,
      {
        dock: want(one.dock, `dock ${one.id}`, one.id, "dock", { tool: "manifest", args: { order: one.id } }),
      },
      before,
    );
  };

  const open = (): void => {
    const booked = orders.filter(({ isBooked }) => isBooked);
    if (booked.length === 0) return book();
    const { id, code } = luck.of(booked);
    act("raise_barrier", { order: id }, `The truck for ${id} waits. Raise the barrier.`, {
      code: want(code, `code ${id}`, id, "barrier code"),
    });
  };

  const report = (): void => {
    const { name, kind, rows } = luck.of(sheets);
    act("report_rows", { sheet: name }, `How many rows of class ${kind} did you find on sheet ${name}? Report it.`, {
      rows: want(rows, `${kind} rows ${name}`, name, `rows of class ${kind}`),
    });
  };

  for (const begin of [customer, stock, install, customer, order]) begin();
  const turns = agenda.fill(
    size,
    woven(
      [order, tell, movements, check, customer, mail, stock, tell, install],
      [pick, load, start, pick, book, open, report],
    ),
  );
  return {
    system,
    tools: {
      stock_sheet: ["A stock sheet as it was printed", "sheet"],
      movements: ["A sheet of movements", "number"],
      read_file: ["A device's file", "path"],
      check_up: ["What a check-up printed", "number"],
      manifest: ["The manifest of an order as it came in", "order"],
      open_mail: ["A mail", "number"],
      pick: ["Picks an article", "article", "bin", "pieces"],
      start_device: ["Starts a device with two settings, in the order asked", "device", "first", "second"],
      load: ["Loads an order", "order", "customer", "dock", "film"],
      book_dock: ["Books a dock for an order", "order", "dock"],
      raise_barrier: ["Opens the barrier", "order", "code"],
      report_rows: ["Reports a number of rows", "sheet", "rows"],
    },
    turns,
    reading: warehouseReading,
    run: (tool, args) => {
      const [first = ""] = Object.values(args);
      const code = orders.find(({ id }) => id === first)?.code.now;
      if (tool === "book_dock") return JSON.stringify({ order: first, booked: true, barrier_code: code }, null, 2);
      return texts.get(`${tool} ${first}`) ?? receipt(JSON.stringify({ [tool]: "ok", of: first }));
    },
  };
}
