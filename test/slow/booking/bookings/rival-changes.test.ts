import { expect, test } from "bun:test";

import { json, startApp, type TestApp } from "../../../support/app.ts";
import { bookingsPath } from "../../../support/bookings.ts";
import { manualClock } from "../../../support/clock.ts";
import { noManyConnections, postgresDatabase } from "../../../support/databases.ts";
import { addFlight, bookingBody, post } from "../../../support/flights.ts";
import { randomNumbers } from "../../../support/random.ts";
import { skips } from "../../../support/skips.ts";

const rounds = 20;
/** Requests of each round for each booking, in each instance. */
const requests = 5;

/** Capacity of each flight, less what is free, held by offers and booked: always 0. */
const missingSeats = `select f.seats - f.seats_available
  - (select coalesce(sum(seats), 0) from bookings where flight_id = f.id and status in ('held', 'confirmed'))
  - (select coalesce(sum(seats), 0) from booking_changes where new_flight_id = f.id and status in ('offered', 'pending')) as missing
  from flights f`;

test.skipIf(skips(noManyConnections))(
  "rival changes of the same bookings in two instances lose no seats, deadlock nowhere and are all answered",
  async () => {
    const random = randomNumbers(1);
    await using database = await postgresDatabase();
    const clock = manualClock();
    const start = () => startApp({ DATABASE_URL: database.url }, clock);
    await using one = await start();
    await using two = await start();
    const [from, dearer, cheaper] = await Promise.all(
      [49_950, 60_000, 600].map(async (priceMinor) =>
        addFlight(one, { flightNumber: `RC${priceMinor}`, priceMinor, seats: 20 }),
      ),
    );
    const failed: unknown[] = [];

    async function call(app: TestApp, path: string, init: RequestInit) {
      // Each round has a user, so that limits of rates are not met.
      const response = await app.as("user", `${bookingsPath}${path}`, init, `ada${clock.now()}`);
      const body = await json(response);
      if (response.status >= 500) failed.push([init.method, path, body]);
      return body;
    }
    async function changeSomehow(app: TestApp, id: string) {
      const chance = random();
      if (chance < 0.1) return call(app, `/${id}`, { method: "DELETE" });
      if (chance < 0.3) {
        const body = { ...post({ lastName: `N${"abcdefgh"[Math.floor(random() * 8)]}` }) };
        return call(app, `/${id}/passengers/2`, { ...body, method: "PATCH" });
      }
      const flight = chance < 0.8 ? dearer : cheaper;
      const { id: change } = await (chance < 0.5
        ? call(app, `/${id}/cancellation`, post({ passengers: [1] }))
        : call(app, `/${id}/changes`, post({ flightId: flight?.id })));
      const path = `/${id}/changes/${String(change)}`;
      const confirm = () => call(app, `${path}/confirm`, { method: "POST" });
      if (change === undefined) return null;
      return Promise.all([confirm(), confirm(), call(app, path, { method: "DELETE" })]);
    }

    for (let round = 0; round < rounds; round += 1) {
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1) {
        const { bookingId } = await call(one, "", post(bookingBody(from?.id ?? 0, 2)));
        ids.push(String(bookingId));
      }
      const rivals = [one, two].flatMap((app) =>
        Array.from({ length: requests }, () => (app === one ? ids : ids.toReversed()))
          .flat()
          .map(async (id) => changeSomehow(app, id)),
      );
      await Promise.all(rivals);
      expect(failed).toEqual([]);
      const missing = (await database.run(missingSeats)).map((row) => Number(row["missing"]));
      expect(missing).toEqual([0, 0, 0]);
      await Promise.all(ids.map(async (id) => call(one, `/${id}`, { method: "DELETE" })));
      clock.advance(1);
    }
  },
  60_000,
);
