/** A travel desk: itineraries and brochures as JSON, mails that revise them, wishes of travellers, codes shown once. */
import { matches } from "./hand.ts";
import type { Call, Need, Reading, Statement } from "./hand.ts";
import { Fact, plannedOf } from "./plan.ts";
import type { Plan, Turn } from "./plan.ts";
import { Luck, paragraph } from "./words.ts";

interface Traveller {
  readonly name: string;
  readonly seat: Fact;
  readonly meal: Fact;
}

interface Hotel {
  readonly name: string;
  readonly rate: Fact;
}

interface Trip {
  readonly id: string;
  readonly traveller: Fact;
  readonly town: Fact;
  readonly nights: Fact;
  readonly leaves: Fact;
  readonly code: Fact;
  readonly hotels: readonly Hotel[];
  hotel: Hotel;
  isHeld: boolean;
}

const system =
  "You work at a travel desk. Itineraries and brochures are read with tools; mails correct them, and a brochure is " +
  "never printed anew. A hold code is shown once. Do what you are asked, with the newest figures.";

/** The reader: JSON by the trip or the hotel that stands above a line, sentences by the names in them. */
const reading: Reading = (passage) => {
  const found: Statement[] = [];
  if (passage.who === "assistant" || passage.who === "call") return found;
  let trip = /T-\d+/.exec(passage.title)?.[0];
  let hotel: string | undefined;
  for (const line of passage.text.split("\n")) {
    const [, name = "", value = ""] = /^\s*"(\w+)": "?([^",]*)"?,?$/.exec(line) ?? [];
    if (name === "trip") trip = value;
    else if (name === "hotel") hotel = value;
    else if (name === "nightly") {
      if (hotel !== undefined) found.push({ key: `rate ${hotel}`, value });
    } else if (["traveller", "town", "nights", "leaves", "hold_code"].includes(name)) {
      if (trip !== undefined) found.push({ key: `${name} ${trip}`, value });
    } else if (/^…|^\s*\}/.test(line)) hotel = undefined;
  }
  const fromTo = (key: string, old: string, value: string): Statement => ({ key, value, old });
  found.push(
    ...matches(passage, /Hotel (\w+) no longer asks (\d+) a night but (\d+)/g, ([name = "", old = "", value = ""]) =>
      fromTo(`rate ${name}`, old, value),
    ),
    ...matches(passage, /trip (T-\d+) leaves at ([\d:]+) instead of ([\d:]+)/g, ([id = "", value = "", old = ""]) =>
      fromTo(`leaves ${id}`, old, value),
    ),
    ...matches(passage, /(M[rs] \w+) sits in (\w+) and eats (\w+)/g, ([who = "", value = ""]) => ({
      key: `seat ${who}`,
      value,
    })),
    ...matches(passage, /(M[rs] \w+) sits in (\w+) and eats (\w+)/g, ([who = "", , value = ""]) => ({
      key: `meal ${who}`,
      value,
    })),
    ...matches(passage, /Not (\w+) but (\w+) for (M[rs] \w+), as a seat/g, ([old = "", value = "", who = ""]) =>
      fromTo(`seat ${who}`, old, value),
    ),
    ...matches(passage, /(M[rs] \w+) eats no (\w+) any more; it is (\w+) now/g, ([who = "", old = "", value = ""]) =>
      fromTo(`meal ${who}`, old, value),
    ),
  );
  return found;
};

/** Plans a job. */
export function travel(seed: number, size: number): Plan {
  const luck = new Luck(seed * 31 + 1);
  const travellers: Traveller[] = [];
  const trips: Trip[] = [];
  const documents = new Map<string, () => string>();
  const turns: Turn[] = [];
  const seats = (): string => `${luck.between(1, 48)}${luck.of(["A", "B", "C", "D", "E", "F"])}`;
  const hours = (): string => `${luck.between(10, 23)}:${luck.of(["05", "15", "25", "35", "40", "50"])}`;
  const fresh = (make: () => string, fact: Fact): string => {
    for (;;) {
      const value = make();
      if (!fact.planned.includes(value)) return value;
    }
  };
  const itinerary = (id: string): Call => ({ tool: "itinerary", args: { trip: id } });
  const ofTrip = (id: string, field: string): Need => ({
    key: `${field} ${id}`,
    words: [`${id} ${field}`, id],
    again: [itinerary(id)],
  });
  const rateOf = (hotel: string, town: string): Need => ({
    key: `rate ${hotel}`,
    words: [`Hotel ${hotel} rate a night`, hotel],
    again: [{ tool: "brochure", args: { town } }],
  });

  const traveller = (): void => {
    const name = `${luck.of(["Ms", "Mr"])} ${luck.name()}`;
    const one = { name, seat: new Fact(`seat of ${name}`, seats()), meal: new Fact(`meal of ${name}`, luck.word()) };
    travellers.push(one);
    turns.push({
      text: `A new face at the desk. ${paragraph(luck, 1)} ${name} sits in ${plannedOf(one.seat)} and eats ${plannedOf(one.meal)}, always. Keep that in mind.`,
      calls: 1,
      *script() {
        return "I will see to it.";
      },
    });
  };

  const newTrip = (): void => {
    const id = `T-${100 + trips.length * 7 + luck.between(0, 6)}`;
    const town = luck.name();
    const who = luck.of(travellers);
    const hotels = Array.from({ length: 6 }, (): Hotel => {
      const name = luck.name();
      return { name, rate: new Fact(`rate of ${name}`, luck.between(60, 320)) };
    });
    const hotel = luck.of(hotels);
    const trip: Trip = {
      id,
      traveller: new Fact(`traveller of ${id}`, who.name),
      town: new Fact(`town of ${id}`, town),
      nights: new Fact(`nights of ${id}`, luck.between(2, 19)),
      leaves: new Fact(`departure of ${id}`, hours()),
      code: new Fact(`hold code of ${id}`, luck.code()),
      hotels,
      hotel,
      isHeld: true,
    };
    trips.push(trip);
    const legs = Array.from({ length: 3 }, () => ({
      carrier: luck.name(),
      gate: luck.code(),
      remark: paragraph(luck, 1),
    }));
    documents.set(`itinerary ${id}`, () =>
      pretty({ trip: id, traveller: who.name, town, nights: Number(trip.nights.now), leaves: trip.leaves.now, legs }),
    );
    const offers = hotels.map(({ name, rate }) => ({
      hotel: name,
      nightly: Number(rate.now),
      currency: "EUR",
      rooms_left: luck.between(1, 60),
      near: luck.name(),
      review: paragraph(luck, 1),
    }));
    documents.set(`brochure ${town}`, () => pretty({ place: town, offers }));
    turns.push({
      text: `Trip ${id} is new. Read its itinerary and the brochure of the town that it goes to, then hold a room at Hotel ${hotel.name} for it.`,
      calls: 4,
      checks: [{ tool: "hold_room", args: { nightly: hotel.rate } }],
      *script(hand) {
        yield* hand.call("itinerary", { trip: id });
        const [goesTo = ""] = yield* hand.find([ofTrip(id, "town")]);
        yield* hand.call("brochure", { town: goesTo });
        const [nightly = ""] = yield* hand.find([rateOf(hotel.name, goesTo)]);
        yield* hand.call("hold_room", { trip: id, hotel: hotel.name, nightly });
        return `The room for ${id} is held.`;
      },
    });
  };

  let mails = 0;
  const mail = (): void => {
    const number = String(++mails);
    const said: string[] = [];
    const changes: (() => void)[] = [];
    for (const trip of luck.shuffled(trips.slice(-6)).slice(0, 2)) {
      if (luck.chance(0.6)) {
        const hotel = luck.chance(0.5) ? trip.hotel : luck.of(trip.hotels);
        const old = plannedOf(hotel.rate);
        changes.push(hotel.rate.plan(luck.another(60, 320, hotel.rate.planned)));
        said.push(`Hotel ${hotel.name} no longer asks ${old} a night but ${plannedOf(hotel.rate)}, taxes included.`);
      } else {
        const old = plannedOf(trip.leaves);
        changes.push(trip.leaves.plan(fresh(hours, trip.leaves)));
        said.push(`The first flight of trip ${trip.id} leaves at ${plannedOf(trip.leaves)} instead of ${old}.`);
      }
    }
    const body = said.map((line) => `${paragraph(luck, 3)} ${line} ${paragraph(luck, 3)}`).join("\n\n");
    const text = `From: ${luck.word()}@${luck.word()}.example\nTo: desk@orders.example\nSubject: ${luck.name()}, ${luck.name()}\n\n${body}\n\nYours,\n${luck.name()}`;
    documents.set(`mail ${number}`, () => text);
    turns.push({
      text: `Mail ${number} has come in. Read it and go by what it says.`,
      calls: 2,
      before: () => changes.forEach((change) => change()),
      *script(hand) {
        yield* hand.call("open_mail", { number });
        return "Read and understood.";
      },
    });
  };

  const wish = (): void => {
    const one = luck.of(travellers);
    const isSeat = luck.chance(0.5);
    const fact = isSeat ? one.seat : one.meal;
    const old = plannedOf(fact);
    const before = fact.plan(isSeat ? fresh(seats, fact) : luck.word());
    const value = plannedOf(fact);
    turns.push({
      text: isSeat
        ? `A change. Not ${old} but ${value} for ${one.name}, as a seat, from here on. ${paragraph(luck, 1)}`
        : `${paragraph(luck, 1)} ${one.name} eats no ${old} any more; it is ${value} now.`,
      calls: 1,
      before,
      *script() {
        return "Good, I will keep to that.";
      },
    });
  };

  const checkIn = (): void => {
    const trip = luck.of(trips);
    const who = travellers.find(({ name }) => name === trip.traveller.now) as Traveller;
    turns.push({
      text: `Check in trip ${trip.id}, with the seat and the meal that its traveller likes, for the hour that it leaves.`,
      calls: 2,
      checks: [
        { tool: "check_in", args: { traveller: trip.traveller, seat: who.seat, meal: who.meal, leaves: trip.leaves } },
      ],
      *script(hand) {
        const [name = "", leaves = ""] = yield* hand.find([ofTrip(trip.id, "traveller"), ofTrip(trip.id, "leaves")]);
        const [seat = "", meal = ""] = yield* hand.find([
          { key: `seat ${name}`, words: [`${name} seat`, name] },
          { key: `meal ${name}`, words: [`${name} eats meal`, name] },
        ]);
        yield* hand.call("check_in", { trip: trip.id, traveller: name, seat, meal, leaves });
        return `${trip.id} is checked in.`;
      },
    });
  };

  const bill = (): void => {
    const trip = luck.of(trips);
    const hotel = trip.hotel;
    turns.push({
      text: `Bill trip ${trip.id} for its stay at Hotel ${hotel.name}: the nights, and the rate as it is now.`,
      calls: 2,
      checks: [{ tool: "bill", args: { nights: trip.nights, nightly: hotel.rate } }],
      *script(hand) {
        const [nights = "", town = ""] = yield* hand.find([ofTrip(trip.id, "nights"), ofTrip(trip.id, "town")]);
        const [nightly = ""] = yield* hand.find([rateOf(hotel.name, town)]);
        yield* hand.call("bill", { trip: trip.id, nights, nightly });
        return `The bill for ${trip.id} is written.`;
      },
    });
  };

  const release = (): void => {
    const held = trips.filter(({ isHeld }) => isHeld);
    if (held.length === 0) return;
    const trip = luck.of(held);
    trip.isHeld = false;
    turns.push({
      text: `Trip ${trip.id} sleeps at a friend's. Release its room; the hotel wants the hold code.`,
      calls: 2,
      checks: [{ tool: "release_room", args: { hold_code: trip.code } }],
      *script(hand) {
        const [code = ""] = yield* hand.find([
          { key: `hold_code ${trip.id}`, words: [`${trip.id} hold_code`, trip.id] },
        ]);
        yield* hand.call("release_room", { trip: trip.id, hold_code: code });
        return `The room of ${trip.id} is released.`;
      },
    });
  };

  const holdAgain = (): void => {
    const free = trips.filter(({ isHeld }) => !isHeld);
    if (free.length === 0) return;
    const trip = luck.of(free);
    const hotel = luck.of(trip.hotels);
    trip.hotel = hotel;
    trip.isHeld = true;
    turns.push({
      text: `The friend of trip ${trip.id} has no bed after all. Hold a room at Hotel ${hotel.name}, at the rate that it asks by now.`,
      calls: 2,
      before: trip.code.plan(luck.code()),
      checks: [{ tool: "hold_room", args: { nightly: hotel.rate } }],
      *script(hand) {
        const [town = ""] = yield* hand.find([ofTrip(trip.id, "town")]);
        const [nightly = ""] = yield* hand.find([rateOf(hotel.name, town)]);
        yield* hand.call("hold_room", { trip: trip.id, hotel: hotel.name, nightly });
        return `${trip.id} has a room again.`;
      },
    });
  };

  for (let at = 0; at < 3; at++) traveller();
  newTrip();
  const rounds = [newTrip, mail, checkIn, wish, release, bill, mail, checkIn, holdAgain, bill, checkIn];
  for (let at = 0; turns.reduce((sum, { calls }) => sum + calls, 0) < size; at++) {
    if (at % 23 === 22) traveller();
    (rounds[at % rounds.length] as () => void)();
  }
  const stored = (name: string): string => documents.get(name)?.() ?? pretty({ error: `nothing is filed as ${name}` });
  return {
    system,
    tools: {
      itinerary: ["The itinerary of a trip as it is booked now", "trip"],
      brochure: ["The printed brochure of a town's hotels", "town"],
      open_mail: ["A mail of the desk's box", "number"],
      hold_room: ["Holds a room", "trip", "hotel", "nightly"],
      release_room: ["Gives a held room back", "trip", "hold_code"],
      check_in: ["Checks a traveller in", "trip", "traveller", "seat", "meal", "leaves"],
      bill: ["Writes the bill of a stay", "trip", "nights", "nightly"],
    },
    turns,
    reading,
    run: (tool, args) => {
      const trip = trips.find(({ id }) => id === args.trip);
      if (tool === "itinerary") return stored(`itinerary ${args.trip}`);
      if (tool === "brochure") return stored(`brochure ${args.town}`);
      if (tool === "open_mail") return stored(`mail ${args.number}`);
      if (tool === "hold_room")
        return pretty({ held: true, trip: args.trip, house: args.hotel, hold_code: trip?.code.now ?? "none" });
      return pretty({ done: tool, trip: args.trip, receipt: `${tool.slice(0, 2)}${args.trip}` });
    },
  };
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
