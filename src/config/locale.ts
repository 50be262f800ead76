/** The languages of prompts, markers and labels. */
import { WindrowError } from "../errors.ts";

/** English, Japanese or Simplified Chinese. */
export type Locale = "en" | "ja" | "zh";

/** Every language that Windrow writes. */
export const locales: readonly Locale[] = ["en", "ja", "zh"];

/**
 * The language for people: the one asked for, else that of `WINDROW_LANG`, else the system's (`LC_ALL`, `LC_MESSAGES`,
 * `LANG`, the first that is set), else English.
 *
 * @param asked - a language by its name, for example from `--lang`
 * @throws WindrowError `bad-option` for a language asked for, by hand or in `WINDROW_LANG`, that is none of {@link locales}
 */
export function localeOf(asked: string | undefined, environment: Readonly<Record<string, string | undefined>>): Locale {
  const named = asked ?? (environment["WINDROW_LANG"] || undefined);
  if (named !== undefined) {
    const known = localeIn(named);
    if (known) return known;
    throw new WindrowError("bad-option", `There is no language "${named}"; there are ${locales.join(", ")}.`, {
      name: named,
      known: locales,
    });
  }
  const system = environment["LC_ALL"] || environment["LC_MESSAGES"] || environment["LANG"] || "";
  return localeIn(system) ?? "en";
}

/** `ja_JP.UTF-8` is `ja`. */
function localeIn(name: string): Locale | undefined {
  const language = /^[a-z]+/i.exec(name)?.[0].toLowerCase();
  return locales.find((known) => known === language);
}
