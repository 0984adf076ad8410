import fc from "fast-check";

import { type Model, pick, seatsLeft } from "../model.ts";
import { saleEndsMs } from "../rules.ts";
import { same } from "../server.ts";

import { adopt, type Asking, attempt, inputOf, send } from "./booking-attempt.ts";
import { accessOf, anyDoor, anyKey, anyOne, anyToken, command } from "./command.ts";

const mostBookings = 40;

export const book = command(
  "Book",
  fc.record({
    who: anyOne,
    flight: anyOne,
    seats: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9 })),
    fault: fc.constantFrom(null, null, null, null, null, null, "no flight", "twin passports"),
    key: anyKey,
    copies: fc.integer({ min: 1, max: 3 }),
    token: anyToken,
    door: anyDoor,
  }),
  async (args, model, server) => {
    const userId = pick(model.users, args.who)?.id ?? "nobody";
    const flightId =
      args.fault === "no flight" ? 4_242 : (pick(model.flights, args.flight)?.id ?? 1);
    const twins = args.fault === "twin passports";
    const plain = inputOf(flightId, args.seats);
    const [traveller] = plain.passengers;
    const input =
      twins && traveller !== undefined
        ? { ...plain, passengers: [traveller, { ...traveller, firstName: "Twin" }] }
        : plain;
    const access = await accessOf(model, server, userId, args.token);
    // An invalid request with a used key may get either error.
    const key = twins ? null : args.key;
    await attempt(model, server, { ...access, userId, door: args.door, input, key }, args.copies);
  },
  ({ bookings }) => bookings.length < mostBookings,
);

/** Repeats a key, with the same or another request, by REST or GraphQL, at any time. */
export const bookAgain = command(
  "BookAgain",
  fc.record({ which: anyOne, isChanged: fc.boolean(), door: anyDoor, token: anyToken }),
  async (args, model, server) => {
    const record = pick(bookingKeys(model), args.which);
    const booking = model.bookings.find(({ id }) => id === record?.madeId);
    if (record === undefined || booking === undefined) return;
    const { flightId, passengers } = booking.input;
    const input = args.isChanged ? inputOf(flightId, passengers.length, "Eve") : booking.input;
    const { userId, key } = record;
    const access = await accessOf(model, server, userId, args.token);
    await attempt(model, server, { ...access, userId, door: args.door, input, key }, 1);
  },
  (model) => bookingKeys(model).length > 0 && model.bookings.length < mostBookings,
);

const bookingKeys = ({ keys }: Model) => keys.filter(({ operation }) => operation === "booking");

/** Concurrent bookings of one flight succeed only while seats are available. */
export const rivals = command(
  "Rivals",
  fc.record({
    flight: anyOne,
    seats: fc.integer({ min: 1, max: 3 }),
    count: fc.integer({ min: 2, max: 6 }),
  }),
  async (args, model, server) => {
    const flight = pick(model.flights, args.flight);
    if (flight === undefined) return;
    const nowMs = server.clock.now();
    const askings = await Promise.all(
      Array.from({ length: args.count }, async (_, index): Promise<Asking> => {
        const userId = pick(model.users, index)?.id ?? "nobody";
        const access = await accessOf(model, server, userId, "fresh");
        const door = index % 2 === 0 ? "REST" : "GraphQL";
        const input = inputOf(flight.id, args.seats, `Rival${"abcdef"[index]}`);
        return { ...access, userId, door, input, key: null };
      }),
    );
    const isClosed = flight.departureMs - nowMs <= saleEndsMs;
    const room = isClosed ? 0 : Math.floor(seatsLeft(model, flight) / args.seats);
    const expected = Math.min(args.count, room);
    const answers = await Promise.all(askings.map((asking) => send(server, asking)));
    let winners = 0;
    for (const [index, answer] of answers.entries()) {
      const asking = askings[index];
      if (asking === undefined) continue;
      if (answer.code === null) {
        adopt(model, answer, asking, nowMs);
        winners += 1;
      } else same("rival", answer.code, isClosed ? "booking-closed" : "no-seats");
    }
    same("rivals that got seats", winners, expected);
    server.count(`rivals: ${expected < args.count ? "too many" : "all served"}`);
  },
  ({ flights, bookings }, args) =>
    flights.length > 0 && bookings.length + args.count < mostBookings,
);
