import fc from "fast-check";

import { until } from "../../../support/app.ts";
import { at } from "../../../support/graphql.ts";
import { walkGraphql, walkRest } from "../lists.ts";
import {
  bookingEvent,
  type FlightEventType,
  type FlightPlan,
  type Model,
  type ModelFlight,
  pick,
  seatsLeft,
  seatsSold,
} from "../model.ts";
import {
  type Airport,
  type Currency,
  decimal,
  hourMs,
  iso,
  localDay,
  minuteMs,
  saleEndsMs,
} from "../rules.ts";
import { graphql, rest, same, type Server } from "../server.ts";
import { flightFields, flightView } from "../views.ts";

import { anyDoor, anyOne, command } from "./command.ts";

const mostFlights = 7;
const header =
  "flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency";
const cabins = ["economy", "business", "first"] as const;
const codes = ["JFK", "LHR", "NRT"] as const satisfies readonly Airport[];
const currencyCodes = ["USD", "JPY", "KWD"] as const satisfies readonly Currency[];

function lineOf(plan: FlightPlan): string {
  return [
    plan.flightNumber,
    plan.airline,
    plan.origin,
    plan.destination,
    iso(plan.departureMs),
    iso(plan.arrivalMs),
    plan.cabinClass,
    plan.seats,
    decimal(plan.priceMinor, plan.currency),
    plan.currency,
  ].join(",");
}

const isSame = (one: FlightPlan, other: FlightPlan): boolean =>
  one.flightNumber === other.flightNumber &&
  one.departureMs === other.departureMs &&
  one.cabinClass === other.cabinClass;

/** Imports plans. A flight may have fewer seats than were sold: it sells no more. */
export async function importPlans(
  model: Model,
  server: Server,
  plans: readonly FlightPlan[],
): Promise<void> {
  const nowMs = server.clock.now();
  const fault = await failureCode(server.importCsv([header, ...plans.map(lineOf)].join("\n")));
  same("import", fault, null);
  server.count("import: done");
  let [changed, oversold] = [0, 0];
  for (const plan of plans) {
    const known = model.flights.find((flight) => isSame(flight, plan));
    if (known === undefined) {
      const id = await idOf(model, server, plan);
      model.flights.push({ ...plan, id, oversold: 0, createdMs: nowMs });
    } else {
      const isChanged =
        plan.arrivalMs !== known.arrivalMs ||
        plan.origin !== known.origin ||
        plan.destination !== known.destination;
      if (isChanged && known.departureMs > nowMs) {
        noteChange(model, known, nowMs);
        if (seatsSold(model, known.id) > 0) changed += 1;
      }
      const sold = seatsSold(model, known.id);
      const isMore = sold - plan.seats > Math.max(0, sold - known.seats);
      if (isMore && known.departureMs > nowMs) oversold += 1;
      Object.assign(known, plan, { oversold: Math.max(0, sold - plan.seats) });
    }
  }
  await learnChanges(model, server, changed, "flight.changed");
  await learnChanges(model, server, oversold, "flight.oversold");
}

/** Notes what the bookings of a flight show, and that they may be cancelled for a full refund. */
function noteChange({ bookings }: Model, flight: ModelFlight, nowMs: number): void {
  const flightChange = {
    type: "flight.changed",
    changedAt: iso(nowMs),
    previousDepartureTime: iso(flight.departureMs),
    previousArrivalTime: iso(flight.arrivalMs),
    previousOrigin: flight.origin,
    previousDestination: flight.destination,
  };
  for (const booking of bookings) {
    if (booking.input.flightId === flight.id) booking.flightChange = flightChange;
  }
}

/** Waits for the events about so many changed flights, and their notifications. */
async function learnChanges(
  model: Model,
  server: Server,
  changed: number,
  type: FlightEventType,
): Promise<void> {
  const known = new Set(model.events.map(({ id }) => id));
  let found: unknown[] = [];
  await until(async () => {
    if (changed === 0) return true;
    server.clock.advance(2_000);
    const token = await server.mint("operator", "operator", 60);
    const sent = await walkRest(server, token, "/v1/notifications");
    const notified = new Set(sent.map((item) => at(item, "eventId")));
    found = (await walkRest(server, token, "/v1/events")).filter((item) => {
      const id = at(item, "id");
      return at(item, "type") === type && !known.has(String(id)) && notified.has(id);
    });
    return found.length >= changed;
  });
  same(`${type} notified`, found.length, changed);
  for (const item of found) {
    const createdMs = Date.parse(String(at(item, "createdAt")));
    const event = bookingEvent(type, String(at(item, "data", "flightId")), createdMs);
    model.events.push({ ...event, id: String(at(item, "id")) });
  }
  if (changed > 0) server.count(`import: ${type} with bookings`);
}

async function failureCode(done: Promise<void>): Promise<unknown> {
  try {
    await done;
    return null;
  } catch (error) {
    return at(error, "code") ?? String(error);
  }
}

/** The id that the service assigned to a new flight. */
async function idOf({ flights }: Model, server: Server, plan: FlightPlan): Promise<number> {
  const shown = await walkGraphql(
    server,
    null,
    "flights",
    "id: flightId flightNumber departureTime cabinClass",
  );
  const found = shown.filter(
    (item) =>
      at(item, "flightNumber") === plan.flightNumber &&
      at(item, "departureTime") === iso(plan.departureMs) &&
      at(item, "cabinClass") === plan.cabinClass,
  );
  same(`flights ${plan.flightNumber}`, found.length, 1);
  const id = Number(at(found[0], "id"));
  const isNew = Number.isSafeInteger(id) && id > 0 && !flights.some((flight) => flight.id === id);
  same("a flight's id is new and positive", isNew, true);
  return id;
}

/** Hours to departure around which something changes. */
const anyLead = fc.constantFrom(0.5, 1, 1.5, 23, 25, 49, 73, 100, 24 * 7 - 1, 24 * 7, 24 * 8, 240);

const anyPlan = fc.record({
  number: fc.nat(3),
  lead: anyLead,
  cabin: fc.nat(2),
  from: fc.nat(2),
  to: fc.nat(1),
  seats: fc.integer({ min: 1, max: 9 }),
  priceMinor: fc.integer({ min: 0, max: 99_999 }),
  currency: fc.nat(2),
});

export const importNew = command(
  "ImportFlights",
  fc.array(anyPlan, { minLength: 1, maxLength: 2 }),
  async (plans, model, server) => {
    const minute = Math.ceil(server.clock.now() / minuteMs) * minuteMs;
    await importPlans(
      model,
      server,
      plans.map((args) => {
        const departureMs = minute + args.lead * hourMs;
        return {
          flightNumber: `SK${100 + args.number}`,
          airline: "Skyhook Air",
          origin: codes[args.from] ?? "JFK",
          destination: codes[(args.from + 1 + args.to) % codes.length] ?? "LHR",
          departureMs,
          arrivalMs: departureMs + 425 * minuteMs,
          cabinClass: cabins[args.cabin] ?? "economy",
          seats: args.seats,
          priceMinor: args.priceMinor,
          currency: currencyCodes[args.currency] ?? "USD",
        };
      }),
    );
  },
  ({ flights }, plans) => flights.length + plans.length <= mostFlights,
);

/** A schedule change: seats more or fewer than were sold, another price, a later arrival. */
export const importAgain = command(
  "ImportAgain",
  fc.record({
    flight: anyOne,
    seatsMore: fc.constantFrom(-1, -1, 0, 1, 4),
    from: fc.constantFrom<"sold" | "seats">("sold", "seats"),
    priceMinor: fc.integer({ min: 1, max: 99_999 }),
    currency: fc.option(fc.nat(2)),
    later: fc.integer({ min: 0, max: 90 }),
    withNew: fc.boolean(),
  }),
  async (args, model, server) => {
    const selling = model.flights.filter(({ id }) => seatsSold(model, id) > 0);
    const known = pick(args.seatsMore < 0 ? selling : model.flights, args.flight);
    if (known === undefined) return;
    const { id, createdMs: _, ...plan } = known;
    const base = args.from === "sold" ? seatsSold(model, id) : known.seats;
    const changed: FlightPlan = {
      ...plan,
      airline: args.later % 2 === 0 ? "Skyhook Air" : "Skyhook Air Regional",
      arrivalMs: known.departureMs + (300 + args.later) * minuteMs,
      seats: Math.max(1, base + args.seatsMore),
      priceMinor: args.priceMinor,
      currency: currencyCodes[args.currency ?? -1] ?? known.currency,
    };
    // The lines before it must be rolled back too.
    const other = { ...changed, flightNumber: "SK900", seats: 3 };
    const isRoom = args.withNew && model.flights.length < mostFlights;
    await importPlans(model, server, isRoom ? [other, changed] : [changed]);
  },
  ({ flights }) => flights.length > 0,
);

export const search = command(
  "Search",
  fc.record({
    flight: anyOne,
    daysOff: fc.constantFrom(0, 0, 0, 0, 0, -1, 1),
    passengers: fc.constantFrom(1, 1, 2, 4, 9),
    cabin: fc.constantFrom<"any" | "its" | "first">("any", "any", "its", "first"),
    page: fc.constantFrom(1, 1, 2),
    limit: fc.integer({ min: 1, max: 3 }),
    door: anyDoor,
  }),
  async (args, model, server) => {
    const like = pick(model.flights, args.flight);
    if (like === undefined) return;
    const { origin, destination } = like;
    const departureDate = localDay(like.departureMs + args.daysOff * 24 * hourMs, origin);
    const { passengers, page, limit } = args;
    const cabinClass = { any: undefined, its: like.cabinClass, first: "first" }[args.cabin];
    const asked = { origin, destination, departureDate, passengers, page, limit };
    const found = model.flights
      .filter(
        (flight) =>
          flight.origin === origin &&
          flight.destination === destination &&
          localDay(flight.departureMs, origin) === departureDate &&
          flight.departureMs - server.clock.now() > saleEndsMs &&
          seatsLeft(model, flight) >= passengers &&
          flight.cabinClass === (cabinClass ?? flight.cabinClass),
      )
      .toSorted((one, other) => one.departureMs - other.departureMs || one.id - other.id);
    const { body } =
      args.door === "REST"
        ? await rest(server, null, "GET", `/v1/api/flights?${queryOf(asked, cabinClass)}`)
        : await graphql(server, null, searchQuery, { ...asked, cabinClass });
    same(`search by ${args.door}`, body, {
      flights: found
        .slice((page - 1) * limit, page * limit)
        .map((flight) => flightView(model, flight)),
      totalResults: found.length,
      page,
      pageSize: limit,
    });
    server.count(`search: ${found.length === 0 ? "nothing" : "flights"} found`);
  },
  ({ flights }) => flights.length > 0,
);

const searchQuery = `query ($origin: String!, $destination: String!, $departureDate: Date!,
  $passengers: Int, $cabinClass: CabinClass, $page: Int, $limit: Int) {
  result: searchFlights(origin: $origin, destination: $destination, departureDate: $departureDate,
    passengers: $passengers, cabinClass: $cabinClass, page: $page, limit: $limit) {
    flights { ${flightFields} } totalResults page pageSize } }`;

function queryOf(asked: Readonly<Record<string, string | number>>, cabinClass?: string): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) query.set(name, String(value));
  if (cabinClass !== undefined) query.set("cabinClass", cabinClass);
  return query.toString();
}
