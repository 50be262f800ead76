/** Shell commands: the text of a file they show, and whether they may have changed files. */
import type { FileAction } from "./action.ts";

/** Commands that write what they name. */
const writes =
  /(?:^|[\s;&|(])(?:tee|mv|cp|rm|patch|truncate|install|dd|ln)\s|\b(?:sed|perl|ruby|gawk)\s+(?:-\w+\s+)*-\w*i|[^-=<>&\d]>{1,2}\s*(?!\/dev\/|&)[\w./~"'$]|^>|writeFile|write_text|open\([^)]*["'][wax]\+?b?["']/;
/** Commands that may write anything in the folder they run in. */
const writesAll =
  /\bgit\s+(?:-\S+\s+)*(?:checkout|restore|reset|stash|apply|am|merge|pull|rebase|revert|switch|cherry-pick|clean|mv|rm)\b|--(?:write|fix|in-place)\b|\b(?:gofmt\s+-w|(?:cargo|go|mix|deno)\s+fmt|format)\b/;
const word = String.raw`(?:"[^"]*"|'[^']*'|[^\s|;&<>()"'$]+)`;
const into = new RegExp(String.raw`^\s*cat\s*>\s*(${word})\s*<<\s*-?(['"]?)(\w+)\2\n([\s\S]*?)\n?^\3\s*$`, "m");
const numbers = /^sed\s+-n\s+["']?(\d+)(?:,\s*\+?(\d+|\$))?p["']?\s+(\S+)$/;

/** The effect of a command on files, as far as its text shows it. */
export function shellAction(text: string): FileAction | undefined {
  const heredoc = into.exec(text);
  const folder = /^\s*cd\s+(\S+)\s*(?:&&|;|\n)\s*/.exec(text);
  const rest = folder ? text.slice(folder[0].length) : text;
  const place = (path: string): string => {
    const plain = path.replaceAll(/^["']|["']$/g, "");
    const base = folder?.[1]?.replaceAll(/^["']|["']$/g, "");
    return base === undefined || /^[/~]/.test(plain) ? plain : `${base.replace(/\/$/, "")}/${plain}`;
  };
  if (heredoc && heredoc.index === text.length - rest.length && heredoc[0].trim() === rest.trim()) {
    return { kind: "write", path: place(heredoc[1] ?? ""), text: heredoc[4] ?? "" };
  }
  const shows = rest.replaceAll(/\s+2>(?:&1|\/dev\/null)/g, "").trim();
  if (writes.test(shows) || writesAll.test(shows)) {
    return { kind: "touch", command: text, wide: writesAll.test(shows) };
  }
  return showing(shows, place);
}

function showing(text: string, place: (path: string) => string): FileAction | undefined {
  if (/[;&\n`]|\$\(/.test(text)) return undefined;
  const [first = "", ...pipes] = splitPipes(text);
  const cut = pipes.length > 0;
  if (!pipes.every((pipe) => /^(?:head|tail|sed\s+-n|less|more|grep|nl|cat)\b/.test(pipe))) return undefined;
  const words = first.match(new RegExp(word, "g")) ?? [];
  const program = words[0] ?? "";
  const paths = words.slice(1).filter((one) => !one.startsWith("-"));
  const last = paths.at(-1);
  if (last === undefined) return undefined;
  const range = numbers.exec(first);
  if (range?.[3] !== undefined) {
    return { kind: "read", path: place(range[3]), from: Number(range[1]), whole: false };
  }
  if ((program === "cat" || program === "nl") && paths.length === 1) {
    const part = pipes.find((pipe) => !pipe.startsWith("head"));
    const skip = part === undefined ? undefined : /^sed\s+-n\s+["']?(\d+),/.exec(part)?.[1];
    if (part !== undefined && skip === undefined) return { kind: "search", path: place(last) };
    return { kind: "read", path: place(last), from: Number(skip ?? 1), whole: !cut };
  }
  if (program === "head" && !cut && /\.\w+["']?$/.test(last)) {
    return { kind: "read", path: place(last), from: 1, whole: false };
  }
  const searches = /^(?:e?grep|rg|ag|awk|sed|tail)$/.test(program);
  const inOne = searches && paths.filter((one) => /[^*?]\.\w{1,8}["']?$/.test(one)).length === 1;
  const inTree = /\s-\w*[rRlLco]\w*\b/.test(first) && program.endsWith("grep");
  return inOne && !inTree && !/[*?{]/.test(last) ? { kind: "search", path: place(last) } : undefined;
}

/** A command's parts between pipes that stand outside of quotes. */
function splitPipes(text: string): readonly string[] {
  return (text.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^|"'\\])+/g) ?? []).map((part) => part.trim());
}
