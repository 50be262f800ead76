/** Choosing the language of what commands print for people. */
import { Option } from "commander";
import { localeOf, locales } from "../../config/locale.ts";
import type { Locale } from "../../config/locale.ts";
import type { CliIo } from "../io.ts";
import type { Words } from "./words.ts";

/** The words of a language; only that language's file is loaded. */
export async function wordsOf(locale: Locale): Promise<Words> {
  switch (locale) {
    case "en":
      return (await import("./en.ts")).english;
    case "ja":
      return (await import("./ja.ts")).japanese;
    case "zh":
      return (await import("./zh.ts")).chinese;
  }
}

/** The words a command prints: those of `--lang`, else of the environment. */
export async function wordsFor(lang: string | undefined, io: CliIo): Promise<Words> {
  return wordsOf(localeOf(lang, io.env));
}

/** The flag that names the language. */
export function languageOption(): Option {
  return new Option("--lang <language>", "the language of the output (default: WINDROW_LANG, LANG, else en)").choices(
    locales,
  );
}
