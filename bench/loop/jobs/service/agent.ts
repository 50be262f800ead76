/** The agent of customer service: every rule and everything a customer once said comes from its window. */
import type { Action, Call, Turn } from "../job.ts";
import { fieldOf, gather, lineWith } from "../need.ts";
import type { Need } from "../need.ts";
import type { View } from "../view.ts";
import { rules } from "./rules.ts";
import type { Rule } from "./rules.ts";

const street = String.raw`\d+ [A-Z]\w+ (?:Street|Road|Lane)`;

/** One turn on what a customer or the operator wrote. */
export function* serve(message: string, start: View): Turn {
  const [, customer = ""] = /^(C-\d+) writes/.exec(message) ?? [];
  const [, order] = /order (O-\d+)/.exec(message) ?? [];
  if (/Ring (?:me|us)/.test(message)) {
    const { values } = yield* gather(start, [extensionNeed(customer)]);
    return yield* done({ tool: "call_back", args: { customer, extension: values[0] ?? "" } });
  }
  if (message.includes("speak to a person")) {
    if (message.includes("RULE:")) return { say: "OK." };
    const { values } = yield* gather(start, [ruleNeed("desk")]);
    return yield* done({ tool: "pass_on", args: { customer, desk: values[0] ?? "" } });
  }
  if (order !== undefined) {
    const view = yield { calls: [{ tool: "get_order", args: { id: order } }] };
    const { values } = yield* gather(view, [recordNeed("get_order", order, "total"), ruleNeed("tag")]);
    const [amount = "", tag = ""] = values;
    return yield* done({ tool: "refund", args: { order, amount, tag } });
  }
  if (/came broken/.test(message)) return yield* sendAgain(customer);
  return { say: message.includes("RULE:") ? "OK." : `Thank you, this is noted for ${customer}.` };
}

function* sendAgain(customer: string): Turn {
  const view = yield { calls: [{ tool: "get_customer", args: { id: customer } }] };
  const tier = yield* gather(view, [recordNeed("get_customer", customer, "tier")]);
  const gold = tier.values[0] === "gold";
  const needs = [addressNeed(customer), ruleNeed("carrier"), ...(gold ? [ruleNeed("wrapping")] : [])];
  const [address = "", carrier = "", wrapping = "none"] = (yield* gather(tier.view, needs)).values;
  return yield* done({ tool: "send_goods", args: { customer, address, carrier, wrapping } });
}

function* done(call: Call): Generator<Action, Action, View> {
  yield { calls: [call] };
  return { say: "This is done." };
}

function ruleNeed(name: Rule): Need {
  const { pattern, queries } = rules[name];
  return {
    key: `the ${name}`,
    queries,
    read: (statement) => (statement.who === "user" ? lineWith(statement, [pattern]) : undefined),
  };
}

function addressNeed(customer: string): Need {
  const patterns = [new RegExp(String.raw`(?:goes to|sent to|go to|use) (${street})`)];
  return customersNeed(customer, "address", patterns, [
    `${customer} writes: anything you send me goes to`,
    `${customer} goods sent to Street Road Lane`,
  ]);
}

function extensionNeed(customer: string): Need {
  const patterns = [/(?:extension is|am on extension|me on extension) (\d+)/];
  return customersNeed(customer, "extension", patterns, [
    `${customer} writes: my extension is`,
    `${customer} extension`,
  ]);
}

/** A thing a customer wrote, in a letter that says whose it is. */
function customersNeed(id: string, key: string, patterns: readonly RegExp[], queries: readonly string[]): Need {
  return {
    key: `${key} of ${id}`,
    queries,
    read: (statement) => {
      const isTheirs = statement.who === "user" && statement.block.some((line) => line.includes(`${id} writes`));
      return isTheirs ? lineWith(statement, patterns) : undefined;
    },
  };
}

function recordNeed(tool: string, id: string, key: string): Need {
  return {
    key: `${key} of ${id}`,
    queries: [`${id} ${key}`],
    again: [{ tool, args: { id } }],
    read: (statement) => (statement.who === tool ? fieldOf(statement, id, key) : undefined),
  };
}
