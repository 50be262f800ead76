/** Passwords on command lines and in protocol dialogues, recognised by an option or a place. */
import { isSecret } from "./named-values.ts";
import { beforeMatch } from "./rules.ts";
import type { Found, MaskRule } from "./rules.ts";
import { isCode, isMade, isStandIn } from "./stand-ins.ts";

/** Most characters of a command that stand before its password. */
const longestCommand = 200;
const longestAhead = 512;
const longestTool = 24;

/** A value in shell syntax: in quotes, or a run without spaces. */
const shellValue = /\\{0,3}'([^'\n]{1,256})'|\\{0,3}"([^"\n]{1,256}?)\\{0,3}"|([^\s"'`|;&<>][^\s"'`|;&<>]{0,255})/y;

function valueAt(text: string, at: number): Found | undefined {
  shellValue.lastIndex = at;
  const [whole = "", single, double, bare] = shellValue.exec(text) ?? [];
  const value = single ?? double ?? bare;
  if (value === undefined) return undefined;
  const plain = bare === undefined ? value : value.replace(/\\+[nrt"'].*/s, "").replace(/[,)\]}\\]+$/, "");
  if (plain === "") return undefined;
  return { start: at + whole.indexOf(value, whole.length - value.length > 0 ? 1 : 0), length: plain.length };
}

/** A line's end, `;`, `&`, `|` and a backtick. */
const ends: ReadonlySet<number> = new Set([10, 59, 38, 124, 96]);

/** The part of a line before a place that belongs to the same command. */
function commandBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - longestCommand), at);
  let start = before.length;
  while (start > 0 && !ends.has(before.charCodeAt(start - 1))) start -= 1;
  // A backslash continues the command on the next line.
  return start > 1 && before[start - 1] === "\n" && before[start - 2] === "\\" ? before : before.slice(start);
}

function isGiven(text: string, found: Found | undefined): found is Found {
  if (!found) return false;
  const value = text.slice(found.start, found.start + found.length);
  const isQuoted = /["']/.test(text[found.start - 1] ?? "");
  if (isQuoted && isMade(value) && !isStandIn(value)) return true;
  if (value.length < 4 || isStandIn(value) || (!isQuoted && isCode(value)) || /^[-/.]|^\d+:\d+$|\s/.test(value))
    return false;
  return isSecret("password", value, "quoted") || (value.length >= 6 && /[^a-z-]/.test(value) && !/^\w+=/.test(value));
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const mysql = words(
  "mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mariadb mariadb-dump mariadb-admin 7z 7za rar unrar",
);
const login = words(
  "docker podman helm skopeo buildah nerdctl crane oras regctl az oc cf ibmcloud heroku twine conan jf jfrog argocd vault eb pscale bw",
);
const verbs = words("login upload auth user a rt");
const databases = words(
  "sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh cypher-shell clickhouse-client smbmap crackmapexec " +
    "netexec evil-winrm ansible wpscan rcon mcrcon rabbitmqadmin influx ncftp ncftpget ncftpput",
);
const sqlcmd = words("mosquitto_pub mosquitto_sub mosquitto_rr sqlcmd bcp unzip zip ipmitool osql funzip");
const ldap = words("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare exaplus");

/** Options that take a password, with their tools and the words that their line must have. */
const options: readonly {
  readonly option: string;
  readonly of: ReadonlySet<string>;
  readonly with?: ReadonlySet<string>;
  /** The value follows without a space. */
  readonly attached?: true;
}[] = [
  { option: " -p", of: mysql, attached: true },
  { option: " -p", of: words("sshpass"), attached: true },
  { option: " -p ", of: databases },
  { option: " -p ", of: login, with: verbs },
  { option: " -P ", of: sqlcmd },
  { option: " -w ", of: ldap },
  { option: " -s ", of: words("slappasswd") },
  { option: " -a ", of: words("redis-cli redis-benchmark") },
];

/** Words of the tools, and words that must stand with an option. */
const known: ReadonlySet<string> = new Set(options.flatMap(({ of, with: also = [] }) => [...of, ...also]));
const tool = new RegExp(`(?<![\\w-])(?:${[...new Set(options.flatMap(({ of }) => [...of]))].join("|")})(?![\\w-])`);

/** `mysql -pX`, `sshpass -p X`, `docker login -p X`, `redis-cli -a X`, `ldapsearch -w X`. */
export const commandOption: MaskRule = {
  kind: "command-password",
  placeholder: "[COMMAND_PASSWORD]",
  keywords: [...new Set(options.map(({ option }) => option))],
  find(text, at) {
    let said: readonly string[] | undefined;
    let given: Found | undefined;
    for (const { option, of, with: also, attached } of options) {
      const start = at + option.length;
      if (!text.startsWith(option, at) || (attached && /\s/.test(text[start] ?? " "))) continue;
      if (given?.start !== start) given = valueAt(text, start);
      if (!given || given.length < 4) continue;
      said ??= commandBefore(text, at)
        .split(/[\s/"'(]+/)
        .filter((word) => known.has(word));
      if (!said.some((word) => of.has(word))) continue;
      if (also && !said.some((word) => also.has(word))) continue;
      if (isGiven(text, given)) return given;
    }
    if (!given) return undefined;
    // Without a tool on either side, no other option of this command is a password either.
    const isTool = said?.length !== 0;
    return {
      ...given,
      rejected: true,
      ...(!isTool && { length: Math.max(given.length, withoutTool(text, given.start) - given.start) }),
    };
  },
};

/** The length of a command without a tool. */
function withoutTool(text: string, at: number): number {
  const ahead = text.slice(at, at + longestAhead);
  const end = ahead.search(/[\n;&|`]/);
  const rest = end < 0 ? ahead.slice(0, -longestTool) : ahead.slice(0, end);
  const next = tool.exec(rest);
  return at + (next ? next.index : rest.length);
}

/** Phrases before a password. A group that matches rejects the find. */
const phrases: readonly { readonly keyword: string; readonly before: RegExp }[] = [
  {
    keyword: "identified ",
    before: /identified\s+(?:with\s+["'\w-]+\s+)?(?:by|as)\s+(?:password\s+)?(?=\\{0,3}["'])/iy,
  },
  { keyword: "add_user ", before: /add_user\s+["']?[\w.@-]{1,64}["']?\s+/y },
  { keyword: "change_password ", before: /change_password\s+["']?[\w.@-]{1,64}["']?\s+/y },
  { keyword: "set-password ", before: /set-password\s+["']?[\w.@-]{1,64}["']?\s+/y },
  {
    keyword: "htpasswd ",
    before:
      /htpasswd\s+(?:-\w+\s+){0,4}?-\w{0,4}b\w{0,4}\s+(?:-\w+\s+(?:\d+\s+)?){0,4}(?:[^\s-][^\s]*\s+)?["']?[\w.@-]{1,64}["']?\s+(?=[^\s]+\s*(?:$|[\n;&|"'\\]))/y,
  },
  { keyword: "/user:", before: /\/user:[^\s]{1,64}\s+/y },
  { keyword: "net user ", before: /net user\s+[\w.@-]{1,64}\s+/iy },
  {
    keyword: "auth ",
    before:
      /(?<=^|[\n>"$\]]\s?|redis:\d{1,5}> |:\d{4,5}> )AUTH\s+(?:default\s+)?(?!(?:PLAIN|LOGIN|CRAM|XOAUTH|TLS|SSL|NTLM|GSSAPI|DIGEST)\b)/y,
  },
  { keyword: "pass ", before: /(?<=^|[\n>"]\s?|-> |<- )PASS\s+(?=\S{4,}\s*(?:$|[\n\\]))/y },
  { keyword: "auth plain ", before: /AUTH PLAIN\s+/y },
  {
    keyword: "sqlplus ",
    before: /sqlplus\s+(?:-\w+\s+){0,3}[\w.$#-]{1,30}\/(?!pass|pwd|\$|&)(?=[^\s@/]{4,64}(?:@|\s|$))/iy,
  },
  { keyword: " -storepass ", before: / -storepass /y },
  { keyword: " -keypass ", before: / -keypass /y },
  { keyword: "pass:", before: /(?<=-pass(?:in|out)?\s{1,2}["']?)pass:/y },
  { keyword: "convertto-securestring ", before: /ConvertTo-SecureString\s+(?:-String\s+)?(?=["'])/iy },
  { keyword: "send ", before: /(?<=[Pp]ass(?:word|phrase)[^\n]{0,40}\n\s{0,12})send\s+(?:-\w+\s+){0,2}(?:--\s+)?/y },
  { keyword: "'s password: ", before: /'s password: /y },
  { keyword: "configure set ", before: /configure set\s+(?:[\w.-]+\.)?aws_(?:secret_access_key|session_token)\s+/y },
  { keyword: "initialize password ", before: /initialize password\s+/iy },
];

/** `IDENTIFIED BY '…'`, `net use … /user:u p`, `AUTH …`, `-passin pass:…`, `aws configure set …`. */
export const spokenPassword: MaskRule = {
  kind: "command-password",
  placeholder: "[COMMAND_PASSWORD]",
  keywords: phrases.map(({ keyword }) => keyword),
  find(text, at) {
    const opening = text.slice(at, at + 26).toLowerCase();
    for (const { keyword, before } of phrases) {
      if (!opening.startsWith(keyword)) continue;
      before.lastIndex = at;
      const head = before.exec(text)?.[0];
      if (head === undefined) continue;
      const found = valueAt(text, at + head.length);
      if (isGiven(text, found)) return tidy(text, found);
    }
    return undefined;
  },
};

/** Removes a trailing escape that ends a value: `send "…\r"`. */
function tidy(text: string, { start, length }: Found): Found {
  const value = text.slice(start, start + length).replace(/\\+[nr]$/, "");
  return { start, length: value.length };
}

/** A command of curl, to its end. A `\` continues it on the next line; a `&` within a word is an address's. */
const curlCommand = /\bcurl(?=\s)(?:\\\r?\n|&(?![&\s])|[^\n;&|]){0,300}/y;
/** `--user`, and `-u`, alone or behind other short options, of which a `-sSuadmin` has only those without values. */
const curlOption = /\s-(?:-user[\s=]|[aBfgGiIjJklLMnNOpqRsSvVZ0-9#]{0,9}u|[a-zA-Z0-9#]{1,9}u(?=\s))/;

/** The place of the space before `-u` or `--user` in curl's command at `at`; undefined where it has none. */
export function curlUserAt(text: string, at: number): number | undefined {
  curlCommand.lastIndex = at;
  const place = curlCommand.exec(text)?.[0].search(curlOption) ?? -1;
  return place < 0 ? undefined : at + place;
}

/** `user:password` as programs take it: `curl -u`, `curl -sSu`, `etcdctl --user`, `chpasswd`, `smbclient -U user%password`. */
export const userAndPassword: MaskRule = {
  kind: "curl-password",
  placeholder: "[CURL_PASSWORD]",
  keywords: [
    ...["curl ", " -u", " --user ", " --user=", " --proxy-user ", " -U ", "chpasswd"],
    ...[" --creds ", " --src-creds ", " --dest-creds "],
  ],
  find(text, place) {
    if (text.startsWith("chpasswd", place)) return piped(text, place);
    const at = text[place] === " " ? place : curlUserAt(text, place);
    if (at === undefined) return undefined;
    const shape =
      /\s(?:-[a-zA-Z0-9#]{0,9}?u\s{0,3}|-U\s{1,3}|--(?:proxy-user|user|creds|src-creds|dest-creds)(?:=|\s{1,3}))(\\{0,3}["']?)([^\s:"'%]{1,80})(["']?[:%]["']?)/y;
    shape.lastIndex = at;
    const [head, quote = "", user = "", sign = ""] = shape.exec(text) ?? [];
    if (head === undefined) return undefined;
    const start = at + head.length;
    const end = quote === "" ? /[\s"']|\\["'n]|$/ : new RegExp(`${quote.replaceAll("\\", "\\\\")}|\\n|$`);
    const value = beforeMatch(text.slice(start, start + 256), end);
    const isOther = /^["'$]|\$[{(]|\{\{|^(?:yyy|token|pass|password|PASSWORD)$/.test(value) && !isMade(value);
    if (value.length < 6 || isOther || /[$<{[]/.test(user)) return undefined;
    const tools = sign.includes("%")
      ? /\b(?:smb\w+|rpcclient|net|winexe)\b/
      : /(?<![\w.:-])(?:curl|wget|http|https|xh|etcdctl|skopeo|lftp|elasticsearch\w*|es\w*|ab|siege|rabbitmqadmin|mqttx|pulsar\w*|nats|helm|couchbase\w*|crane|podman|buildah|hydra|jira)[\w.-]*(?=\s)/;
    if (at === place && !tools.test(commandBefore(text, at + 1))) return undefined;
    const found: Found = { start, length: value.length };
    const isOne = isGiven(text, found) || (quote !== "" && isMade(value));
    const isWord = isStandIn(value.replace(/[`.,;:)]+$/, ""));
    return isOne && !isStandIn(value) && !isWord ? found : undefined;
  },
};

/** `echo "user:password" | chpasswd`. */
function piped(text: string, at: number): Found | undefined {
  // Most such `echo` commands have no pipe to a password tool.
  const pipe = /["']?\s*\|[ \t]{0,8}(?:sudo[ \t]{1,4})?$/.exec(text.slice(Math.max(0, at - 24), at))?.[0];
  if (pipe === undefined) return undefined;
  const end = at - pipe.length;
  const login = text.slice(Math.max(0, end - 162), end);
  const run = login.slice(login.search(/[^\s"']*$/));
  const password = /^[a-z_][\w.-]{0,31}:([^$:]{4,128})$/.exec(run)?.[1];
  if (password === undefined || isStandIn(password)) return undefined;
  return { start: end - password.length, length: password.length };
}

/** All rules of this file. */
export const commandRules: readonly MaskRule[] = [commandOption, spokenPassword, userAndPassword];
