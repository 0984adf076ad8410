import { expect, test } from "bun:test";

import { SQL } from "bun";

import { calendarOf } from "../../../src/booking/flights/flight-calendar.ts";
import type { Statement } from "../../../src/db/statement.ts";
import { schema } from "../../../src/schema/schema.ts";
import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { mostRejected, planOnPostgres, planOnSqlite } from "../../support/plans.ts";
import { skips } from "../../support/skips.ts";

const journey = { origin: "JFK", destination: "LHR", passengers: 1, cabinClass: null };
const leavesAfter = new Date("2027-02-01T00:00:00Z");

/** Passes the statement of a calendar, with its values. */
async function eachRead(read: (statement: Statement<never, unknown>, values: object) => unknown) {
  const storage = {
    async all<Values extends object, Row>(statement: Statement<Values, Row>, values: Values) {
      await read(statement, values);
      return [];
    },
  };
  await calendarOf(storage, journey, ["2027-03-01"], leavesAfter);
}

test("SQLite reads a calendar by the index of the route", async () => {
  await eachRead((statement) => {
    const plan = planOnSqlite(statement).filter((line) => / flights USING/.test(line));
    expect(plan).toEqual([
      expect.stringContaining(
        "flights_route (origin=? AND destination=? AND departure_time>? AND departure_time<?)",
      ),
    ]);
  });
});

test.skipIf(skips(noManyConnections))(
  "PostgreSQL reads it by it too, with and without statistics",
  async () => {
    await using database = await postgresDatabase();
    for (const { sql: text } of schema.migrations.postgres) await database.run(text);
    // 40 flights a day on this route, and as many on 20 others.
    await database.run(`insert into flights (id, flight_number, airline, origin, destination, departure_time, arrival_time, cabin_class, seats, seats_available, price_minor, currency, created_at)
      select i, 'F' || i, '', case when i % 2 = 0 then 'JFK' else 'AA' || chr(65 + i % 20) end, 'LHR',
        ${leavesAfter.getTime()} + i * 1080000::bigint, 0, 'economy', 9, 9, i * 7919::bigint % 100000, 'USD', 0 from generate_series(1, 9600) as i`);
    await using client = new SQL(database.url, { max: 1 });
    for (const statistics of [false, true]) {
      if (statistics) await database.run("analyze flights");
      await eachRead(async (statement, values) => {
        const options = "analyze, costs off, timing off";
        const plan = await planOnPostgres(client, statement, values, options);
        expect(plan).toMatch(/Scan (?:using|on) flights_route/);
        expect(plan).not.toContain("Seq Scan");
        // One of the flights of the day is the cheapest.
        const most = 40;
        expect({ plan, most: mostRejected(plan) <= most }).toEqual({ plan, most: true });
      });
    }
  },
);
