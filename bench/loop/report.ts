/** The figures of the loop as rows and lines of text. */
import { messageText } from "../../src/message/message.ts";
import { withoutGain } from "./gain.ts";
import type { LoopCall } from "./loop.ts";
import type { LoopRun, LoopTotal } from "./study.ts";

/** One row of the table: column to value. */
export function loopRow(total: LoopTotal): Readonly<Record<string, string | number>> {
  return {
    "budget": total.budget ?? "–",
    "policy": total.policy,
    "family": total.family ?? "all",
    "solved": `${total.solved} of ${total.jobs}`,
    "wrong": total.wrong,
    "void": total.voids,
    "void ‰": total.voidsPerThousand,
    "actions": total.actions,
    "calls": total.calls,
    "cut": total.cut,
    "cost": total.cost.toFixed(2),
    "recalls": total.recalls,
    "tokens each": total.tokensPerRecall,
    "quoting": total.quotedRecalls,
    "refused": total.refused,
    "history": total.historyTokens,
  };
}

/** A line for each policy at a budget that cost no less than the full history of the same jobs. */
export function gainLines(totals: readonly LoopTotal[]): readonly string[] {
  const all = totals.filter(({ family }) => family === null);
  const whole = all.find(({ policy }) => policy === "none");
  const rows = all.map(({ policy, budget, cost }) => ({ name: policy, budget, cost }));
  return withoutGain(rows, whole && { cost: whole.cost, peak: whole.peakTokens });
}

/** A call as text, for people who look for the reason of a loss; with `whole` its window too. */
export function traceText(run: Omit<LoopRun, "result">, call: LoopCall, whole: boolean): string {
  const { number, tokens, messages, isRewritten, findings, action, mistakes, recalled, window } = call;
  const { policy, budget, family, seed } = run;
  const lines = [
    `${family} ${seed} ${policy} ${budget ?? ""} · call ${number} · ${tokens} tokens, ${messages} messages${isRewritten ? ", rewritten" : ""}`,
  ];
  if (whole) lines.push(...window.map((message) => indented(`${message.role}: ${messageText(message)}`, "    > ")));
  for (const { key, where, value, order } of findings) {
    lines.push(
      `    needs ${key}: ${where}${value === undefined ? "" : ` says ${value}${order === undefined ? "" : ` (m${order})`}`}`,
    );
  }
  if (action.say !== undefined) lines.push(indented(action.say, "    says "));
  for (const { tool, args } of action.calls ?? []) lines.push(`    calls ${tool} ${JSON.stringify(args)}`);
  for (const text of recalled) lines.push(indented(text, "    recalls "));
  const text = mistakes.length === 0 ? "" : window.map(messageText).join("\n");
  for (const { fact, given, right, isVoid } of mistakes) {
    const held = text.includes(right) ? "which stands somewhere in the window" : "which the window lacks";
    lines.push(`    ${isVoid ? "VOID" : "WRONG"} ${fact}: given ${given}, right is ${right}, ${held}`);
  }
  return lines.join("\n");
}

function indented(text: string, head: string): string {
  return `${head}${text.replaceAll("\n", `\n${" ".repeat(head.length)}`)}`;
}
