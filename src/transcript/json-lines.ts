/** Splits text into lines and parses each, or finds that the whole text is one JSON document. */
import { jsonFault } from "../message/json.ts";
import { closeTorn } from "./torn-json.ts";
import type { Entry, TranscriptProblem } from "./transcript.ts";

/** The contents of a text. */
export interface JsonText {
  readonly entries: readonly Entry[];
  readonly problems: readonly TranscriptProblem[];
  /** The first characters, quoted, for messages. */
  readonly beginning: string;
  /** The number of lines. */
  readonly lines: number;
}

/** The number of lines without JSON after which a text is refused. */
const linesBeforeRefusal = 1_000;

/**
 * Takes text in pieces. Pieces of a line are joined at its end, so a long line costs about twice its size, and a long
 * file no more than its longest line and the parsed values.
 */
export class JsonLines {
  /** The reason to stop reading, once there is one. */
  refusal: string | undefined;
  readonly #maxLength: number;
  readonly #entries: Entry[] = [];
  readonly #problems: TranscriptProblem[] = [];
  #mode: "unknown" | "lines" | "document" = "unknown";
  #beginning = "";
  #pending = "";
  #overlong = false;
  #line = 0;

  /** @param maxLength - characters a line (or the document) may have at most */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The number of finished lines. */
  get count(): number {
    return this.#line;
  }

  /** Takes the next piece. */
  push(piece: string): void {
    if (piece === "" || this.refusal !== undefined) return;
    const text = this.#beginning === "" ? piece.replace(/^\uFEFF/, "") : piece;
    if (this.#beginning === "") this.#begin(text);
    let start = 0;
    while (this.#mode !== "document") {
      const end = text.indexOf("\n", start);
      if (end < 0) break;
      this.#hold(text.slice(start, end));
      start = end + 1;
      this.#endLine("\n");
    }
    this.#hold(text.slice(start));
    if (this.#entries.length === 0 && this.#problems.length >= linesBeforeRefusal) {
      this.refusal = `none of its first ${linesBeforeRefusal} lines is JSON; it begins ${this.#quoted()}`;
    }
  }

  /** Ends the text. */
  end(): JsonText {
    if (this.#mode !== "document" && (this.#pending !== "" || this.#overlong)) this.#endLine("");
    if (this.#mode === "document") this.#endDocument();
    return { entries: this.#entries, problems: this.#problems, beginning: this.#quoted(), lines: this.#line };
  }

  #begin(text: string): void {
    this.#beginning = text.slice(0, 60);
    if (text.includes("\0") && !/^\s*[[{]/.test(text)) this.refusal = `it is binary; it begins ${this.#quoted()}`;
  }

  #quoted(): string {
    return JSON.stringify(this.#beginning);
  }

  #hold(text: string): void {
    if (this.#overlong) return;
    if (this.#pending.length + text.length <= this.#maxLength) this.#pending += text;
    else if (this.#mode === "document")
      this.refusal = `it is one JSON document of more than ${this.#maxLength} characters`;
    else [this.#pending, this.#overlong] = ["", true];
  }

  #endLine(newline: "\n" | ""): void {
    const line = this.#pending;
    if (this.#mode === "unknown" && !this.#overlong && /^\s*[[{]/.test(line) && !this.#beginsLines(line)) {
      this.#mode = "document";
      this.#pending += newline;
      return;
    }
    this.#pending = "";
    this.#line++;
    if (this.#overlong) this.#complain(`the line has more than ${this.#maxLength} characters`);
    else if (/\S/.test(line)) this.#take(line, newline === "");
    this.#overlong = false;
  }

  /** Whether a first line begins JSON lines: it is a whole object. Anything else may be a document. */
  #beginsLines(line: string): boolean {
    return /^\s*\{/.test(line) && parse(line) !== undefined;
  }

  #take(line: string, last: boolean): void {
    this.#mode = "lines";
    const value = parse(line);
    if (value !== undefined) this.#add(value.json);
    else if (last) this.#complain("the file ends in the middle of this line");
    else this.#complain(`no JSON; the line begins ${JSON.stringify(line.slice(0, 40))}`);
  }

  #add(value: unknown): void {
    const fault = jsonFault(value);
    if (fault === undefined) this.#entries.push({ line: this.#line, value });
    else this.#complain(`the JSON cannot be used: ${fault}`);
  }

  #complain(problem: string): void {
    this.#problems.push({ line: this.#line, problem });
  }

  #endDocument(): void {
    const text = this.#pending;
    const value = parse(text);
    if (value !== undefined) {
      this.#line = 1;
      this.#add(value.json);
      return;
    }
    const lines = text.split("\n");
    const filled = lines.filter((line) => /\S/.test(line));
    const whole = filled.filter((line) => /^\s*\{/.test(line) && parse(line) !== undefined);
    const mended = whole.length * 2 < filled.length || whole.length === 0 ? parse(closeTorn(text)) : undefined;
    if (mended !== undefined) {
      this.#line = 1;
      this.#add(mended.json);
      this.#line = lines.length;
      this.#complain("the JSON document ends or breaks off before its end; what is whole before that was read");
      return;
    }
    lines.forEach((line, index) => {
      this.#line++;
      if (/\S/.test(line)) this.#take(line, index === lines.length - 1);
    });
  }
}

function parse(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
