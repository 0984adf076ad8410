import { expect, test } from "bun:test";

import { bookingsMatching } from "../../src/booking/bookings/booking-search.ts";
import { calendarOf } from "../../src/booking/flights/flight-calendar.ts";
import { noManyConnections } from "../support/databases.ts";
import { filledPostgres, mostRejected, planOnSqlite, readingFor } from "../support/plans.ts";
import { skips } from "../support/skips.ts";

const journey = { origin: "JFK", destination: "LHR", passengers: 1, cabinClass: null };
const leavesAfter = new Date("2027-02-01T00:00:00Z");
type Read = Parameters<typeof readingFor>[0];

const readCalendar = (read: Read) =>
  calendarOf(readingFor(read), journey, ["2027-03-01"], leavesAfter);

/** Reads a page of the refunds due and counts them. */
async function readRefunds(read: Read) {
  const list = bookingsMatching(readingFor(read), { payment: "refund-due" }, new Date());
  await list.read({ order: "newest-first", from: null, offset: 0, limit: 51 });
  await list.count();
}

test("SQLite reads a calendar by the index of the route", async () => {
  await readCalendar((statement) => {
    const plan = planOnSqlite(statement).filter((line) => / flights USING/.test(line));
    const index = "(origin=? AND destination=? AND departure_time>? AND departure_time<?)";
    expect(plan).toEqual([expect.stringContaining(`flights_route ${index}`)]);
  });
});

test("SQLite reads and counts the refunds due by their index", async () => {
  await readRefunds((statement) => {
    const [first, ...others] = planOnSqlite(statement).filter((line) => !/ flights /.test(line));
    expect(first).toContain("bookings_refund_due");
    expect(others).toEqual([]);
  });
});

/** 40 flights a day on this route, and as many on 20 others. */
const flights = `insert into flights (id, flight_number, airline, origin, destination, departure_time, arrival_time, cabin_class, seats, seats_available, price_minor, currency, created_at)
      select i, 'F' || i, '', case when i % 2 = 0 then 'JFK' else 'AA' || chr(65 + i % 20) end, 'LHR',
        ${leavesAfter.getTime()} + i * 1080000::bigint, 0, 'economy', 9, 9, i * 7919::bigint % 100000, 'USD', 0 from generate_series(1, 9600) as i`;

/** One refund in a thousand is due. */
const refunds = [
  `insert into flights (id, flight_number, airline, origin, destination, departure_time, arrival_time, cabin_class, seats, seats_available, price_minor, currency, created_at)
      values (1, 'F1', '', 'JFK', 'LHR', 0, 0, 'economy', 9, 9, 1, 'USD', 0)`,
  `insert into bookings (id, reference, user_id, flight_id, status, seats, total_minor, currency, contact_email, payment_method, created_at, updated_at, charged_minor, refund_due_minor)
      select 'bk_' || i, 'R' || i, 'u', 1, 'confirmed', 1, 9, 'USD', 'a@b', 'card', i, i, 9, case when i % 1000 = 0 then 9 else 0 end from generate_series(1, 20000) as i`,
];

test.skipIf(skips(noManyConnections)).each([
  // One of the flights of the day is the cheapest.
  ["a calendar", readCalendar, "flights", [flights], /Scan (?:using|on) flights_route/, 40],
  [
    "the refunds due",
    readRefunds,
    "bookings",
    refunds,
    /Scan (?:Backward )?(?:using|on) bookings_refund_due/,
    0,
  ],
] as const)(
  "PostgreSQL reads %s by it too, with and without statistics",
  async (_, use, table, rows, index, most) => {
    await using database = await filledPostgres(...rows);
    for (const statistics of [false, true]) {
      if (statistics) await database.run(`analyze ${table}`);
      await use(async (statement, values) => {
        const plan = await database.planOf(statement, values);
        expect(plan).toMatch(index);
        expect(plan).not.toContain(`Seq Scan on ${table}`);
        expect({ plan, isBounded: mostRejected(plan) <= most }).toEqual({ plan, isBounded: true });
      });
    }
  },
);
