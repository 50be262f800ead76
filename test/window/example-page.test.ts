/**
 * The digest of docs/how-the-window-works.md, composed again: a page that shows a digest has to show the one that is made.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { composeWindow } from "windrow";
import type { Message, NewMessage } from "windrow";

const page = readFileSync(new URL("../../docs/how-the-window-works.md", import.meta.url), "utf8");

const checkout = `import { charge } from "./payments";

export const timeoutMs = 900;

export async function checkout(cart: Cart): Promise<Receipt> {
  const signal = AbortSignal.timeout(timeoutMs);
  return charge(cart.total);
}
`;

test("the page shows the digest that its history gives", () => {
  const window = composeWindow({ messages: history(), budget: 1_500, strategy: { use: "adaptive", lowWater: 0.5 } });
  const digest = window.messages.map(textOf).find((text) => text.startsWith("[Windrow"));
  const shown = page.slice(page.indexOf("```text\n[Windrow") + "```text\n".length);
  expect(shown.slice(0, shown.indexOf("\n```\n"))).toBe(digest);
});

/** A file, three customers and a log; two edits of the file; two more logs, and a test. */
function history(): readonly Message[] {
  const said: readonly NewMessage[] = [
    user("Orders of some customers time out at checkout. Find the cause and mend it in src/checkout.ts."),
    user("Never restart the payments service."),
    ...step("c1", "read", { path: "src/checkout.ts" }, checkout),
    ...[151, 153, 157].flatMap((id) => step(`g${id}`, "get_customer", { id: `C-${id}` }, customer(id))),
    ...step("c2", "bash", { command: "kubectl logs payments" }, log("payments", 5, 4_035, 412)),
    ...edit("e1", "charge(cart.total);", "charge(cart.total, signal);"),
    user("Make the timeout 600 ms, not 900."),
    ...edit("e2", "timeoutMs = 900", "timeoutMs = 600"),
    ...step("c3", "bash", { command: "kubectl logs gateway" }, log("gateway", 22, 7_100, 1_380)),
    ...step("c4", "bash", { command: "kubectl logs orders" }, log("orders", 39, 9_200, 655)),
    ...step("c5", "bash", { command: "npm test" }, "Test Files  12 passed (12)\n     Tests  84 passed (84)\n"),
    ...step("c6", "bash", { command: "git diff --stat" }, " src/checkout.ts | 4 ++--\n 1 file changed\n"),
    {
      role: "assistant",
      parts: [{ type: "text", text: "The timeout is 600 ms, and charge stops at it. All tests pass." }],
    },
  ];
  return said.map((message, at) => ({ ...message, id: `m${at + 1}` }));
}

function user(text: string): NewMessage {
  return { role: "user", parts: [{ type: "text", text }] };
}

function step(
  callId: string,
  name: string,
  args: Readonly<Record<string, string>>,
  output: string,
): readonly NewMessage[] {
  return [
    { role: "assistant", parts: [{ type: "tool-call", callId, name, args }] },
    { role: "tool", parts: [{ type: "tool-result", callId, name, content: output }] },
  ];
}

function edit(callId: string, before: string, after: string): readonly NewMessage[] {
  const args = { path: "src/checkout.ts", old_string: before, new_string: after };
  return step(callId, "edit", args, "The file src/checkout.ts has been updated.");
}

/** A record of JSON, as an interface answers with. */
function customer(id: number): string {
  const orders = [
    { order: `O-${id}1`, status: id === 157 ? "timed out" : "paid", milliseconds: 300 + id },
    { order: `O-${id}2`, status: "paid", milliseconds: 120 },
  ];
  const address = { city: "Graz", street: `Annenstrasse ${id - 145}` };
  const tier = id === 157 ? "gold" : "silver";
  return JSON.stringify({ id: `C-${id}`, name: `Customer ${id}`, tier, address, orders });
}

/** A service's log of twenty requests, one of which fails. */
function log(service: string, minute: number, request: number, waited: number): string {
  const lines = Array.from({ length: 20 }, (_, at) => {
    const head = `12:${String(minute + at).padStart(2, "0")} ${service}`;
    if (at === 12) return `${head} ERROR upstream bank-2 answered after ${waited} ms`;
    return `${head} request ${request + at * 7} served in ${20 + (at % 6)} ms`;
  });
  return `${lines.join("\n")}\n`;
}

function textOf(message: Message): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
