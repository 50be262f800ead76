/** Options that come from outside, a config file or a command line, for what is made by name. */
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";

/**
 * Checks that options have only known names.
 *
 * @throws WindrowError `bad-option`, with the nearest name
 */
export function checkOptions(owner: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new WindrowError("bad-option", `${owner} has no option "${name}".${nearest(name, known)}`, {
      owner,
      option: name,
      known,
    });
  }
}

/** Something made by name, and the names of the options it takes. */
export interface Named<Made> {
  make(options: object): Made;
  readonly options: readonly string[];
}

/** A maker with the names of its options; the type asks for all of them, so that none is forgotten. */
export function named<Options extends object, Made>(
  make: (options: Options) => Made,
  options: Readonly<Record<keyof Options, true>>,
): Named<Made> {
  return { make: (given) => make(given as Options), options: Object.keys(options) };
}
