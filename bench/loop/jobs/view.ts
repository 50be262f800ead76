/**
 * A window as a person reads it: statements with their place, their speaker and their lines. Nothing of the library is
 * imported; a window that cannot be read here cannot be read by a model.
 */

/** A message of a window as text. */
export interface SeenMessage {
  readonly role: string;
  readonly text: string;
  readonly calls: readonly SeenCall[];
  readonly results: readonly { readonly id: string; readonly text: string }[];
}

/** A call as the window shows it. */
export interface SeenCall {
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Lines that follow each other without a gap, from one source. */
export interface Statement {
  /** The number of the message it is from; a higher one is newer. */
  readonly order: number;
  /** `user`, `agent`, `call`, `file`, or the name of a tool. */
  readonly who: string;
  /** The rest of its label: a call's arguments, a file's path. */
  readonly about: string;
  readonly lines: readonly string[];
  /** All lines from the same message that stand together with it, gaps left out. */
  readonly block: readonly string[];
  /** Whether the message itself stands in the window, and not an excerpt of it. */
  readonly live: boolean;
  /** How it came into the window. */
  readonly by: "window" | "record" | "recall";
}

/** How the agent came to a value. */
export interface Finding {
  readonly key: string;
  readonly where: "notes" | "window" | "recall" | "tools" | "nowhere";
  readonly value: string | undefined;
  /** The number of the message that said it. */
  readonly order?: number;
}

const header = /^\[Windrow: a record.*?\(m\d+(?:-m(\d+))?[,)]/;
const recallName = "recall";

/** The window of one call. */
export class View {
  /** The newest first. */
  readonly statements: readonly Statement[];
  /** Whether the agent may bring back what left. */
  readonly hasRecall: boolean;
  /** The agent's own words since the user's newest message, oldest first. */
  readonly ownWords: readonly string[];
  /** How the agent came to what it needed on this call; for people who look into a loss. */
  readonly findings: Finding[] = [];

  constructor(messages: readonly SeenMessage[], hasRecall: boolean) {
    this.hasRecall = hasRecall;
    const statements: Statement[] = [];
    const calls = new Map<string, SeenCall>();
    const own: string[] = [];
    let order = 0;
    for (const message of messages) {
      if (message.role === "system") continue;
      const covered = header.exec(message.text);
      if (covered && message.role !== "tool") {
        statements.push(...quoted(message.text, "record"));
        order = Math.max(order, Number(covered[1] ?? order + 1));
        continue;
      }
      order++;
      if (message.role === "user") own.length = 0;
      else if (message.text !== "") own.push(message.text);
      for (const call of message.calls) calls.set(call.id, call);
      statements.push(...said(message, order, calls));
    }
    this.ownWords = own;
    // Sorting is stable: of statements of one message the last stands first.
    this.statements = statements.toReversed().sort((left, right) => right.order - left.order);
  }

  /** The newest statement that something can be read from. */
  newest<T>(read: (statement: Statement) => T | undefined): { readonly value: T; readonly order: number } | undefined {
    for (const statement of this.statements) {
      const value = read(statement);
      if (value !== undefined) return { value, order: statement.order };
    }
    return undefined;
  }
}

function said(message: SeenMessage, order: number, calls: ReadonlyMap<string, SeenCall>): readonly Statement[] {
  const found: Statement[] = [];
  const add = (who: string, about: string, text: string): void => {
    const lines = text.split("\n");
    found.push({ order, who, about, lines, block: lines, live: true, by: "window" });
  };
  if (message.text !== "") add(message.role === "user" ? "user" : "agent", "", message.text);
  for (const { tool, args } of message.calls) {
    if (tool !== recallName) add("call", tool, argumentLines(args));
  }
  for (const { id, text } of message.results) {
    const call = calls.get(id);
    if (call?.tool === recallName) found.push(...quoted(text, "recall"));
    else if (text.startsWith("[Windrow")) found.push(...stub(text, order, call));
    else add(call?.tool ?? "tool", call ? Object.values(call.args).join(" ") : "", text);
  }
  return found;
}

function argumentLines(args: SeenCall["args"]): string {
  return Object.entries(args)
    .map(([key, value]) => `${key}: ${String(value)}`)
    .join("\n");
}

/** An excerpt in the place of a result. */
function stub(text: string, order: number, call: SeenCall | undefined): readonly Statement[] {
  const about = call ? Object.values(call.args).join(" ") : "";
  return pieces(text.split("\n").slice(1), { order, who: call?.tool ?? "tool", about, by: "record" });
}

const fileTitle = /^--- (\S+|".*") \(m(\d+)(?:-m(\d+))?(?:[,;].*)?\)$/;
const recordMark = /^\[m(\d+)(?:[-, ]+m\d+)*(?: ([^\]]*))?\]/;

/** The excerpts in a record or in what recall answered: quoted lines under marks. */
function quoted(text: string, by: "record" | "recall"): readonly Statement[] {
  const found: Statement[] = [];
  let lines: string[] = [];
  let source: Source | undefined;
  let users = false;
  const close = (): void => {
    if (source) found.push(...pieces(lines, source));
    lines = [];
  };
  for (const line of text.split("\n")) {
    if (line === "" || /^[ |]/.test(line) || isGap(line)) {
      lines.push(line);
      continue;
    }
    const file = fileTitle.exec(line);
    const mark = file ? undefined : recordMark.exec(line);
    if (!file && !mark && !line.startsWith("--- ")) continue;
    close();
    if (file) source = { order: Number(file[3] ?? file[2]), who: "file", about: file[1] ?? "", by };
    else if (mark) source = { order: Number(mark[1]), ...speaker(mark[2] ?? (users ? "user" : "")), by };
    else {
      source = undefined;
      users = line.startsWith("--- what the user");
    }
  }
  close();
  return found;
}

type Source = Pick<Statement, "order" | "who" | "about" | "by">;

function speaker(label: string): Pick<Source, "who" | "about"> {
  const [first = "", ...rest] = label.split(" ");
  if (first === "user") return { who: "user", about: "" };
  if (first !== "assistant") return { who: first, about: rest.join(" ") };
  return rest.length === 0 ? { who: "agent", about: "" } : { who: "call", about: rest.join(" ") };
}

function isGap(line: string): boolean {
  return line.startsWith("…") || line.startsWith("[…");
}

/** Quoted lines as one statement for each stretch between gaps. */
function pieces(lines: readonly string[], source: Source): readonly Statement[] {
  const stretches: string[][] = [[]];
  for (const line of lines) {
    if (isGap(line)) stretches.push([]);
    else stretches.at(-1)?.push(line.slice(1));
  }
  const block = stretches.flat();
  return stretches
    .filter((stretch) => stretch.length > 0)
    .map((stretch) => ({ ...source, lines: stretch, block, live: false }));
}
