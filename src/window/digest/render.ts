/** The digest's text: verbatim lines grouped by what they are about, in order, every gap marked. */
import { recallId } from "../stub.ts";
import type { DigestLine } from "../window.ts";

/** Groups of lines, the one that was last worked on last. */
export function renderLines(lines: readonly DigestLine[]): string {
  const groups = new Map<string, DigestLine[]>();
  for (const line of lines.toSorted((left, right) => left.seq - right.seq || left.at - right.at)) {
    const key = line.kind === "user" ? "user" : line.kind === "said" ? "said" : `about ${line.subject}`;
    const group = groups.get(key);
    if (group) group.push(line);
    else groups.set(key, [line]);
  }
  const newest = (group: readonly DigestLine[]): number => group.at(-1)?.seq ?? 0;
  return [...groups]
    .toSorted(([, left], [, right]) => newest(left) - newest(right))
    .map(([key, group]) => renderGroup(titleOf(key, group), group))
    .join("\n");
}

function titleOf(key: string, group: readonly DigestLine[]): string {
  if (key === "user") return "--- what the user wrote";
  if (key === "said") return "--- what the assistant wrote";
  const [first] = group;
  return `--- from ${first?.subject || "a tool"}`;
}

function renderGroup(title: string, group: readonly DigestLine[]): string {
  const shown = [title];
  let before: DigestLine | undefined;
  for (const line of group) {
    const sameText = before !== undefined && before.seq === line.seq && before.kind === line.kind;
    if (!sameText) shown.push(`[${recallId(line.seq)}]`);
    else if (line.at !== (before?.at ?? 0) + 1) shown.push("…");
    // A line that looks like a title or an id of this text is moved in by a space: nothing may pass for the digest's own.
    shown.push(/^(?:---|…$|\[m\d)/.test(line.text) ? ` ${line.text}` : line.text);
    before = line;
  }
  return shown.join("\n");
}
