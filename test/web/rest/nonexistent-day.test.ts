import { beforeAll, expect, test } from "bun:test";

import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { ask } from "../../support/graphql.ts";
import { appForAll } from "../../support/running-app.ts";

let flightId: number;
const app = appForAll();
beforeAll(async () => {
  flightId = (await addFlight(app)).id;
});

const instant = "2026-11-31T00:00:00Z";
const day = "2026-02-30";

/** `Date` reads a day that does not exist as one of the next month. */
test.each([
  `/v1/events?from=${instant}`,
  `/v1/events?to=${instant}`,
  `/v1/events/feed?from=${instant}`,
  `/v1/rejections?from=${instant}`,
  `/v1/statistics/deliveries?from=${instant}&to=2026-12-01T00:00:00Z`,
  `/v1/api/flights?origin=JFK&destination=LHR&departureDate=${day}`,
  `/v1/api/flights/calendar?origin=JFK&destination=LHR&from=${day}&to=2026-11-28`,
  `/v1/flights/load?from=${day}`,
])("a day that does not exist is refused by %s", async (path) => {
  expect((await app.as("admin", path)).status).toBe(400);
  const right = path.replace(instant, "2026-11-30T00:00:00Z").replace(day, "2026-11-28");
  const response = await app.as("admin", right);
  expect([response.status, right]).toEqual([200, right]);
  await response.body?.cancel();
});

test("a day that does not exist is refused in bodies", async () => {
  expect((await app.as("admin", "/v1/replays", post({ from: instant }))).status).toBe(422);
  const body = bookingBody(flightId);
  const passengers = body.passengers.map((one) => ({ ...one, dateOfBirth: "1990-02-30" }));
  const booking = await app.as("user", "/v1/api/bookings", post({ ...body, passengers }));
  expect(booking.status).toBe(422);
});

test("a day that does not exist is refused by GraphQL", async () => {
  const query = `{ searchFlights(origin: "JFK", destination: "LHR", departureDate: "${day}") { totalResults } }`;
  const { errors } = await ask(app, "admin", query);
  expect(errors).toMatchObject([{ extensions: { code: "invalid-parameter", status: 400 } }]);
});
