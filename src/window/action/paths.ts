/** Paths: the name of a file, whether two spellings are of one file, and whether a command names a file. */

/** A path with a slash between its folders, without what leads nowhere; a drive is a folder, and `~` the end of one. */
export function plainPath(path: string): string {
  if (!spelled.test(path)) return path;
  const slashed = path
    .replaceAll("\\", "/")
    .replace(/^file:\/\/(?=\/)/i, "")
    .replace(/^\/?([A-Za-z]):(?=\/)/, (_, drive: string) => `/${drive.toLowerCase()}`)
    .replace(/^~\//, "");
  const parts: string[] = [];
  for (const part of slashed.split("/")) {
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `${slashed.startsWith("/") ? "/" : ""}${parts.join("/")}${slashed.endsWith("/") ? "/" : ""}`;
}

/** Signs of a spelling that is not the plain one. */
const spelled = /\\|^~\/|^file:|^[A-Za-z]:|\/\.{0,2}\/|^\.{1,2}\//;

/** Whether a path begins at the root, at a drive or at the user's folder. */
export function isRooted(path: string): boolean {
  return /^(?:[/\\~]|[A-Za-z]:[\\/])/.test(path);
}

/** The last part of a path. */
export function nameOf(path: string): string {
  const plain = path.includes("\\") ? plainPath(path) : path;
  return plain.slice(plain.lastIndexOf("/") + 1);
}

/** Whether two paths are of one file: a shorter path of several parts that is the end of a longer one is. */
export function isSamePath(left: string, right: string): boolean {
  const [one, other] = [plainPath(left), plainPath(right)];
  return one === other || isEndOf(one, other) || isEndOf(other, one);
}

/**
 * Whether two paths may be of one file and nothing says so: a bare name, and a path from the root. The folder that the
 * name is read in is not known.
 */
export function maybeSamePath(left: string, right: string): boolean {
  const [one, other] = [plainPath(left), plainPath(right)];
  const isBare = (path: string): boolean => !path.includes("/");
  const bare = isBare(one) ? other.startsWith("/") : isBare(other) && one.startsWith("/");
  return bare && nameOf(one) === nameOf(other);
}

function isEndOf(end: string, path: string): boolean {
  return end.includes("/") && path.endsWith(`/${end}`);
}

const between = /[^\w./@*{},+-]+/;

/** Patterns of a command that are looked at, their characters, and their stars: a text that has more is none. */
const mostPatterns = 64;
const longestPattern = 200;
const mostStars = 4;

/** Tells whether a command names a path. Ask it for many paths: the command's patterns are read once. */
export function touchOf(command: string): (path: string) => boolean {
  const words = command.includes("*") ? command.split(between).filter((word) => isPattern(word)) : [];
  const patterns = words.slice(0, mostPatterns).flatMap((word) => matcherOf(word) ?? []);
  return (path) => command.includes(nameOf(path)) || patterns.some((one) => one.test(plainPath(path)));
}

function isPattern(word: string): boolean {
  const stars = word.length <= longestPattern ? (word.match(/\*+/g)?.length ?? 0) : 0;
  return stars > 0 && stars <= mostStars;
}

/** A pattern of a shell as one that ends where a path ends; undefined for a text that is none, such as a rule of `sed`. */
function matcherOf(text: string): RegExp | undefined {
  if (text.endsWith("/") || /(?<![*\w/])\.\*|^\/?\*+$/.test(text)) return undefined;
  const source = text
    .replace(/^(?:\.\/)+/, "")
    .replaceAll(/[.+-]/g, String.raw`\$&`)
    .replaceAll(/\{([^{}]*)\}/g, (_, choices: string) => `(?:${choices.replaceAll(",", "|")})`)
    .replaceAll(/[{}]/g, "")
    .replaceAll(/\*{2,}\/|\*+/g, (sign) => (sign === "*" ? "[^/]*" : sign.endsWith("/") ? "(?:.*/)?" : ".*"));
  // A pattern without an ending may be of folders.
  return new RegExp(`(?:^|/)${source}${/\.[^/]*$/.test(text) ? "" : "(?:/.*)?"}$`);
}
