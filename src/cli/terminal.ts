/**
 * The last writer before the terminal. Whatever a command writes passes here, so none can forget to make text printable;
 * only sequences that this process made itself reach the terminal.
 */
import { randomInt } from "node:crypto";
import pico from "picocolors";
import { printableLines } from "../printable.ts";
import type { CliIo, CliStream } from "./io.ts";

/** Parameters that mark a sequence as this process's own; the writer takes them out, and no text from outside has them. */
const mark = Array.from({ length: 3 }, () => `${randomInt(1_000, 10_000)};`).join("");
const unmarked = new RegExp(String.raw`\u001b\[(?!${mark})`, "g");
const marked = new RegExp(String.raw`\u001b\[${mark}([\d;]*[A-Za-z])`, "g");

/** A control sequence of the program's own, such as a colour: `\u001b[31m`. It passes the writer. */
export function ownSequences(text: string): string {
  return text.replaceAll(unmarked, `\u001b[${mark}`);
}

/** Text in which only the program's own sequences are left to obey. */
export function cleaned(text: string): string {
  // Split by a pattern with one group: text and sequences take turns.
  return text
    .split(marked)
    .map((piece, place) => (place % 2 === 0 ? printableLines(piece) : `\u001b[${piece}`))
    .join("");
}

type Colour = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

/** Colours for text, which is made printable on the way. Without colour the text alone. */
export function colours(enabled: boolean): Readonly<Record<Colour, (text: string) => string>> {
  const { bold, dim, red, green, yellow, blue, magenta, cyan } = pico.createColors(enabled);
  const own =
    (paint: (text: string) => string) =>
    (text: string): string =>
      ownSequences(paint(printableLines(text)));
  return {
    bold: own(bold),
    dim: own(dim),
    red: own(red),
    green: own(green),
    yellow: own(yellow),
    blue: own(blue),
    magenta: own(magenta),
    cyan: own(cyan),
  };
}

const raw = new WeakMap<CliStream, CliStream>();

/** Streams whose text is made printable as it is written. */
export function printableIo({ stdout, stderr, env, now }: CliIo, debug = false): CliIo {
  return { stdout: guarded(stdout), stderr: guarded(stderr), env, ...(now && { now }), debug };
}

function guarded(stream: CliStream): CliStream {
  const guard: CliStream = {
    write: (text) => stream.write(cleaned(text)),
    get isTTY() {
      return stream.isTTY ?? false;
    },
    get columns() {
      return stream.columns as number;
    },
  };
  raw.set(guard, stream);
  return guard;
}

/** The stream behind the writer, for what draws on the screen itself. Its text must be printable already. */
export function rawStream(stream: CliStream): CliStream {
  return raw.get(stream) ?? stream;
}
