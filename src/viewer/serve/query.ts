/** The parameters of a request, each checked by its kind; a wrong one is told with what fits. */
import { WindrowError } from "../../errors.ts";
import { checkGiven, kinds } from "../../window/options.ts";

/** A range of numbers that a parameter may have. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** The query of one request. */
export class QueryParameters {
  readonly #route: string;
  readonly #given: URLSearchParams;

  /**
   * @param known - the names that the route takes
   * @throws WindrowError `bad-option` for a name that it does not take, and for one that is given twice
   */
  constructor(route: string, given: URLSearchParams, known: readonly string[]) {
    this.#route = route;
    this.#given = given;
    checkGiven(route, Object.fromEntries(given), Object.fromEntries(known.map((name) => [name, kinds.text])));
    const twice = known.find((name) => given.getAll(name).length > 1);
    if (twice !== undefined) throw this.#wrong(twice, "given once");
  }

  /**
   * A whole number; undefined where it is not given.
   *
   * @throws WindrowError `bad-option`
   */
  number(name: string, { least, most }: Bounds): number | undefined {
    const text = this.#given.get(name);
    if (text === null) return undefined;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw this.#wrong(name, `a whole number from ${least} to ${most}`);
  }

  /**
   * A text; undefined where it is not given.
   *
   * @throws WindrowError `bad-option` for one that is empty or too long
   */
  text(name: string, most: number): string | undefined {
    const text = this.#given.get(name);
    if (text === null) return undefined;
    if (text.length > 0 && text.length <= most) return text;
    throw this.#wrong(name, `a text of 1 to ${most} characters`);
  }

  /**
   * The range `from` to `to`, both of which are needed and belong to it.
   *
   * @throws WindrowError `bad-option`, also for a range of more than `longest`
   */
  range(longest: number, least = 1): { readonly from: number; readonly to: number } {
    const bounds = { least, most: 1e12 };
    const [from, to] = [this.number("from", bounds), this.number("to", bounds)];
    if (from === undefined || to === undefined) throw this.#wrong("from and to", "two numbers");
    if (to < from || to - from >= longest) throw this.#wrong("from and to", `a range of 1 to ${longest}`);
    return { from, to };
  }

  #wrong(name: string, kind: string): WindrowError {
    return new WindrowError("bad-option", `${this.#route} needs ${name} to be ${kind}.`, { option: name });
  }
}

/**
 * A whole number in a path.
 *
 * @throws WindrowError `bad-option`
 */
export function numberIn(path: string, text: string): number {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new WindrowError("bad-option", `${path} has a whole number from 1 there.`, { path });
}
