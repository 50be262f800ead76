/** Texts in place of a secret that are none: templates, types, code, words, fillers. */
import { isFiller } from "./rules.ts";

/** Words that name a type, a constant, or the absence of a value. */
const words = new Set(
  (
    "string str text bytes byte buffer any unknown never void number int integer bool boolean object array list dict map set char " +
    "varchar uuid none null nil undefined true false yes no on off empty unset default auto inherit optional required missing " +
    "invalid valid hidden masked redacted removed encrypted sensitive secret secrets token tokens password passwords passwd pwd pass " +
    "passphrase pw key keys value values user username login name admin root guest example examples sample changeme change-me change_me " +
    "changeit todo tbd fixme foo bar baz test testing dummy placeholder prompt ask env file path vault self this new old current " +
    "confirm hash hashed plain plaintext generated random enabled disabled private public readonly required: failed ok error success " +
    "successful denied expired incorrect wrong correct reset updated changed set provided authentication authenticated credentials " +
    "credential email identifier keyword passwordless stdin stdout interactive external internal static dynamic implicit explicit " +
    "function async await return import from require types.string const let var and or not if else the a an is in of for with to by " +
    "basic bearer digest oauth oauth2 oidc saml ldap sso jwt apikey api_key api-key my-secret mysecret my-password mypassword my-token " +
    "mytoken password123 hunter2 abc123 letmein type varchar2 charfield textfield secretstr securestring"
  ).split(" "),
);

const typeName =
  /^(?:Optional|Option|List|Array|Promise|Secret|Secure|Sensitive|Nullable|Maybe|Union|Vec|Arc|Box|Rc|Ref|Partial|Readonly|Record|Box|Mapped|Output|Input|Annotated|Literal)\w{0,20}[<[(]|^(?:&?'?(?:static )?(?:mut )?str|Secret\w{0,10}|\w{0,12}String|\[\]byte|\w{1,20}\[\]|char\*?|\w{2,20}Field)$/;

const template =
  /^\$\w+$|^\$[A-Za-z_]\w*(?:->|\[|::|\.[a-z])|^%\w+%$|^%[sdvq]$|^<[^<>]*>$|^\[[^\]]*\]$|^\{[^}]*\}$|^__\w+__$|^@\w+@$|^:\w+$|^:'|^\?$|^![A-Z]?[a-z]\w+|^[&*][a-z]\w+$|^#\{|^\$\{?[A-Z_]+\b|^[<({[]|^env[.:(]|^file:|^vault:|^op:\/\/|^ref\+/;

const inside =
  /\$\{[^}]{0,80}\}|\{\{[^}]{0,80}\}\}|^\{\{|\}\}$|<%|%\(\w+\)s|\$\([a-z]|#\{\w|\$\[\[|\{[a-z_][\w.]{2,40}\}|<[a-z][\w-]{2,40}>/i;

const saysSo =
  /^(?:<|\[)?(?:your?|my|the|some|an?|insert|enter|put|replace|use|add)[-_ .](?:[a-z]+[-_ .])*[a-z0-9]+|your[-_ ]?\w{0,12}[-_ ]?(?:here|key|token|secret|password)|example|redacted|placeholder|change[-_ ]?me|changeit|dummy|^sample|replace[-_ ]?(?:me|with|this)|not[-_]?a[-_]?real|^fake|^mock|goes[-_ ]here|to[-_]be[-_]|\bTODO\b/i;

/** Whether a text is a placeholder for a value: a template, a filler, a word that says so. */
export function isStandIn(value: string): boolean {
  return (
    words.has(value.toLowerCase()) ||
    /^(.)\1*$/.test(value) ||
    /^[*•.xX#?_-]+$/.test(value) ||
    (value.length < 64 && isFiller(value) && /[xX]{5}|[*.#]{3,}$|^[*.#]{3}/.test(value)) ||
    (value.length < 64 && saysSo.test(value)) ||
    ((template.test(value) || inside.test(value) || typeName.test(value)) &&
      !isMade(value.replaceAll(/\$\{[^{}]{2,80}\}|\{\{[^{}]*\}\}/g, ""))) ||
    /\\[sdwb]|\(\?[:=!<]|[\])]\{\d/.test(value) ||
    /^[x*!]:\d/.test(value) ||
    /^(?:1234567890?|0123456789|12345678?|abcdef\w*|abc123\w{0,3})$/i.test(value)
  );
}

/** Whether an unquoted text is code: a call, a path through objects, an operator. */
export function isCode(value: string): boolean {
  if (isMade(value) && signsOf(value) >= 2) return false;
  if (/^[A-Z][a-z]\w{1,40}<[A-Z]\w/.test(value)) return true;
  const call = /^(?:await|new|!)?[A-Za-z_$][\w$.:>?!-]{0,80}[([]/.exec(value)?.[0];
  if (call !== undefined && (isWordy(call) || /^[\w$.]{1,12}(?:\([^()]*\)|\[[^[\]]*\])[;,]?$/.test(value))) return true;
  if (/^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][\w$]*)+[!;,?]?$/.test(value))
    return (
      isWordy(value) || /^(?:self|this|process|os|env|config|var|local|params|settings|args|data|module)\b/.test(value)
    );
  return /^(?:=>|&&|\|\||[<>=!]=|lambda\b)/.test(value);
}

const consonants = /[bcdfghjklmnpqrstvwxz]{5}/i;

/**
 * Whether a generator made a text: 12 characters and more, small letters, capitals and others, and hardly a
 * pronounceable run. Signs of templates and code count as ordinary signs.
 */
export function isMade(value: string): boolean {
  if (value.length < 12 || !/[a-z]/.test(value) || !/[A-Z]/.test(value) || !/[^A-Za-z]/.test(value)) return false;
  if (isFiller(value) || new Set(value).size < value.length / 2) return false;
  let [letters, spoken] = [0, 0];
  for (const [run] of value.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)) {
    letters += run.length;
    if (run.length >= 3 && /[aeiouy]/i.test(run) && !consonants.test(run)) spoken += run.length;
  }
  return spoken <= letters * 0.4;
}

/** The number of different signs in a text that calls and paths do not have. */
export function signsOf(value: string): number {
  return new Set(value.replaceAll(/[\w()[\].,'"]/g, "")).size;
}

/**
 * Whether a text consists of words, as names, paths and sentences do: most of its letters stand in pronounceable runs
 * of three or more.
 */
export function isWordy(value: string): boolean {
  const pieces =
    (value.includes("$") ? value.replaceAll(/(?<=[a-z])\$\d(?=\W|$)/g, "") : value).match(
      /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\w\s./:-]/g,
    ) ?? [];
  let [letters, spoken, short, digits, signs] = [0, 0, 0, 0, 0];
  for (const piece of pieces) {
    if (/\d/.test(piece)) digits += 1;
    else if (!/[A-Za-z]/.test(piece)) signs += 1;
    else {
      letters += piece.length;
      if (piece.length >= 3 && /[aeiouy]/i.test(piece) && !consonants.test(piece)) spoken += piece.length;
      else if (piece.length <= 2) short += 1;
    }
  }
  if (letters === 0) return false;
  const groups = pieces.length - digits - signs;
  const separators = value.match(/[_\s./:-]/g)?.length ?? 0;
  if (digits > 1 + separators) return false;
  return signs <= 1 && digits <= 1 + groups / 3 && short <= groups / 2 && spoken >= letters * 0.75;
}

/** The number of character classes in a text: small letters, capitals, digits, signs. */
export function classesOf(value: string): number {
  return [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((one) => one.test(value)).length;
}
