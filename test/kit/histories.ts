/** Random histories with everything that real ones hold. */
import fc from "fast-check";
import type { Message, Part } from "windrow";

const words = [
  "src/main.ts",
  "error: cannot find",
  "const value = 12;",
  "了解しました",
  "数据库连接失败",
  "😀👩‍👩‍👧",
  "0x1f",
  "deploy",
  "{}",
  "\n",
];

const text = fc
  .tuple(fc.array(fc.constantFrom(...words), { maxLength: 12 }), fc.nat({ max: 40 }), fc.nat({ max: 99 }))
  .map(([some, repeat, odd]) => {
    const body = some.join(" ").repeat(1 + (repeat % 8));
    // Now and then half of a surrogate pair, or nothing but spaces.
    return odd === 0 ? `${body}\ud83d` : odd === 1 ? "   " : body;
  });

/** Mostly short; about one result in two hundred is a megabyte. */
const resultBody = fc.tuple(text, fc.nat({ max: 199 })).map(([body, size]) => {
  if (size === 0) return "long line ".repeat(100_000);
  if (size < 12) return `${body}\n`.repeat(40 * size);
  return body;
});

type Happening =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "system"; readonly text: string }
  | { readonly kind: "empty" }
  | { readonly kind: "orphan"; readonly text: string; readonly late: boolean }
  | {
      readonly kind: "step";
      readonly text: string;
      readonly signed: boolean;
      readonly calls: readonly { readonly answer: number; readonly body: string; readonly sameId: boolean }[];
      readonly shuffled: boolean;
      readonly together: boolean;
      readonly interrupted: string;
    };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("user" as const), text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("system" as const), text }) },
  { weight: 1, arbitrary: fc.constant({ kind: "empty" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("orphan" as const), text, late: fc.boolean() }) },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant("step" as const),
      text,
      signed: fc.boolean(),
      calls: fc.array(
        fc.record({ answer: fc.nat({ max: 11 }), body: resultBody, sameId: fc.nat({ max: 15 }).map((n) => n === 0) }),
        {
          maxLength: 6,
        },
      ),
      shuffled: fc.boolean(),
      together: fc.nat({ max: 5 }).map((n) => n === 0),
      interrupted: fc.nat({ max: 19 }).map((n) => (n === 0 ? "wait" : "")),
    }),
  },
);

/** A history of 0 to 300 steps: parallel calls, aborted and repeated ones, signed reasoning, emoji, huge results. */
export const history: fc.Arbitrary<readonly Message[]> = fc
  .oneof(
    { weight: 8, arbitrary: fc.array(happening, { maxLength: 40, size: "max" }) },
    { weight: 1, arbitrary: fc.array(happening, { maxLength: 300, size: "max" }) },
  )
  .map((happenings) => build(happenings));

function build(happenings: readonly Happening[]): readonly Message[] {
  const messages: Message[] = [];
  const add = (role: Message["role"], parts: readonly Part[]): void => {
    messages.push({ id: `m${messages.length + 1}`, role, parts });
  };
  let calls = 0;
  for (const [index, event] of happenings.entries()) {
    if (event.kind === "user") add("user", [{ type: "text", text: event.text }]);
    else if (event.kind === "system") add("system", [{ type: "text", text: event.text }]);
    else if (event.kind === "empty") add("assistant", []);
    else if (event.kind === "orphan") {
      add("tool", [
        {
          type: "tool-result",
          callId: event.late && calls > 0 ? `call-${calls}` : `nobody-${index}`,
          content: event.text,
        },
      ]);
    } else {
      const parts: Part[] = event.signed ? [{ type: "reasoning", text: event.text, signature: `sig-${index}=` }] : [];
      if (event.text !== "") parts.push({ type: "text", text: event.text });
      const results: Part[] = [];
      for (const call of event.calls) {
        const callId = `call-${call.sameId ? calls : ++calls}`;
        parts.push({
          type: "tool-call",
          callId,
          name: `tool${call.answer % 3}`,
          args: { path: `src/${call.answer}.ts`, text: call.body.slice(0, 50) },
        });
        if (call.answer > 0)
          results.push({
            type: "tool-result",
            callId,
            content: call.body,
            ...(call.answer === 5 && { isError: true }),
          });
      }
      add("assistant", parts);
      if (event.interrupted) add("user", [{ type: "text", text: event.interrupted }]);
      if (event.shuffled) results.reverse();
      if (event.together && results.length > 0) add("tool", results);
      else for (const result of results) add("tool", [result]);
    }
  }
  return messages;
}

/** The same value, every object in it frozen: a mutation throws. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
