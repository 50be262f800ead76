/** Closes a truncated JSON document, so that its whole elements can be read. */

/**
 * Cuts a torn document after the last whole element of its outer list (`[ … ]`, or the list in
 * `{ "messages": [ … ] }`) and closes what is open. The result may still be no JSON; whole elements are never cut.
 */
export function closeTorn(text: string): string {
  const closers: string[] = [];
  let cut = 0;
  let ending = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index);
    else if (character === "[") closers.push("]");
    else if (character === "{") closers.push("}");
    else if (character === "]" || character === "}") {
      if (closers.pop() !== character) break;
      if (closers.length <= 2) [cut, ending] = [index + 1, closers.toReversed().join("")];
    }
  }
  return text.slice(0, cut) + ending;
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end;
}
