import { at } from "../../support/graphql.ts";

import type { Role } from "./app-world.ts";
import { walkGraphql, walkRest } from "./lists.ts";
import { type Model, type ModelBooking, sorted, sortedEvents } from "./model.ts";
import { iso, newestFirst, type Position, tokenSkewMs } from "./rules.ts";
import { rest, same, type Server } from "./server.ts";
import {
  adminView,
  bookingFields,
  bookingView,
  flightChangeView,
  flightFields,
  flightView,
  passengerFields,
  passengersView,
  userFields,
  userView,
} from "./views.ts";

/** Compares everything that each caller may see with the model, by REST and GraphQL. */
export async function compareStates(model: Model, server: Server): Promise<void> {
  const token = (role: Role, id: string = role) => server.mint(id, role, 3_600);
  const [admin, operator] = await Promise.all([token("admin"), token("operator")]);
  await compareUsers(model, server, admin);
  await compareFlights(model, server, admin);
  for (const { id } of model.users) {
    const own = model.bookings.filter(({ userId }) => userId === id);
    await compareBookings(model, server, await token("user", id), own);
  }
  await compareBookings(model, server, admin, model.bookings, true);
  await compareEvents(model, server, operator);
  await compareRecords(model, server, operator);
  await compareTokens(model, server);
}

/** Checks that every stored token is accepted until it expires, and not afterwards. */
async function compareTokens({ keptTokens }: Model, server: Server): Promise<void> {
  for (const { token, expiresMs } of keptTokens.values()) {
    const { status } = await rest(server, token, "GET", "/v1/api/bookings?limit=1");
    const isOver = server.clock.now() >= expiresMs + tokenSkewMs;
    same("a token that was kept", status, isOver ? 401 : 200);
  }
}

async function compareUsers(model: Model, server: Server, token: string): Promise<void> {
  const expected = sorted(model.users).map(userView);
  const { body } = await rest(server, token, "GET", "/v1/users?limit=100");
  same("users by rest", body, expected);
  same("users by graphql", await walkGraphql(server, token, "users", userFields), expected);
}

async function compareFlights(model: Model, server: Server, admin: string): Promise<void> {
  const expected = sorted(model.flights).map((flight) => flightView(model, flight));
  const shown = await walkGraphql(server, null, "flights", flightFields);
  same("flights by graphql", shown, expected);
  for (const view of expected) {
    const { body } = await rest(server, null, "GET", `/v1/api/flights/${view.id}`);
    same("flight by rest", body, view);
  }
  // From server data alone: sold and available seats add up to the capacity.
  const bookings = await walkRest(server, admin, "/v1/api/bookings");
  for (const flight of model.flights) {
    const sold = bookings
      .filter(
        (item) => at(item, "flight", "id") === flight.id && at(item, "status") !== "cancelled",
      )
      .reduce<number>((sum, item) => sum + Number(at(item, "seats")), 0);
    const left = Number(
      at(
        shown.find((item) => at(item, "id") === flight.id),
        "seatsAvailable",
      ),
    );
    same(
      `seats sold and left of ${flight.flightNumber}`,
      sold + left,
      Math.max(sold, flight.seats),
    );
    if (sold > flight.seats + flight.oversold) throw new Error("The model itself oversold");
  }
}

async function compareBookings(
  model: Model,
  server: Server,
  token: string,
  bookings: readonly ModelBooking[],
  isAdmin = false,
): Promise<void> {
  const nowMs = server.clock.now();
  const views = sorted(bookings).map((booking) => ({
    booking,
    view: bookingView(model, booking, nowMs),
  }));
  const byRest = await walkRest(server, token, "/v1/api/bookings");
  same(
    "bookings by rest",
    byRest,
    views.map(({ booking, view }) => {
      const { id, userId } = booking;
      const forAdmins = isAdmin ? adminView(booking) : {};
      return { id, userId, ...view, ...flightChangeView(booking), ...forAdmins };
    }),
  );
  const fields = `${bookingFields} ${passengerFields} user { userId }`;
  same(
    "bookings by graphql",
    await walkGraphql(server, token, "bookings", fields),
    views.map(({ booking, view }) => ({
      ...view,
      passengers: passengersView(booking),
      user: { userId: booking.userId },
    })),
  );
}

async function compareEvents(model: Model, server: Server, token: string): Promise<void> {
  const shown = await walkRest(server, token, "/v1/events");
  learnEventIds(model, shown);
  const expected = sortedEvents(model).map((event) => ({
    id: event.id,
    provider: event.provider,
    type: event.type,
    status: event.status,
    createdAt: iso(event.createdMs),
  }));
  const named = (item: unknown) => ({
    id: at(item, "id"),
    provider: at(item, "provider"),
    type: at(item, "type"),
    status: at(item, "status"),
    createdAt: at(item, "createdAt"),
  });
  same("events by rest", shown.map(named), expected);
  same("events known", expected.length, model.events.length);
  for (const { id, provider, key } of sortedEvents(model)) {
    if (provider === "bookings") continue;
    const item = shown.find((candidate) => at(candidate, "id") === id);
    same("idempotency key", at(item, "idempotencyKey"), key);
  }
}

/** Finds the events of bookings by subject; each belongs to one booking only. Those of changed flights are known. */
function learnEventIds({ events }: Model, shown: readonly unknown[]): void {
  for (const event of events.filter(({ id }) => id === null)) {
    const found = shown.filter(
      (item) => at(item, "type") === event.type && at(item, "data", "bookingId") === event.key,
    );
    same(`events ${event.type} of one booking`, found.length, 1);
    event.id = String(at(found[0], "id"));
  }
}

async function compareRecords(model: Model, server: Server, token: string): Promise<void> {
  const notifications = await walkRest(server, token, "/v1/notifications");
  const counts = new Map<string, number>();
  for (const item of notifications) {
    const eventId = String(at(item, "eventId"));
    counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  }
  const expected = sortedEvents(model).filter(({ notifications: number }) => number > 0);
  same(
    "notifications of each event",
    Object.fromEntries(counts),
    Object.fromEntries(expected.map((event) => [event.id, event.notifications])),
  );
  const rejections = await walkRest(server, token, "/v1/rejections");
  const place = (item: unknown) =>
    `${String(at(item, "provider"))} ${String(at(item, "createdAt"))}`;
  same(
    "rejections",
    rejections.map(place).toSorted(),
    model.refusals.map(({ provider, atMs }) => `${provider} ${iso(atMs)}`).toSorted(),
  );
  model.listed = { notifications: positions(notifications), rejections: positions(rejections) };
}

/** The positions of listed items, which must be in order. */
function positions(items: readonly unknown[]): Position[] {
  const found = items.map((item) => ({
    createdMs: Date.parse(String(at(item, "createdAt"))),
    id: String(at(item, "id")),
  }));
  same("order", found, found.toSorted(newestFirst));
  return found;
}
