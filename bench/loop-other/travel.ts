/** A travel desk: itineraries and brochures as JSON, mails that revise them, wishes of travellers, codes shown once. */
import { unknown } from "./hand.ts";
import { Agenda, Fact, plannedOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { travelReading as reading } from "./travel-reading.ts";
import {
  brochureText,
  fresh,
  hotelsOf,
  itineraryText,
  legsOf,
  mailText,
  ofTrip,
  pretty,
  rateOf,
} from "./travel-texts.ts";
import type { Hotel, Traveller, Trip } from "./travel-texts.ts";
import { Luck, paragraph } from "./words.ts";

const system =
  "You work at a travel desk. Itineraries and brochures are read with tools; mails correct them, and a brochure is " +
  "never printed anew. A hold code is shown once. Do what you are asked, with the newest figures.";

/** Plans a job. */
export function travel(seed: number, size: number): Plan {
  const luck = new Luck(seed * 31 + 1);
  const travellers: Traveller[] = [];
  const trips: Trip[] = [];
  const documents = new Map<string, () => string>();
  const agenda = new Agenda();
  const seats = (): string => `${luck.between(1, 48)}${luck.of(["A", "B", "C", "D", "E", "F"])}`;
  const hours = (): string => `${luck.between(10, 23)}:${luck.of(["05", "15", "25", "35", "40", "50"])}`;
  const traveller = (): void => {
    const name = `${luck.of(["Ms", "Mr"])} ${luck.name()}`;
    const one = { name, seat: new Fact(`seat of ${name}`, seats()), meal: new Fact(`meal of ${name}`, luck.word()) };
    travellers.push(one);
    agenda.tell(
      `A new face at the desk. ${paragraph(luck, 1)} ${name} sits in ${plannedOf(one.seat)} and eats ${plannedOf(one.meal)}, always. Keep that in mind.`,
    );
  };

  const print = (town: string, hotels: readonly Hotel[]): void => {
    const text = brochureText(luck, town, hotels);
    documents.set(`brochure ${town}`, () => text);
  };

  const newTrip = (): void => {
    const id = `T-${100 + trips.length * 7 + luck.between(0, 6)}`;
    const town = luck.name();
    const who = luck.of(travellers);
    const hotels = hotelsOf(luck);
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
    const legs = legsOf(luck);
    documents.set(`itinerary ${id}`, () => itineraryText(trip, legs));
    print(town, hotels);
    agenda.add({
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
    const text = mailText(luck, said);
    documents.set(`mail ${number}`, () => text);
    agenda.add({
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
    agenda.tell(
      isSeat
        ? `A change. Not ${old} but ${value} for ${one.name}, as a seat, from here on. ${paragraph(luck, 1)}`
        : `${paragraph(luck, 1)} ${one.name} eats no ${old} any more; it is ${value} now.`,
      before,
    );
  };

  const checkIn = (): void => {
    const trip = luck.of(trips);
    const who = travellers.find(({ name }) => name === trip.traveller.now) as Traveller;
    agenda.add({
      text: `Check in trip ${trip.id}, with the seat and the meal that its traveller likes, for the hour that it leaves.`,
      calls: 2,
      checks: [
        { tool: "check_in", args: { traveller: trip.traveller, seat: who.seat, meal: who.meal, leaves: trip.leaves } },
      ],
      *script(hand) {
        const trips = [ofTrip(trip.id, "traveller"), ofTrip(trip.id, "leaves")];
        const [name = ""] = yield* hand.find(trips);
        const [, leaves = "", seat = "", meal = ""] = yield* hand.find([
          ...trips,
          { key: `seat ${name}`, about: name, sought: "seat" },
          { key: `meal ${name}`, about: name, sought: "meal eats" },
        ]);
        yield* hand.call("check_in", { trip: trip.id, traveller: name, seat, meal, leaves });
        return `${trip.id} is checked in.`;
      },
    });
  };

  const scouted: Fact[] = [];
  const scout = (): void => {
    const town = luck.name();
    const hotels = hotelsOf(luck);
    print(town, hotels);
    const [cheapest] = hotels.toSorted((one, other) => Number(one.rate.now) - Number(other.rate.now)) as [Hotel];
    scouted.push(new Fact(town, cheapest.name));
    agenda.add({
      text: `Somebody may go to ${town}. Read its brochure and say which house is the cheapest; it is enough if you remember it.`,
      calls: 2,
      *script(hand) {
        const offers = [...(yield* hand.call("brochure", { town })).matchAll(/"hotel": "(\w+)",\s+"nightly": (\d+)/g)];
        const [first] = offers.toSorted((one, other) => Number(one[2]) - Number(other[2]));
        return `The cheapest house of ${town} is ${first?.[1] ?? unknown}.`;
      },
    });
  };

  const advise = (): void => {
    const one = luck.of(travellers);
    const fact = luck.of(scouted);
    const town = fact.name;
    agenda.add({
      text: `${one.name} wants to know which house you found to be the cheapest in ${town}. Send word.`,
      calls: 2,
      checks: [{ tool: "send_word", args: { house: fact } }],
      *script(hand) {
        const [house = ""] = yield* hand.find([{ key: `cheapest ${town}`, about: town, sought: "cheapest house" }]);
        yield* hand.call("send_word", { traveller: one.name, house });
        return "Word is sent.";
      },
    });
  };

  const bill = (): void => {
    const trip = luck.of(trips);
    const hotel = trip.hotel;
    agenda.add({
      text: `Bill trip ${trip.id} for its stay at Hotel ${hotel.name}: the nights, and the rate as it is now.`,
      calls: 2,
      checks: [{ tool: "bill", args: { nights: trip.nights, nightly: hotel.rate } }],
      *script(hand) {
        const [, town = ""] = yield* hand.find([ofTrip(trip.id, "nights"), ofTrip(trip.id, "town")]);
        const [nights = "", nightly = ""] = yield* hand.find([ofTrip(trip.id, "nights"), rateOf(hotel.name, town)]);
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
    agenda.add({
      text: `Trip ${trip.id} sleeps at a friend's. Release its room; the hotel wants the hold code.`,
      calls: 2,
      checks: [{ tool: "release_room", args: { hold_code: trip.code } }],
      *script(hand) {
        const [code = ""] = yield* hand.find([{ key: `hold_code ${trip.id}`, about: trip.id, sought: "hold code" }]);
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
    agenda.add({
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
  const turns = agenda.fill(size, [
    newTrip,
    mail,
    checkIn,
    scout,
    wish,
    release,
    bill,
    mail,
    advise,
    checkIn,
    holdAgain,
    bill,
    checkIn,
    traveller,
  ]);
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
      send_word: ["Sends a traveller the name of a house", "traveller", "house"],
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
