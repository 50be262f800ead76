/** Paths: the name of a file, and whether two spellings are of one file. */

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
  return areSame(plainPath(left), plainPath(right));
}

function areSame(left: string, right: string): boolean {
  return left === right || isEndOf(left, right) || isEndOf(right, left);
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
