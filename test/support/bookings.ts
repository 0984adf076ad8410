import { json, jsonWith, type TestApp } from "./app.ts";
import { addFlight, bookingBody, post } from "./flights.ts";
import { untilLater } from "./notifying.ts";
import { listed } from "./operator.ts";

export const bookingsPath = "/v1/api/bookings";

/** What users do with bookings. */
export const bookingCalls = (app: TestApp) => ({
  book: (flightId: number, passengers = 1, headers: Record<string, string> = {}, who = "ada") =>
    app.as("user", bookingsPath, post(bookingBody(flightId, passengers), headers), who),
  get: (id: unknown, who = "ada") => app.as("user", `${bookingsPath}/${String(id)}`, {}, who),
  quote: (id: unknown) => app.as("user", `${bookingsPath}/${String(id)}/cancellation`, {}, "ada"),
  cancel: (id: unknown, who = "ada") =>
    app.as("user", `${bookingsPath}/${String(id)}`, { method: "DELETE" }, who),
});

/** How users change bookings. */
export function changeCalls(app: TestApp) {
  const call = (path: string, init: RequestInit = {}, who = "ada") =>
    app.as("user", `${bookingsPath}/${path}`, init, who);
  return {
    call,
    offerPart: (id: string, passengers: unknown, who?: string) =>
      call(`${id}/cancellation`, post({ passengers }), who),
    offerFlight: (id: string, flightId: unknown, who?: string) =>
      call(`${id}/changes`, post({ flightId }), who),
    confirm: (id: string, change: unknown, who?: string) =>
      call(`${id}/changes/${String(change)}/confirm`, { method: "POST" }, who),
    withdraw: (id: string, change: unknown) =>
      call(`${id}/changes/${String(change)}`, { method: "DELETE" }),
  };
}

/** Makes flights, whose numbers start with `airline`, and bookings of ada's on them. */
export function flightBookings(app: TestApp, airline: string) {
  let number = 0;
  /** A flight that leaves in so many hours. */
  const flightAt = (hours: number, priceMinor = 10_000, fields: object = {}) => {
    number += 1;
    const departureTime = new Date(app.clock.now() + hours * 3_600_000);
    const plan = { flightNumber: `${airline}${number}`, departureTime, priceMinor, ...fields };
    return addFlight(app, plan);
  };
  return {
    flightAt,
    /** Its id. */
    flightIn: async (...plan: Parameters<typeof flightAt>) => (await flightAt(...plan)).id,
    booked: async (flightId: number, seats: number, extra: object = {}) => {
      const body = { ...bookingBody(flightId, seats), ...extra };
      const made = await jsonWith(await app.as("user", bookingsPath, post(body), "ada"), 201);
      return { id: String(made["bookingId"]), reference: String(made["reference"]) };
    },
  };
}

/** The events about a booking, oldest first. */
export async function eventsAbout(app: TestApp, subject: string) {
  const events = await listed(app, "/v1/events?provider=bookings&limit=100");
  return events.filter((event) => event["subject"] === subject).toReversed();
}

/** Lets time pass in small steps, because a look at the database may be under way. */
export const untilStatus = (app: TestApp, id: unknown, status: string) =>
  untilLater(
    app,
    async () =>
      (await json(await app.as("admin", `${bookingsPath}/${String(id)}`)))["status"] === status,
    100,
  );

/** Lets a hold expire. */
export async function expire(app: TestApp, id: unknown): Promise<void> {
  app.clock.advance(20 * 60_000);
  await untilStatus(app, id, "expired");
}

/** The number of items in a list. */
export async function totalOf(app: TestApp, list: string): Promise<unknown> {
  const { pagination } = await json(await app.as("admin", `${list}?include=total`));
  return typeof pagination === "object" && pagination && "total" in pagination && pagination.total;
}
