import { insertFlight, searchFlights } from "../../src/booking/flights/flights.sql.ts";
import type { Flight, FlightPlan } from "../../src/booking/model/flight.ts";
import { write } from "../../src/db/statement.ts";

import type { TestApp } from "./app.ts";

const dayMs = 86_400_000;

/** A flight from New York to London in 30 days, with 10 seats at 499.50 dollars. */
export function flightPlan(app: TestApp, fields: Partial<FlightPlan> = {}): FlightPlan {
  const departureTime = new Date(app.clock.now() + 30 * dayMs);
  return {
    flightNumber: "SK100",
    airline: "Skyhook Air",
    origin: "JFK",
    destination: "LHR",
    departureTime,
    arrivalTime: new Date((fields.departureTime ?? departureTime).getTime() + 7 * 3_600_000),
    cabinClass: "economy",
    seats: 10,
    priceMinor: 49_950,
    currency: "USD",
    ...fields,
  };
}

/** Adds a flight and returns it as stored. */
export async function addFlight(app: TestApp, fields: Partial<FlightPlan> = {}): Promise<Flight> {
  const { storage } = app.services;
  const plan = flightPlan(app, fields);
  await storage.atomically(write(insertFlight, { ...plan, createdAt: new Date(app.clock.now()) }));
  const found = await storage.all(searchFlights, {
    origin: plan.origin,
    destination: plan.destination,
    from: plan.departureTime,
    until: new Date(plan.departureTime.getTime() + 1),
    leavesAfter: new Date(0),
    passengers: 0,
    cabinClass: plan.cabinClass,
    limit: 100,
    offset: 0,
  });
  const flight = found.find(({ flightNumber }) => flightNumber === plan.flightNumber);
  if (flight === undefined) throw new Error("The flight was not stored");
  return flight;
}

/** The available seats of a flight, read from the public API. */
export async function seatsLeft(app: TestApp, id: number): Promise<number> {
  const flight: unknown = await (await app.fetch(`/v1/api/flights/${id}`)).json();
  if (typeof flight !== "object" || flight === null || !("seatsAvailable" in flight)) {
    throw new Error("Not a flight");
  }
  return Number(flight.seatsAvailable);
}

/** A passenger with a unique passport number. */
export const passenger = (number = 1) => ({
  firstName: "Ada",
  lastName: "Lovelace",
  email: "ada@example.com",
  dateOfBirth: "1990-04-12",
  passportNumber: `X${String(number).padStart(7, "0")}`,
});

/** The body of a booking request. */
export const bookingBody = (flightId: number, passengers = 1) => ({
  flightId,
  passengers: Array.from({ length: passengers }, (_, index) => passenger(index + 1)),
  contactEmail: "ada@example.com",
  paymentMethod: "card",
});

/** The request options of a POST with JSON. */
export const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});
