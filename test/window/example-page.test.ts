/**
 * The digest of docs/how-the-window-works.md, composed again: a page that shows a digest has to show the one that is made.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { composeWindow } from "windrow";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { add, digestIn } from "./digests.ts";
import type { Call } from "./digests.ts";

const page = readFileSync(new URL("../../docs/how-the-window-works.md", import.meta.url), "utf8");

const checkout = `import { charge } from "./payments";

export const timeoutMs = 900;

export async function checkout(cart: Cart): Promise<Receipt> {
  const signal = AbortSignal.timeout(timeoutMs);
  return charge(cart.total);
}
`;

test("the page shows the digest that its history gives", () => {
  const { messages } = history();
  const window = composeWindow({ messages, budget: 1_500, strategy: { use: "adaptive", lowWater: 0.5 } });
  const shown = page.slice(page.indexOf("```text\n[Windrow") + "```text\n".length);
  expect(shown.slice(0, shown.indexOf("\n```\n"))).toBe(digestIn(window.messages));
});

/** A file, three customers and a log; two edits of the file; two more logs, and a test. */
function history(): HistoryBuilder {
  const task = "Orders of some customers time out at checkout. Find the cause and mend it in src/checkout.ts.";
  const said = new HistoryBuilder().user(task).user("Never restart the payments service.");
  add(said, ["read", { path: "src/checkout.ts" }, checkout]);
  for (const id of [151, 153, 157]) add(said, ["get_customer", { id: `C-${id}` }, customer(id)]);
  add(said, shell("kubectl logs payments", log("payments", 5, 4_035, 412)));
  add(said, edit("charge(cart.total);", "charge(cart.total, signal);")).user("Make the timeout 600 ms, not 900.");
  add(
    said,
    edit("timeoutMs = 900", "timeoutMs = 600"),
    shell("kubectl logs gateway", log("gateway", 22, 7_100, 1_380)),
    shell("kubectl logs orders", log("orders", 39, 9_200, 655)),
    shell("npm test", "Test Files  12 passed (12)\n     Tests  84 passed (84)\n"),
    shell("git diff --stat", " src/checkout.ts | 4 ++--\n 1 file changed\n"),
  );
  return said.assistant("The timeout is 600 ms, and charge stops at it. All tests pass.");
}

function shell(command: string, output: string): Call {
  return ["bash", { command }, output];
}

function edit(before: string, after: string): Call {
  const args = { path: "src/checkout.ts", old_string: before, new_string: after };
  return ["edit", args, "The file src/checkout.ts has been updated."];
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
