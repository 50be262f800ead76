/** The reader of the tables. */
import { fieldsOf, matches } from "./hand.ts";
import type { Reading, Statement } from "./hand.ts";

/** The reader: a row of CSV or of a log's table names itself; told records name their fields. */
export const tablesReading: Reading = (passage) => {
  if (passage.who === "call") return [];
  if (passage.who === "assistant") {
    return [
      ...matches(passage, /Part (\w+) has (\d+) rows of grade \w/g, ([part = "", value = ""]) => ({
        key: `count ${part}`,
        value,
      })),
    ];
  }
  const found: Statement[] = [];
  let sealed = /\bP\d+\b/.exec(passage.title)?.[0];
  for (const line of passage.text.split("\n")) {
    const print = /^(Q\d+),(\w+),(\w+),(\d+),([a-h]),(\w+),(?:amount was (\d+)|[\w ]*)$/.exec(line);
    const entry = /^\| (Q\d+) \| (\w+) \| (\w+) \| (\w+) \|/.exec(line);
    if (print) {
      const [, row, firm = "", , amount = "", grade = "", , old] = print;
      // A row that is printed again holds over what the log said before it.
      const yields = old === undefined;
      found.push({ key: `firm ${row}`, value: firm }, { key: `grade ${row}`, value: grade, yields });
      found.push({ key: `amount ${row}`, value: amount, yields, ...(old !== undefined && { old }) });
    } else if (entry) {
      const [, row, column, old = "", value = ""] = entry;
      found.push({ key: `${column} ${row}`, value, old });
    } else found.push(...told(line));
    const part = /part: (P\d+)/.exec(line)?.[1];
    if (part !== undefined) sealed = part;
    const seal = /^\s*seal: ([\w-]+)/.exec(line)?.[1];
    if (seal !== undefined && sealed !== undefined) found.push({ key: `seal ${sealed}`, value: seal });
  }
  found.push(
    ...matches(passage, /Firm (\w+) is spelled '(\w+)'/g, ([firm = "", value = ""]) => ({
      key: `spelling ${firm}`,
      value,
    })),
    ...matches(
      passage,
      /'(\w+)' is right for firm (\w+), '(\w+)' was my mistake/g,
      ([value = "", firm = "", old = ""]) => ({
        key: `spelling ${firm}`,
        value,
        old,
      }),
    ),
  );
  return found;
};

/** The statements of a row that is told in a line. */
function told(line: string): readonly Statement[] {
  const fields = new Map(fieldsOf(line));
  const row = fields.get("row");
  if (row === undefined) return [];
  const [column, old, value] = [fields.get("column"), fields.get("from"), fields.get("to")];
  if (column !== undefined && value !== undefined)
    return [{ key: `${column} ${row}`, value, ...(old !== undefined && { old }) }];
  const was = /^amount was (\d+)$/.exec(fields.get("remark") ?? "")?.[1];
  return ["firm", "amount", "grade"].flatMap((name) => {
    const stated = fields.get(name);
    if (stated === undefined) return [];
    return [
      {
        key: `${name} ${row}`,
        value: stated,
        yields: was === undefined,
        ...(name === "amount" && was !== undefined && { old: was }),
      },
    ];
  });
}
