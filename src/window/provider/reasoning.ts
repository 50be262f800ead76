/** Signed reasoning: bound to what stood before it, so behind the first edit it goes whole. */
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Edit } from "../window.ts";

/** What the reasoning stands in. */
export interface ReasoningIn {
  /** The messages that are not out of the window whole. */
  readonly held: readonly NumberedMessage[];
  /** The newest message. */
  readonly last: number;
  /** Whether what stands before the history changed too. */
  readonly moved: boolean;
  readonly counter: TokenCounter;
}

/** The edits with the one that takes out the reasoning behind the first of them; as they are where there is none. */
export function withoutReasoning(edits: readonly Edit[], { held, last, moved, counter }: ReasoningIn): readonly Edit[] {
  const rest = edits.filter((edit) => edit.only !== "reasoning");
  const first = edits.reduce((least, edit) => Math.min(least, edit.from), Infinity);
  const from = moved ? 1 : first;
  if (!Number.isFinite(from)) return edits;
  let tokensBefore = 0;
  for (const { seq, message } of held) {
    if (seq < from) continue;
    for (const part of message.parts) if (part.type === "reasoning") tokensBefore += counter.count(part.text);
  }
  return [
    ...rest,
    {
      kind: "drop",
      only: "reasoning",
      from,
      to: last,
      pass: "drop-reasoning",
      reason: "reasoning is only good behind the prefix it was written on",
      tokensBefore,
      tokensAfter: 0,
    },
  ];
}
