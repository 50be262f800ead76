/** Service: customers write, the operator's rules are amended midway, and addresses are told once and later replaced. */
import { Dice } from "../dice.ts";
import { Fact, Schedule, Scorer } from "../job.ts";
import type { Call, Job, Planned, Turn } from "../job.ts";
import type { View } from "../view.ts";
import { serve } from "./agent.ts";
import { ruleNames, rules } from "./rules.ts";
import type { Rule } from "./rules.ts";

interface Customer {
  readonly id: string;
  readonly address: Fact;
  readonly extension: Fact;
  readonly record: string;
  readonly tier: Fact;
  known: boolean;
}

/** A job of customer service with about `size` calls. */
export function service(seed: number, size: number): Job {
  return new Service(new Dice("service", seed), size);
}

class Service implements Job {
  readonly system =
    "You answer the customers of a shop. Keep the operator's rules as they are at the time; use the tools for every action.";
  readonly tools = [
    { name: "get_customer", description: "The record of a customer", args: ["id"] },
    { name: "get_order", description: "The record of an order", args: ["id"] },
    { name: "refund", description: "Pays an order back", args: ["order", "amount", "tag"] },
    { name: "send_goods", description: "Sends goods again", args: ["customer", "address", "carrier", "wrapping"] },
    { name: "call_back", description: "Rings a customer", args: ["customer", "extension"] },
    { name: "pass_on", description: "Passes a customer on to a desk", args: ["customer", "desk"] },
  ];
  readonly score = new Scorer();
  readonly #dice: Dice;
  readonly #schedule = new Schedule();
  readonly #rules = new Map<Rule, Fact>();
  readonly #customers: readonly Customer[];
  readonly #orders = new Map<string, { readonly total: Fact; readonly text: string }>();

  constructor(dice: Dice, size: number) {
    this.#dice = dice;
    for (const name of ruleNames) this.#rules.set(name, new Fact(name, dice.word()));
    this.#customers = Array.from({ length: 8 + Math.floor(size / 40) }, () => this.#customer());
    const lines = ruleNames.map((name) => `RULE: ${rules[name].first(this.#rule(name).value)}`);
    this.#schedule.add({
      message: `You serve our customers today. I pass on to you what they write.\n${lines.join("\n")}\nSay OK when you are ready.`,
    });
    this.#plan(size);
  }

  next(): string | undefined {
    return this.#schedule.next();
  }

  run({ tool, args }: Call): string {
    const customer = this.#customers.find(({ id }) => id === (args["customer"] ?? args["id"]));
    if (tool === "get_customer") return customer?.record ?? "No such customer.";
    const order = this.#orders.get(String(args["order"] ?? args["id"]));
    if (tool === "get_order") return order?.text ?? "No such order.";
    if (tool === "refund" && order) {
      this.score.action([order.total, args["amount"]], [this.#rule("tag"), args["tag"]]);
      return JSON.stringify({ order: args["order"], refunded: args["amount"], tag: args["tag"], status: "paid" });
    }
    if (!customer) return "No such customer.";
    if (tool === "call_back") this.score.action([customer.extension, args["extension"]]);
    else if (tool === "pass_on") this.score.action([this.#rule("desk"), args["desk"]]);
    else {
      const gold: [Fact, unknown][] =
        customer.tier.value === "gold" ? [[this.#rule("wrapping"), args["wrapping"]]] : [];
      this.score.action([customer.address, args["address"]], [this.#rule("carrier"), args["carrier"]], ...gold);
    }
    const log = Array.from({ length: 5 }, () => ({
      step: this.#dice.word(),
      by: this.#dice.name(),
      ms: this.#dice.digits(3),
    }));
    return JSON.stringify({ done: tool, customer: customer.id, number: `A-${this.#dice.digits(6)}`, log });
  }

  turn(message: string, view: View): Turn {
    return serve(message, view);
  }

  #rule(name: Rule): Fact {
    return this.#rules.get(name) as Fact;
  }

  #customer(): Customer {
    const dice = this.#dice;
    const id = `C-${dice.digits(4)}`;
    const tier = dice.pick(["gold", "silver", "plain"]);
    const fields = {
      id,
      name: `${dice.name()} ${dice.name()}`,
      company: `${dice.name()} & ${dice.name()}`,
      since: `20${dice.digits(2) % 25}-0${dice.between(1, 9)}-1${dice.below(10)}`,
      tier,
      seats: dice.digits(2),
      language: dice.pick(["en", "fr", "ja", "nl"]),
      invoices: { open: dice.below(5), paid: dice.digits(2), terms: `${dice.pick([14, 30, 60])} days` },
      contact: { mail: `${dice.word()}@${dice.word()}.example`, form: dice.pick(["first name", "surname"]) },
      remarks: dice.prose(3),
      devices: Array.from({ length: 9 }, () => ({ serial: dice.digits(7), model: dice.word(), site: dice.name() })),
    };
    return {
      id,
      address: new Fact(`address of ${id}`, this.#street()),
      extension: new Fact(`extension of ${id}`, dice.digits(4)),
      record: JSON.stringify(fields, null, 2),
      tier: new Fact(`tier of ${id}`, tier),
      known: false,
    };
  }

  #street(): string {
    return `${this.#dice.between(1, 99)} ${this.#dice.name()} ${this.#dice.pick(["Street", "Road", "Lane"])}`;
  }

  /** Turns until the calls of all together reach `size`. */
  #plan(size: number): void {
    const dice = this.#dice;
    const amendments = dice.shuffled([...ruleNames, dice.pick(ruleNames)]);
    const steps = amendments.length + 1;
    let calls = 1;
    let amended = 0;
    while (calls < size) {
      if (calls > ((amended + 1) * size) / steps) {
        this.#schedule.add(this.#amendment(amendments[amended++] as Rule));
        calls++;
        continue;
      }
      const customer = dice.pick(this.#customers);
      const [turn, taken] = this.#letter(customer);
      this.#schedule.add(turn);
      calls += taken;
    }
  }

  #amendment(name: Rule): Planned {
    const rule = this.#rule(name);
    const value = this.#dice.word();
    const { before, begin } = this.#schedule.change(rule, value);
    const text = `Something has changed for everybody. ${this.#dice.prose(2)}\nRULE: ${rules[name].later(value, before)}\n${this.#dice.prose(1)}`;
    return { message: text, begin };
  }

  /** A customer's letter, with the calls it takes. */
  #letter(customer: Customer): readonly [Planned, number] {
    const dice = this.#dice;
    const letter = (request: string): string => {
      const prose = [dice.prose(dice.between(3, 6)), dice.prose(dice.between(3, 6))];
      // Some people write one paragraph, others three.
      const gap = dice.below(3) === 0 ? " " : "\n";
      return `${customer.id} writes: ${prose[0]}${gap}${request}${gap}${prose[1]}`;
    };
    if (!customer.known) {
      customer.known = true;
      const { address, extension } = customer;
      const where = dice.pick([
        `Anything you send me goes to ${address.value}`,
        `My things are to be sent to ${address.value}`,
        `Please note that goods for me go to ${address.value}`,
      ]);
      const line = dice.pick(["My extension is", "I am on extension", "You reach me on extension"]);
      return [{ message: letter(`${where}. ${dice.prose(1)} ${line} ${extension.value}.`) }, 1];
    }
    const kind = dice.below(10);
    if (kind < 2) return [this.#move(customer, letter), 1];
    if (kind < 4) return [{ message: letter("Ring me when you can, on the extension I gave you.") }, 2];
    if (kind < 5) return [{ message: letter("I want to speak to a person about all this.") }, 2];
    if (kind < 8) {
      const order = this.#order(customer);
      return [{ message: letter(`My order ${order} is not what I wanted, and I want the money back.`) }, 3];
    }
    return [{ message: letter("What you sent me came broken, and I should like it once more.") }, 3];
  }

  #move({ address, extension }: Customer, letter: (request: string) => string): Planned {
    const dice = this.#dice;
    if (dice.below(3) === 0) {
      const value = String(dice.digits(4));
      const { before, begin } = this.#schedule.change(extension, value);
      const text = letter(`I am no longer on extension ${before}, my extension is ${value}.`);
      return { message: text, begin };
    }
    const value = this.#street();
    const { before, begin } = this.#schedule.change(address, value);
    const text = letter(
      dice.pick([
        `Do not send anything to ${before}, use ${value}.`,
        `We have moved from ${before}: anything you send me goes to ${value}.`,
      ]),
    );
    return { message: text, begin };
  }

  #order({ id }: Customer): string {
    const dice = this.#dice;
    const order = `O-${dice.digits(6)}`;
    const items = Array.from({ length: dice.between(10, 20) }, () => ({
      sku: `S-${dice.digits(5)}`,
      title: `${dice.word()} ${dice.word()}`,
      count: dice.between(1, 9),
      made: `${dice.word()} ${dice.name()}`,
      price: dice.digits(2),
    }));
    const total = items.reduce((sum, { count, price }) => sum + count * price, 0);
    const record = { order, customer: id, placed: `2031-0${dice.between(1, 9)}-2${dice.below(9)}`, items, total };
    const text = dice.below(2) === 0 ? JSON.stringify(record, null, 2) : JSON.stringify(record);
    this.#orders.set(order, { total: new Fact(`total of ${order}`, total), text });
    return order;
  }
}
