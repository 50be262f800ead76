/** The travellers, hotels and trips of the desk, and the papers about them. */
import type { Need } from "./hand.ts";
import { Fact } from "./plan.ts";
import { paragraph } from "./words.ts";
import type { Luck } from "./words.ts";

/** Somebody who travels. */
export interface Traveller {
  readonly name: string;
  readonly seat: Fact;
  readonly meal: Fact;
}

/** A house of a brochure. */
export interface Hotel {
  readonly name: string;
  readonly rate: Fact;
}

/** A trip with the house that it is to stay at. */
export interface Trip {
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

/** The hotels of a town. */
export function hotelsOf(luck: Luck): readonly Hotel[] {
  return Array.from({ length: 16 }, () => {
    const name = luck.name();
    return { name, rate: new Fact(`rate of ${name}`, luck.between(60, 320)) };
  });
}

/** A brochure with the rates of today. */
export function brochureText(luck: Luck, town: string, hotels: readonly Hotel[]): string {
  const offers = hotels.map(({ name, rate }) => ({
    hotel: name,
    nightly: Number(rate.now),
    currency: "EUR",
    rooms_left: luck.between(1, 60),
    near: luck.name(),
    review: paragraph(luck, 3),
  }));
  return pretty({ place: town, offers });
}

/** The legs of a trip, which nobody asks about. */
export function legsOf(luck: Luck): readonly object[] {
  return Array.from({ length: 5 }, () => ({ carrier: luck.name(), gate: luck.code(), remark: paragraph(luck, 2) }));
}

/** An itinerary as it is booked now. */
export function itineraryText({ id, traveller, town, nights, leaves }: Trip, legs: readonly object[]): string {
  const booked = { traveller: traveller.now, town: town.now, nights: Number(nights.now), leaves: leaves.now };
  return pretty({ trip: id, ...booked, legs });
}

/** A mail that says some things among many. */
export function mailText(luck: Luck, said: readonly string[]): string {
  const body = said.map((line) => `${paragraph(luck, 11)} ${line} ${paragraph(luck, 9)}`).join("\n\n");
  return `From: ${luck.word()}@${luck.word()}.example\nTo: desk@orders.example\nSubject: ${luck.name()}, ${luck.name()}\n\n${body}\n\nYours,\n${luck.name()}`;
}

/** JSON as tools answer it. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** A field of a trip's itinerary as a need. */
export function ofTrip(trip: string, field: string): Need {
  return { key: `${field} ${trip}`, about: trip, sought: field, again: [{ tool: "itinerary", args: { trip } }] };
}

/** The rate of a hotel as a need. */
export function rateOf(hotel: string, town: string): Need {
  const again = [{ tool: "brochure", args: { town } }];
  return { key: `rate ${hotel}`, about: hotel, sought: "rate a night", again };
}

/** A value that a fact never had. */
export function fresh(make: () => string, fact: Fact): string {
  for (;;) {
    const value = make();
    if (!fact.planned.includes(value)) return value;
  }
}
