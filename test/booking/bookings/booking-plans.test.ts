import { expect, test } from "bun:test";

import { SQL } from "bun";

import { bookingsMatching } from "../../../src/booking/bookings/booking-search.ts";
import type { Statement } from "../../../src/db/statement.ts";
import type { Storage } from "../../../src/db/storage.ts";
import { schema } from "../../../src/schema/schema.ts";
import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { mostRejected, planOnPostgres, planOnSqlite } from "../../support/plans.ts";
import { skips } from "../../support/skips.ts";

/** Passes the statements that read a page of the refunds due and count them, with their values. */
async function eachRead(read: (statement: Statement<never, unknown>, values: object) => unknown) {
  const storage: Pick<Storage, "all" | "dialect"> = {
    dialect: "postgres",
    async all<Values extends object, Row>(statement: Statement<Values, Row>, values: Values) {
      await read(statement, values);
      return [];
    },
  };
  // Guarantee: a list reads only these two members.
  const list = bookingsMatching(storage as Storage, { payment: "refund-due" }, new Date());
  await list.read({ order: "newest-first", from: null, offset: 0, limit: 51 });
  await list.count();
}

test("SQLite reads and counts the refunds due by their index", async () => {
  await eachRead((statement) => {
    const [first, ...others] = planOnSqlite(statement).filter((line) => !/ flights /.test(line));
    expect(first).toContain("bookings_refund_due");
    expect(others).toEqual([]);
  });
});

test.skipIf(skips(noManyConnections))(
  "PostgreSQL reads them by it too, with and without statistics",
  async () => {
    await using database = await postgresDatabase();
    for (const { sql: text } of schema.migrations.postgres) await database.run(text);
    await database.run(`insert into flights (id, flight_number, airline, origin, destination, departure_time, arrival_time, cabin_class, seats, seats_available, price_minor, currency, created_at)
      values (1, 'F1', '', 'JFK', 'LHR', 0, 0, 'economy', 9, 9, 1, 'USD', 0)`);
    // One refund in a thousand is due.
    await database.run(`insert into bookings (id, reference, user_id, flight_id, status, seats, total_minor, currency, contact_email, payment_method, created_at, updated_at, charged_minor, refund_due_minor)
      select 'bk_' || i, 'R' || i, 'u', 1, 'confirmed', 1, 9, 'USD', 'a@b', 'card', i, i, 9, case when i % 1000 = 0 then 9 else 0 end from generate_series(1, 20000) as i`);
    await using client = new SQL(database.url, { max: 1 });
    for (const statistics of [false, true]) {
      if (statistics) await database.run("analyze bookings");
      await eachRead(async (statement, values) => {
        const options = "analyze, costs off, timing off";
        const plan = await planOnPostgres(client, statement, values, options);
        expect(plan).toMatch(/Scan (?:Backward )?(?:using|on) bookings_refund_due/);
        expect({ plan, most: mostRejected(plan) }).toEqual({ plan, most: 0 });
      });
    }
  },
);
