/** Values of names in a text, wherever a language puts them: behind a sign, in quotes, a tag, a cell, a line or a sentence. */
import { isNameCode } from "./names.ts";
import type { Name, NameKind } from "./names.ts";
import type { Standing } from "./named-values.ts";
import { beforeMatch, matchAt } from "./rules.ts";
import { isCode, isMade, isWordy } from "./stand-ins.ts";

/** A value in a text, and its position there. */
export interface Given {
  readonly start: number;
  readonly value: string;
  readonly standing: Standing;
}

/** Most characters of a value in quotes or on a line. A longer one counts only as a single run. */
const longestLook = 512;
const longestRun = 4_096;

const closing = /\\{0,7}["'`]?[\])]?/y;
const sign = /[ \t]{0,40}(?:=>|:=|\?=|\+=|=(?!=)|:(?!:)|(?<=[A-Z_]{4})=(?==[^\s=]{11}))(?:\*\*)?[ \t]{0,40}/y;
const typed = /[ \t]{0,4}\??:[ \t]?[&A-Za-z][\w.<>[\]|' ]{0,40}?[ \t]{0,2}=[ \t]{0,2}(?=b?["'`])/y;
const typedBefore = /(?:\[\])?[ \t](?:string|String|str)[ \t]{0,4}=[ \t]{0,4}(?=["'`])/y;
const tagEnd = /(?:[ \t][^<>\n]{0,80})?>/y;
const comma = /\\{0,7}["'][ \t]{0,20},[ \t]{0,20}(?=\\{0,7}["'])/y;
const row = /`?\*{0,2}[ \t]{0,60}\|[ \t]{0,20}`?/y;
const prose =
  /[ \t](?:is|was|will be|is now|is set to|has been set to|was reset to|changed to|reset to|set to)(?:[ \t]now)?:?[ \t]{1,2}/y;
const code =
  /(?:await|new|async|function|typeof|return|lambda|yield|self|this|process|params|request|req|user|settings|os)[\s.[(]|[a-z_$][\w$]{2,40}(?:\.[A-Za-z_$][\w$]{1,40}){0,4}\((?=[)\w"' ])|[a-z_]{3,20}\[["']/y;
const anotherHere =
  /[^\s=:&]{0,24}?(?:pass|pwd|secret|token|key|cred|auth|psk|_pw|salt|mnemonic)[\w.-]{0,20}["']?[=:]/iy;
const spaces = /[ \t]{1,60}/y;
const quote = /(?:[NbruR@])?(\\{0,7}["'`])/y;

/** The value that a text gives to a name; undefined where it gives none. */
export function givenAfter(text: string, name: Name, kind: NameKind): Given | undefined {
  const next = text[name.end] ?? "";
  // A word follows most names. Then only a sentence, a column or an option gives a value.
  const isApart = next === " " && isNameCode(text.charCodeAt(name.end + 1));
  const close = isApart ? "" : (matchAt(closing, text, name.end)?.[0] ?? "");
  const end = name.end + close.length;
  const isTag = text[name.start - 1] === "<" && matchAt(tagEnd, text, name.end);
  if (isTag) return upTo(text, name.end + isTag[0].length, "<", "quoted");
  const set =
    (isApart ? undefined : (matchAt(typed, text, name.end) ?? matchAt(sign, text, end))) ??
    matchAt(typedBefore, text, name.end);
  if (set) return valueAt(text, name, set.index + set[0].length, set[0].includes("=") ? "=" : ":", kind);
  if (close !== "") {
    const listed = matchAt(comma, text, name.end);
    // In a list of words the next word is no value: `["password", "invisible"]`.
    if (listed) return quotedAt(text, name.end + listed[0].length, isUpper(name) ? "quoted" : "setting");
  }
  const cell =
    /\|[ \t]{0,20}`?\*{0,2}$/.test(text.slice(Math.max(0, name.start - 24), name.start)) &&
    matchAt(row, text, name.end);
  if (cell) return cellAt(text, name.end + cell[0].length);
  if (close !== "") return undefined;
  const said = matchAt(prose, text, name.end);
  if (said) return saidAt(text, name.end + said[0].length);
  const gap = matchAt(spaces, text, name.end);
  return gap ? apartAt(text, name, name.end + gap[0].length, gap[0], kind) : undefined;
}

function isUpper({ text }: Name): boolean {
  return /^[A-Z][A-Z0-9_]*$/.test(text);
}

/** A value in quotes: up to the same quote, on one line. */
function quotedAt(text: string, at: number, standing: Standing): Given | undefined {
  const open = matchAt(quote, text, at);
  if (!open) return undefined;
  const mark = open[1]!;
  const start = at + open[0].length;
  let end = start;
  for (let escaped = 0; ; escaped++) {
    end = text.indexOf(mark, end);
    if (end < 0 || end - start > longestRun || escaped > 32) return undefined;
    // A quote that a backslash escapes is part of the value.
    if (text[end - 1] !== "\\" || end === start || isEven(text, end - 1)) break;
    end += mark.length;
  }
  const value = text.slice(start, end);
  return value.includes("\n") ? undefined : { start, value, standing };
}

function isEven(text: string, last: number): boolean {
  let count = 0;
  while (text[last - count] === "\\") count += 1;
  return count % 2 === 0;
}

function upTo(text: string, start: number, mark: string, standing: Standing): Given | undefined {
  const end = text.slice(start, start + longestRun).search(new RegExp(String.raw`${mark}|\n`));
  return end <= 0 || text[start + end] !== mark
    ? undefined
    : { start, value: text.slice(start, start + end), standing };
}

/** A run without spaces, at most as long as a line. A longer run must consist of token characters. */
function runAt(text: string, at: number): string {
  const run = matchAt(/[^\s]{1,512}/y, text, at)?.[0] ?? "";
  const line = beforeMatch(run, /\\+[nrt](?![A-Za-z0-9]{0,2}[=:])|\\+u001b|\\+"/).replace(/\\+n.*/s, "");
  if (line.length < longestLook) return line;
  return matchAt(/[\w+/=.~%-]{1,4096}/y, text, at)?.[0] ?? line;
}

function valueAt(text: string, name: Name, at: number, mark: string, kind: NameKind): Given | undefined {
  const block = mark === ":" && matchAt(/[|>][+-]?\d?[ \t]*(?:\n|\\n)[ \t]+/y, text, at);
  if (block) return { start: at + block[0].length, value: runAt(text, at + block[0].length), standing: "line" };
  const quoted = quotedAt(text, at, "quoted");
  if (quoted) return quoted;
  if (/["'`]/.test(text[at] ?? "")) return cutOff(text, at);
  if (matchAt(code, text, at) || matchAt(anotherHere, text, at)) return undefined;
  const run = runAt(text, at);
  if (run === "") return undefined;
  const before = text.slice(Math.max(0, name.start - 64), name.start);
  const last = before.at(-1) ?? "";
  if (/[?&]/.test(last)) return { start: at, value: run.replace(/(?:[&#`]|["'](?!\w)).*/s, ""), standing: "quoted" };
  // In .npmrc the registry's address precedes the name.
  const isLine = opensLine(before) || before.endsWith("/:");
  const isLoud = isUpper(name);
  const isTight = text.slice(name.end, at) === mark;
  const rest = restOf(text, at + run.length);
  const isAlone = rest === "" || /^[#;]|^\/\//.test(rest);
  if (isLine || (isLoud && isTight)) {
    const isSetting = mark === "=" ? isTight || isAlone : isAlone;
    const isEnd = /[,;)]$/.test(run) && !(isLoud && isTight);
    const value = isEnd ? run.replace(/["'`]?[,;)]+$/, "") : run.replace(/(?<=\w)["'\\]+[,\]}]*$/, "");
    if (isCode(value)) return undefined;
    if (kind === "password" && isEnd && isPlainName(value)) return { start: at, value, standing: "bare" };
    const strong =
      isSetting &&
      (!isEnd || isLoud) &&
      (isLoud || !isPlainName(value) || hasSiblings(text, name.start, at + run.length, mark));
    return { start: at, value, standing: strong ? "line" : "bare" };
  }
  if (before.endsWith("--") || /;[ \t]?$/.test(before) || isSettings(before, rest, last)) {
    const cut = settingOf(run, endOf(before, rest));
    return isCode(cut) ? undefined : { start: at, value: cut, standing: "setting" };
  }
  // An unquoted argument of a call is a name: `connect(token: value)`.
  if (last === "(" && mark === ":") return undefined;
  const cut = settingOf(run).replace(/["'`,;)}\]]+$/, "");
  return isCode(cut) ? undefined : { start: at, value: cut, standing: mark === "=" ? "bare" : "setting" };
}

const afterAny = /(?:[,;&](?=[A-Za-z][\w. -]{0,30}=)|["'`](?![\w!@#%^])).*/s;
const afterSemicolon = /(?:;(?=[A-Za-z][\w. -]{0,30}=)|["'`](?![\w!@#%^])).*/s;
const afterSpace = /["'`](?![\w!@#%^]).*/s;

/** The end of a setting: the separator before it, if both sides show it. */
function endOf(before: string, rest: string): RegExp {
  if (before.endsWith(";")) return afterSemicolon;
  return /[A-Za-z_]=[^\s,;]+ $/.test(before) && /^[A-Za-z][\w-]*=/.test(rest) ? afterSpace : afterAny;
}

/** A setting's value, up to the next setting or the end of all settings. */
function settingOf(run: string, end = afterAny): string {
  return run.replace(end, "").replace(/[;,]+$/, "");
}

/** Whether other settings surround a value, as in `host=db user=app password=… dbname=x`, not arguments of a call. */
function isSettings(before: string, rest: string, last: string): boolean {
  if (!/[\s"'`=,]/.test(last)) return false;
  return /[A-Za-z_]=[^\s,;()"']+[\s,]$|["'=]$/.test(before) || /^[A-Za-z][\w-]*=[^\s=]/.test(rest);
}

/** The rest of a line behind a place, trimmed. */
function restOf(text: string, at: number): string {
  return matchAt(/[^\n\\]{0,120}/y, text, at)?.[0].trim() ?? "";
}

/** A value whose closing quote is missing because the text was cut off. */
function cutOff(text: string, at: number): Given | undefined {
  const run = matchAt(/["'`][^\s"'`]{12,}$/y, text.slice(0, Math.min(text.length, at + longestLook)), at);
  return run && at + run[0].length === text.length
    ? { start: at + 1, value: run[0].slice(1), standing: "setting" }
    : undefined;
}

/** Prefixes of a setting on its line, by tool and language. */
const lineHead =
  /^(?:[\w./-]{1,60}:\d{1,6}[:-]|\s{0,12}\d{1,6}(?:→|\t|:|-|\||[ ]{1,4}))?[ \t>+#;*|$-]{0,48}(?:(?:export|set(?: -\w{1,3})?|setx|declare -x|typeset -x|local|readonly|env|ENV|ARG|SET|-[eE]|--env|let|\$env:)[ \t]?)?["'\\]{0,4}$/;

function opensLine(before: string): boolean {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const escaped = Math.max(line.lastIndexOf("\\n"), line.lastIndexOf("\\r"));
  return (
    (line.length < before.length || before.length < 64 || escaped >= 0) &&
    lineHead.test(escaped < 0 ? line : line.slice(escaped + 2))
  );
}

/** Whether a value is a plain identifier: words of letters and underscores, without a digit. */
function isPlainName(value: string): boolean {
  return /^[A-Za-z_$]+$/.test(value) && isWordy(value);
}

/** Whether neighbouring lines hold settings of a login: a user, a host, a port. */
function hasSiblings(text: string, start: number, end: number, mark: string): boolean {
  const around = text.slice(Math.max(0, start - 300), start) + text.slice(end, end + 300);
  return (
    mark === ":"
      ? /(?:^|\n)[ \t-]*(?:user(?:name)?|login|host(?:name)?|port|database|db(?:name)?|email|adapter|url|account|role|dbname|server)"?:[ \t]+[^\s,;{(]+[ \t]*(?=\n|$)/i
      : /(?:^|\n)[ \t]*(?:\w*user(?:name)?|\w*login|\w*host(?:name)?|\w*port|\w*name|\w*url|\w*server)[ \t]?=[ \t]?[^\s,;{(]+[ \t]*(?=\n|$)/i
  ).test(around);
}

function cellAt(text: string, at: number): Given | undefined {
  const cell = matchAt(/[^\n|]{1,512}/y, text, at)?.[0]
    .trimEnd()
    .replace(/`?\*{0,2}$/, "");
  return cell === undefined ? undefined : { start: at, value: cell, standing: "quoted" };
}

function saidAt(text: string, at: number): Given | undefined {
  const quoted = quotedAt(text, at, "bare");
  if (quoted) return quoted;
  const run = runAt(text, at).replace(/^\*\*/, "");
  return { start: at, value: run.replace(/["'`*]*[.,;:!?)]*["'`*]*$/, ""), standing: "bare" };
}

/** A value after a space: of an option, a setting without a sign, a column, or a sentence. */
function apartAt(text: string, name: Name, at: number, gap: string, kind: NameKind): Given | undefined {
  const before = text.slice(Math.max(0, name.start - 160), name.start);
  const isOption = name.text.startsWith("-") || /(?:^|\s)--?$/.test(before);
  const quoted = quotedAt(text, at, "quoted");
  if (quoted && name.text === "Pass" && !isOption) return { ...quoted, standing: "setting" };
  if (quoted) return isOption || kind === "password" || opensLine(before) ? quoted : undefined;
  const run = runAt(text, at);
  if (!/^[\w!@#$%^&*+/(~]/.test(run) && !isMade(run)) return undefined;
  const value = run.replace(/["'`]+[,)\]}]*$/, "");
  if (isCode(value)) return undefined;
  if (isOption) return gap.length > 1 ? undefined : { start: at, value, standing: "setting" };
  const rest = restOf(text, at + run.length);
  if (opensLine(before.slice(-64)) && rest === "" && (!/[;,{(]$/.test(run) || isMade(run))) {
    const isLogin = /\blogin\s+\S+\s+$/.test(before);
    return { start: at, value, standing: isLogin || /\s$/.test(gap.slice(1)) ? "line" : "setting" };
  }
  if (/\b(?:machine|login)[ \t]+\S+[ \t]+$/.test(before)) return { start: at, value, standing: "line" };
  return kind === "password" && name.text !== "pass"
    ? { start: at, value: value.replace(/[.,;:!?)]+$/, ""), standing: "bare" }
    : undefined;
}
