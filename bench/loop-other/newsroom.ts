/** A newsroom: wire stories as XML, a style sheet with a changelog and exceptions, mails of stringers, tapes heard once. */
import { acting, need, News, reads, receipts, topOf, want, woven } from "./acts.ts";
import { embargo, embargoAgain, exception, figureAgain, figures, newsroomReading } from "./newsroom-reading.ts";
import { picked, spelling, spellingAgain } from "./newsroom-reading.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { filler, prose, wrapped } from "./sayings.ts";
import { storyText, talk } from "./newsroom-texts.ts";
import { Luck } from "./words.ts";

const system =
  "You work on the desk of a newspaper. Stories come over the wire as XML and are never wired again; mails and people correct " +
  "them. Pages of the style sheet stay as they were printed; its changelog holds over them, and an exception for a desk over both. " +
  "A tape plays once, and the code to take a story back is shown once.";

interface Story {
  readonly id: string;
  readonly numbers: ReadonlyMap<string, Fact>;
  readonly byline: Fact;
  readonly code: Fact;
  embargo?: Fact;
  speaker?: Fact;
  isFiled: boolean;
}

/** Plans a job. */
export function newsroom(seed: number, size: number): Plan {
  const luck = new Luck(seed * 41 + 5);
  const agenda = new Agenda();
  const act = acting(agenda, luck);
  const receipt = receipts(luck, talk);
  const desks = ["sports", "city", "culture", "business"];
  const texts = new Map<string, string>();
  const tapes = new Map<string, string[]>();
  const stories: Story[] = [];
  const terms: { readonly name: string; readonly page: string; readonly form: Fact }[] = [];
  const exceptions = new Map<string, Fact>();
  const who = (): string => `${luck.of(["Ms", "Mr"])} ${luck.name()}`;
  const hour = (): string => `${luck.between(10, 23)}:${luck.between(10, 59)}`;
  const form = (): string => luck.of([`${luck.name()}-${luck.name(1)}`, `${luck.name()} ${luck.word()}`, luck.word(3)]);
  const amount = (): number => luck.between(120, 9900);

  const wire = (): void => {
    const id = `N-${30 + stories.length * 4 + luck.between(0, 3)}`;
    const names = luck.shuffled(figures).slice(0, 3);
    const numbers = new Map(names.map((name) => [name, new Fact(`${name} of ${id}`, amount())]));
    const byline = new Fact(`byline of ${id}`, who());
    stories.push({ id, numbers, byline, code: new Fact(`code of ${id}`, luck.code()), isFiled: false });
    texts.set(`open_story ${id}`, storyText(luck, id, plannedOf(byline), numbers));
    const ways = [`${id} came over the wire. Open it.`, `${filler(luck, talk, 2)} Anyway, there is ${id}; read it.`];
    reads(agenda, luck.of(ways), "open_story", { story: id });
  };

  let pages = 0;
  const stylePage = (): void => {
    const page = String(++pages);
    const own = Array.from({ length: 4 }, () => {
      const name = luck.word();
      return { name, page, form: new Fact(`spelling of ${name}`, form()) };
    });
    terms.push(...own);
    const said = own.map(({ name, form: fact }) => spelling.say(luck, { of: name, value: plannedOf(fact) }));
    texts.set(`style_page ${page}`, `STYLE SHEET, PAGE ${page}\n\n${prose(luck, said, talk, luck.between(6, 20))}`);
    const text = `Page ${page} of the style sheet is printed. Read it.`;
    reads(agenda, text, "style_page", { page });
  };

  let versions = 0;
  const changelog = (): void => {
    const version = `2.${++versions}`;
    const news = new News(luck);
    for (const { name, form: fact } of luck.shuffled(terms).slice(0, 2))
      news.change(spellingAgain, fact, form, { of: name, n: String(luck.between(100, 999)) });
    const other = Array.from({ length: luck.between(14, 110) }, () => `- ${filler(luck, talk, 1)}`);
    const lines = luck.shuffled([...news.said, ...other]);
    texts.set(`style_changelog ${version}`, `# Changelog of the style sheet\n\n## ${version}\n\n${lines.join("\n")}`);
    const text = `Version ${version} of the style sheet is in force. See its changelog.`;
    reads(agenda, text, "style_changelog", { version }, news);
  };

  const mend = (news: News): void => {
    const { id, numbers } = luck.of(stories.slice(-7));
    const [what, fact] = luck.of([...numbers]);
    news.change(figureAgain, fact, amount, { what, of: id, who: who() });
  };

  let mails = 0;
  const mail = (): void => {
    const number = String(++mails);
    const news = new News(luck);
    for (let at = luck.between(1, 2); at > 0; at--) mend(news);
    const head = `From: ${luck.word()}@${luck.word()}.example\nSubject: ${luck.word()} and ${luck.word()}\n\n`;
    texts.set(
      `read_mail ${number}`,
      `${head}${wrapped(prose(luck, news.said, talk, luck.between(6, 18)))}\n\n${luck.name()}`,
    );
    const text = luck.of([`Mail ${number} is in the desk's box.`, `A stringer wrote mail ${number}; read it.`]);
    reads(agenda, text, "read_mail", { number }, news);
  };

  const tell = (): void => {
    const news = new News(luck);
    const open = stories.filter((one) => !one.embargo);
    const held = stories.filter((one) => one.embargo);
    const kind = luck.between(0, 3);
    if (kind === 0) {
      const { name, form: fact } = luck.of(terms);
      const desk = luck.of(desks);
      if (!exceptions.has(`${name} ${desk}`)) {
        const own = new Fact(`spelling of ${name} on the ${desk} desk`, plannedOf(fact));
        exceptions.set(`${name} ${desk}`, own);
        news.change(exception, own, form, { of: name, desk });
      }
    }
    if (kind < 2 && held.length > 0) {
      const { id, embargo: fact } = luck.of(held);
      news.change(embargoAgain, fact as Fact, hour, { of: id });
    }
    if (kind === 2) mend(news);
    if (open.length > 0) {
      const story = luck.of(open);
      story.embargo = new Fact(`embargo of ${story.id}`, hour());
      news.said.push(embargo.say(luck, { of: story.id, value: plannedOf(story.embargo) }));
    }
    if (news.said.length === 0) mend(news);
    agenda.tell(prose(luck, news.said, talk, luck.between(0, 7)), news.before);
  };

  const tape = (): void => {
    const story = luck.of(stories.filter(({ speaker }) => !speaker));
    const { id } = story;
    const lengths = luck.shuffled(Array.from({ length: luck.between(14, 54) }, (_, at) => 11 + at * 4));
    const speakers = lengths.map(who);
    story.speaker = new Fact(`speaker for ${id}`, speakers[lengths.indexOf(Math.max(...lengths))] as string);
    const print = lengths.map(
      (words, at) =>
        `${String(at).padStart(2, "0")}:${luck.between(10, 59)} ${speakers[at]} (${words} words): ${filler(luck, talk, 1)}`,
    );
    tapes.set(id, [`tape of ${id}, plays once\n\n${print.join("\n")}`]);
    const text = `There is a tape for ${id}. Hear it and pick whoever speaks the longest; we quote them later.`;
    reads(
      agenda,
      text,
      "play_tape",
      { story: id },
      {
        answer: (result) => picked.say(luck, { of: id, value: topOf(result, /(M[rs] \w+) \((\d+) words\)/g) }),
      },
    );
  };

  const again = (story: string): { tool: string; args: Record<string, string> } => ({
    tool: "open_story",
    args: { story },
  });
  const typeset = (): void => {
    const { id, numbers, byline } = luck.of(stories);
    const [what, fact] = luck.of([...numbers]);
    act(
      "set_box",
      { story: id },
      luck.of([
        `Set the box for ${id}: its ${what}, and the byline.`,
        `I need a box on ${id}, with the ${what} as we know it now and who wrote it.`,
      ]),
      {
        figure: { fact, need: need(`${what} ${id}`, id, what, again(id)) },
        byline: want(byline, `byline ${id}`, id, "byline", again(id)),
      },
    );
  };

  const caption = (): void => {
    const { name, page, form: fact } = luck.of(terms);
    const chosen = luck.chance(0.5) ? [...exceptions.keys()].find((key) => key.startsWith(`${name} `)) : undefined;
    const desk = chosen?.split(" ")[1] ?? luck.of(desks);
    const own = exceptions.get(`${name} ${desk}`);
    const rule = `spelling ${name}`;
    const lookUp = need(`${rule} on ${desk}`, name, "spelling", { tool: "style_page", args: { page } });
    act(
      "write_caption",
      { desk, about: name },
      `Write a caption for the ${desk} desk about the ${name} (page ${page} of the style sheet had it), spelled as the ${desk} desk has to.`,
      { spelled: { fact: own ?? fact, need: { ...lookUp, rule } } },
    );
  };

  const file = (): void => {
    const story = luck.of(stories.filter((one) => one.embargo));
    const { id, embargo: fact, code } = story;
    const before = story.isFiled ? code.plan(luck.code()) : undefined;
    story.isFiled = true;
    act(
      "file_story",
      { story: id },
      `File ${id} for the hour at which it may be seen.`,
      { hour: want(fact as Fact, `embargo ${id}`, id, "embargo hour") },
      before,
    );
  };

  const takeBack = (): void => {
    const filed = stories.filter(({ isFiled }) => isFiled);
    if (filed.length === 0) return file();
    const { id, code } = luck.of(filed);
    act("take_back", { story: id }, `The lawyers want ${id} back. Take it off, with its code.`, {
      code: want(code, `code ${id}`, id, "recall code receipt"),
    });
  };

  const quote = (): void => {
    const { id, speaker } = luck.of(stories.filter((one) => one.speaker));
    act("quote", { story: id }, `Now quote the speaker whom you picked for ${id}.`, {
      speaker: want(speaker as Fact, `speaker ${id}`, id, "longest quote tape pick"),
    });
  };

  for (const begin of [wire, stylePage, tell, wire, tape]) begin();
  const turns = agenda.fill(
    size,
    woven(
      [wire, tell, mail, changelog, tape, wire, tell, stylePage, mail],
      [typeset, caption, file, caption, quote, takeBack],
    ),
  );
  return {
    system,
    tools: {
      open_story: ["A story as it was wired", "story"],
      style_page: ["A page of the style sheet", "page"],
      style_changelog: ["What a version of the style sheet changed", "version"],
      read_mail: ["A mail to the desk", "number"],
      play_tape: ["Plays a tape, once", "story"],
      set_box: ["Sets a box beside a story", "story", "figure", "byline"],
      write_caption: ["Writes a caption", "desk", "about", "spelled"],
      file_story: ["Files a story for an hour", "story", "hour"],
      take_back: ["Takes a filed story back", "story", "code"],
      quote: ["Quotes a speaker", "story", "speaker"],
    },
    turns,
    reading: newsroomReading,
    run: (tool, args) => {
      const [first = ""] = Object.values(args);
      if (tool === "play_tape") return tapes.get(first)?.shift() ?? `<error>tape of ${first} is blank</error>`;
      const code = stories.find(({ id }) => id === first)?.code.now;
      if (tool === "file_story")
        return `<receipt story="${first}">\n  <filed>yes</filed>\n  <recall-code>${code}</recall-code>\n</receipt>`;
      return texts.get(`${tool} ${first}`) ?? receipt(`<ok tool="${tool}"/>`);
    },
  };
}
