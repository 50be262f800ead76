/** Sections between a tag and its end, which hosts put beside what people write. */

/**
 * A text without its tagged sections, such as `<system-reminder>…</system-reminder>`. Their tags stand at the start of a
 * line; a tag without an end is text.
 */
export function withoutTagged(text: string): string {
  const open = new Set<string>();
  let own = "";
  let next = 0;
  for (const { 0: tag, 1: name = "", index } of text.matchAll(/^[ \t]*<([\w-]+)[^<>\n]*>/gm)) {
    if (index < next || open.has(name)) continue;
    const end = text.indexOf(`</${name}>`, index + tag.length);
    if (end < 0) open.add(name);
    else {
      own += text.slice(next, index);
      next = end + name.length + 3;
    }
  }
  return own + text.slice(next);
}
