/** A school's office: class pages as HTML, staff lists as JSON, rosters as tables, circulars in long prose, lots drawn once. */
import { acting, need, News, reads, receipts, topOf, want, woven } from "./acts.ts";
import type { Need } from "./hand.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { filler, prose, wrapped } from "./sayings.ts";
import {
  chosen,
  extensionAgain,
  roomAgain,
  signs,
  signsFor,
  teacherAgain,
  timetableReading,
} from "./timetable-reading.ts";
import { pageText, rosterText, staffText, talk } from "./timetable-texts.ts";
import type { Lesson } from "./timetable-texts.ts";
import { Luck } from "./words.ts";

const system =
  "You keep the timetable of a school. Class pages, with lesson, teacher and room in a row, and staff lists were made in summer and are " +
  "never made anew; circulars, mails and people hold over them. A roster replaces, for the posts that it names, what older rows and " +
  "rosters say. Lots are drawn once, and who is free is asked once.";

/** Plans a job. */
export function timetable(seed: number, size: number): Plan {
  const luck = new Luck(seed * 47 + 13);
  const agenda = new Agenda();
  const act = acting(agenda, luck);
  const receipt = receipts(luck, talk);
  const texts = new Map<string, string>();
  const once = new Map<string, string[]>();
  const classes: { readonly name: string; readonly year: string; readonly lessons: readonly Lesson[]; lot?: Fact }[] =
    [];
  const staff: { readonly name: string; readonly list: string; readonly extension: Fact }[] = [];
  const posts = Array.from({ length: 7 }, () => luck.word());
  const duties = new Map<string, Fact>();
  const rules = new Map<string, Fact>();
  const exceptions = new Map<string, Fact>();
  const person = (): string => `${luck.of(["Ms", "Mr"])} ${luck.name()}`;
  const room = (): number => luck.between(101, 499);
  const dial = (): number => luck.between(2000, 8999);

  const newClass = (): void => {
    const year = String(luck.between(5, 9));
    const name = `${year}${luck.word(1)}`;
    const lessons = Array.from({ length: luck.between(6, 14) }, () => {
      const lesson = luck.name();
      const label = `${lesson} of ${name}`;
      return {
        name: lesson,
        teacher: new Fact(`teacher of ${label}`, person()),
        room: new Fact(`room of ${label}`, room()),
      };
    });
    classes.push({ name, year, lessons });
    texts.set(`class_page ${name}`, pageText(luck, name, lessons));
    const text = luck.of([
      `Class ${name} joins us. Read its page.`,
      `See the page of class ${name}. ${filler(luck, talk, 1)}`,
    ]);
    reads(agenda, text, "class_page", { class: name });
  };

  let lists = 0;
  const staffList = (): void => {
    const list = String(++lists);
    const own = Array.from({ length: luck.between(8, 36) }, () => {
      const name = person();
      return { name, list, extension: new Fact(`extension of ${name}`, dial()) };
    });
    staff.push(...own);
    texts.set(`staff_list ${list}`, staffText(luck, list, own));
    reads(agenda, `Staff list ${list} is filed; read it.`, "staff_list", { list });
  };

  const change = (news: News): void => {
    const kind = luck.between(0, 2);
    if (kind === 2) {
      const { name, extension } = luck.of(staff);
      return news.change(extensionAgain, extension, dial, { who: name });
    }
    const { name, lessons } = luck.of(classes);
    const lesson = luck.of(lessons);
    const holes = { lesson: lesson.name, of: name, who: person() };
    if (kind === 0) news.change(roomAgain, lesson.room, room, holes);
    else news.change(teacherAgain, lesson.teacher, person, holes);
  };

  const papers = { circular: 0, read_mail: 0 };
  const paper = (tool: "circular" | "read_mail"): void => {
    const number = String(++papers[tool]);
    const news = new News(luck);
    for (let at = luck.between(1, 3); at > 0; at--) change(news);
    const text = prose(luck, news.said, talk, luck.between(7, 20));
    const head = tool === "circular" ? `Circular ${number}\n\nDear parents,` : `From: ${person()}\nTo: office\n`;
    texts.set(`${tool} ${number}`, `${head}\n\n${tool === "circular" ? text : wrapped(text)}`);
    const ask =
      tool === "circular" ? `Circular ${number} went out today. Read it.` : `There is mail ${number} for the office.`;
    reads(agenda, ask, tool, { number }, news);
  };

  let weeks = 10;
  const roster = (): void => {
    const week = String(++weeks);
    const news = new News(luck);
    const named = duties.size < posts.length ? posts : luck.shuffled(posts).slice(0, 3);
    const rows = [...named, named[0] as string].map((post) => {
      let fact = duties.get(post);
      if (!fact) duties.set(post, (fact = new Fact(`duty at ${post}`, person())));
      else news.renew(fact, person);
      return `duty ${post.padEnd(14)}${plannedOf(fact).padEnd(20)}${luck.word()}`;
    });
    texts.set(`roster ${week}`, rosterText(luck, week, rows));
    const text = `The roster of week ${week} hangs. Read it; a later row holds over an earlier one.`;
    reads(agenda, text, "roster", { week }, news);
  };

  const tell = (): void => {
    const news = new News(luck);
    const { name, year } = luck.of(classes);
    const rule = rules.get(year);
    if (!rule) {
      const fact = new Fact(`who signs for year ${year}`, person());
      rules.set(year, fact);
      news.said.push(signs.say(luck, { year, value: plannedOf(fact) }));
    } else if (!exceptions.has(name) && luck.chance(0.6)) {
      const fact = new Fact(`who signs for class ${name}`, plannedOf(rule));
      exceptions.set(name, fact);
      news.change(signsFor, fact, person, { year, of: name });
    } else if (luck.chance(0.4)) news.change(signs, rule, person, { year });
    else change(news);
    agenda.tell(prose(luck, news.said, talk, luck.between(0, 8)), news.before);
  };

  const lots = (): void => {
    const one = luck.of(classes.filter(({ lot }) => !lot));
    one.lot = new Fact(`lot of ${one.name}`, luck.between(10, 999));
    const lines = Array.from(
      { length: luck.between(8, 60) },
      () => `drum turned for ${luck.name()}, blank ${luck.between(10, 999)}`,
    );
    lines.splice(luck.between(0, lines.length), 0, `class ${one.name} drew lot ${plannedOf(one.lot)}`);
    once.set(`draw_lot ${one.name}`, [lines.join("\n")]);
    reads(agenda, `Draw the lot of class ${one.name} for the sports day.`, "draw_lot", { class: one.name });
  };

  const standIn = (): void => {
    const { name, lessons } = luck.of(classes);
    const lesson = lessons.find(({ stand }) => !stand);
    if (!lesson) return recallOne();
    const holes = { of: name, lesson: lesson.name };
    const counts = luck.shuffled(Array.from({ length: luck.between(16, 48) }, (_, at) => 3 + at));
    const people = counts.map(person);
    lesson.stand = new Fact(`substitute in ${lesson.name} of ${name}`, people[counts.indexOf(3)] as string);
    const lines = counts.map(
      (count, at) => `${String(people[at]).padEnd(18)} free, ${count} duties so far; ${filler(luck, talk, 1)}`,
    );
    once.set(`who_is_free ${lesson.name}`, [lines.join("\n")]);
    const text = `Someone has to stand in for ${lesson.name} of class ${name}. Ask who is free, and choose whoever has the fewest duties.`;
    reads(
      agenda,
      text,
      "who_is_free",
      { lesson: lesson.name },
      {
        answer: (result) =>
          chosen.say(luck, { ...holes, value: topOf(result, /(M[rs] \w+) +free, (\d+) duties/g, -1) }),
      },
    );
  };

  const enter = (): void => {
    const { name, lessons } = luck.of(classes);
    const lesson = luck.of(lessons);
    const part = (field: string): Need =>
      need(`${field} ${lesson.name} of ${name}`, name, `${lesson.name} ${field}`, {
        tool: "class_page",
        args: { class: name },
      });
    act(
      "put_on_board",
      { class: name, lesson: lesson.name },
      `Put ${lesson.name} of class ${name} on the board, with its room and teacher as of today.`,
      {
        room: { fact: lesson.room, need: part("room") },
        teacher: { fact: lesson.teacher, need: part("teacher") },
      },
    );
  };

  const ring = (): void => {
    const { name, list, extension } = luck.of(staff);
    const lookUp = need(`extension ${name}`, name, "extension", { tool: "staff_list", args: { list } });
    act("put_through", { teacher: name }, `Put a call through to ${name} (staff list ${list}).`, {
      extension: { fact: extension, need: lookUp },
    });
  };

  const sign = (): void => {
    const one = luck.of(classes.filter(({ year }) => rules.has(year)));
    const { name, year } = one;
    const rule = `signs ${year}`;
    const fact = exceptions.get(name) ?? (rules.get(year) as Fact);
    act(
      "have_signed",
      { class: name },
      `A pupil of class ${name}, which is in year ${year}, was away. Have the note signed by whoever does that for the class.`,
      { by: { fact, need: { ...need(`${rule} in ${name}`, `year ${year}`, "absences signed"), rule } } },
    );
  };

  const recallOne = (): void => {
    const drawn = classes.filter(({ lot }) => lot);
    const stood = classes.flatMap(({ name, lessons }) =>
      lessons.filter(({ stand }) => stand).map((lesson) => ({ name, lesson })),
    );
    if (luck.chance(0.4) || stood.length === 0) {
      const { name, lot } = luck.of(drawn);
      const sought = { lot: want(lot as Fact, `lot ${name}`, name, "lot drew") };
      return act("enter_class", { class: name }, `Enter class ${name} for the sports day, under its lot.`, sought);
    }
    const { name, lesson } = luck.of(stood);
    const lookUp = need(`substitute ${lesson.name} of ${name}`, lesson.name, "chose to stand in");
    act("thank", { class: name }, `Thank the person whom you chose for ${lesson.name} of class ${name}.`, {
      person: { fact: lesson.stand as Fact, need: lookUp },
    });
  };

  const watch = (): void => {
    const [post, fact] = luck.of([...duties]);
    const lookUp = need(`duty ${post}`, post, "duty roster");
    act("send_vest", { post }, `Who has duty at the ${post} by the newest roster? Send them the vest.`, {
      to: { fact, need: lookUp },
    });
  };

  for (const begin of [newClass, staffList, newClass, tell, roster, lots, standIn]) begin();
  const turns = agenda.fill(
    size,
    woven(
      [newClass, tell, () => paper("circular"), standIn, roster, tell, lots, staffList, () => paper("read_mail")],
      [enter, ring, sign, watch, recallOne],
    ),
  );
  return {
    system,
    tools: {
      class_page: ["The page of a class as it was made in summer", "class"],
      staff_list: ["A staff list as it was made in summer", "list"],
      circular: ["A circular to the parents", "number"],
      read_mail: ["A mail to the office", "number"],
      roster: ["The roster of a week", "week"],
      draw_lot: ["Draws the lot of a class, once", "class"],
      who_is_free: ["Asks, once, who is free for a lesson", "lesson"],
      put_on_board: ["Puts a lesson on the board", "class", "lesson", "room", "teacher"],
      put_through: ["Puts a call through", "teacher", "extension"],
      have_signed: ["Has a note signed", "class", "by"],
      enter_class: ["Enters a class for the sports day", "class", "lot"],
      thank: ["Thanks a person", "class", "person"],
      send_vest: ["Sends the vest to whoever has duty", "post", "to"],
    },
    turns,
    reading: timetableReading,
    run: (tool, args) => {
      const [first = ""] = Object.values(args);
      if (tool === "draw_lot" || tool === "who_is_free")
        return once.get(`${tool} ${first}`)?.shift() ?? "that was done before";
      return texts.get(`${tool} ${first}`) ?? receipt(`<p class="ok">${tool}: noted</p>`);
    },
  };
}
