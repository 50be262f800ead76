/** The checks of a model's answer; an answer that fails one is no summary. */
import type { Locale } from "../../config/locale.ts";
import type { ModelAnswer } from "../../model/model.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { strikeClaims } from "./claims.ts";
import type { SummaryFailure } from "./summary.ts";

/** The facts that an answer is checked by. */
export interface CheckOptions {
  /** Most tokens of the summary. */
  readonly maxTokens: number;
  /** Tokens of what it stands for; it has to be smaller. */
  readonly sourceTokens: number;
  /** The user's texts, and a previous summary's text. */
  readonly said: readonly string[];
  /** Facts it has to name as they stand; without one of them it fails. */
  readonly facts: readonly string[];
  /** Paths it has to name; those it leaves out are added to it. */
  readonly paths: readonly string[];
  readonly locale: Locale;
  readonly counter: TokenCounter;
}

/** An answer that passed, as it may be kept, or why not. */
export type Checked =
  | { readonly ok: true; readonly text: string; readonly tokens: number; readonly struck: readonly string[] }
  | { readonly ok: false; readonly failed: SummaryFailure; readonly message: string };

/** Ways in which models write tool calls into their text. */
const toolSyntax =
  /<\|?(?:tool_calls?|function_calls?|tool_use|invoke|antml|python_tag)\b|<｜tool|\[TOOL_CALLS\]|"(?:tool_calls|function_call)"\s*:|^\s*functions\.\w+(?::\d+)?\s*[({<]|^\s*\{\s*"(?:name|tool)"\s*:\s*"[^"]+"\s*,\s*"(?:arguments|parameters|args|input)"/im;

const pathsTitle: Readonly<Record<Locale, string>> = {
  en: "Files changed:",
  ja: "変更したファイル:",
  zh: "已修改的文件：",
};

/** Most paths that a summary has to name: the newest. */
export const mostPaths = 20;

/** Checks an answer, strikes what it makes the user say, and adds the paths it leaves out. */
export function checkSummary(answer: ModelAnswer, options: CheckOptions): Checked {
  const { maxTokens, sourceTokens, counter } = options;
  if (answer.finish !== "stop") return refused("unfinished", `The answer ended with "${answer.finish}".`);
  if (answer.text.trim() === "") return refused("empty", "The answer was empty.");
  if (toolSyntax.test(answer.text)) return refused("tool-syntax", "The answer holds the syntax of tool calls.");
  const { text: told, struck } = strikeClaims(answer.text.toWellFormed().trim(), options.said);
  if (told === "") return refused("empty", "Nothing was left of the answer when unfounded claims were struck.");
  const missing = options.facts.filter((fact) => !names(told, fact));
  if (missing.length > 0) return refused("facts-missing", `The answer leaves out: ${missing.join("; ")}.`);
  const text = withPaths(told, options);
  const tokens = counter.count(text);
  if (tokens > maxTokens) return refused("too-long", `The answer has ${tokens} tokens; the cap is ${maxTokens}.`);
  if (tokens >= sourceTokens) {
    return refused("not-shorter", `The answer has ${tokens} tokens, what it stands for ${sourceTokens}.`);
  }
  return { ok: true, text, tokens, struck };
}

function refused(failed: SummaryFailure, message: string): Checked {
  return { ok: false, failed, message };
}

/** Whether a text names something; line ends and repeated spaces do not matter. */
function names(text: string, fact: string): boolean {
  const flat = (one: string): string => one.normalize("NFKC").replaceAll(/\s+/g, " ").trim();
  return flat(text).includes(flat(fact));
}

/** The newest of the missing paths, as many as the cap leaves room for. */
function withPaths(text: string, { paths, locale, counter, maxTokens, sourceTokens }: CheckOptions): string {
  const missing = paths.filter((path) => !text.includes(path));
  const room = Math.min(maxTokens, sourceTokens - 1);
  for (let first = 0; first < missing.length; first++) {
    const longer = `${text}\n${pathsTitle[locale]} ${missing.slice(first).join(", ")}`;
    if (counter.count(longer) <= room) return longer;
  }
  return text;
}
