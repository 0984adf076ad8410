import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";

import { type Booking, emptyBooking } from "../../../../src/booking/booking.ts";
import { bookingEventKey } from "../../../../src/booking/bookings/booking-event.ts";
import { insertBooking } from "../../../../src/booking/bookings/bookings.sql.ts";
import { openStorage } from "../../../../src/db/open.ts";
import { write } from "../../../../src/db/statement.ts";
import { eventsByKeys, insertEvent } from "../../../../src/event/events.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { postgresDatabase, testPoolSize } from "../../../support/databases.ts";
import { removeFolder, temporaryFolder } from "../../../support/program.ts";
import { eventRow } from "../../../support/rows.ts";

const limits = {
  poolSize: testPoolSize,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  retryMs: 5_000,
};

interface Migrated extends AsyncDisposable {
  readonly url: string;
  readonly migrations: readonly { readonly name: string; readonly sql: string }[];
  run(sql: string): Promise<unknown>;
  renew(): Promise<void>;
}

async function sqlite(): Promise<Migrated> {
  const folder = temporaryFolder();
  const file = join(folder, "skyhook.db");
  return {
    url: `sqlite:${file}`,
    migrations: schema.migrations.sqlite,
    async run(sql) {
      using database = new Database(file);
      database.run(sql);
    },
    renew: () => Promise.resolve(),
    [Symbol.asyncDispose]: async () => removeFolder(folder),
  };
}

async function postgres(): Promise<Migrated> {
  const database = await postgresDatabase();
  return {
    url: database.url,
    migrations: schema.migrations.postgres,
    run: (sql) => database.run(sql),
    renew: () => database.renew(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

function bookingRow(number: number, userId: string): Booking {
  const at = new Date(Date.UTC(2026, 10, 21));
  return {
    ...emptyBooking,
    id: `bk_${number}`,
    reference: `REF${number}`,
    userId,
    flightId: 1,
    status: "confirmed",
    seats: 1,
    totalMinor: 100,
    currency: "USD",
    contactEmail: "ada@example.com",
    paymentMethod: "card",
    createdAt: at,
    updatedAt: at,
    confirmedAt: at,
  };
}

const confirmed = bookingEventKey("booking.confirmed", "bk_1");
const cancelled = bookingEventKey("booking.cancelled", "bk_1");
const foreign = "task_tracker:1";

test.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
])(
  "on %s, the migration clears the actor of stored booking events only where it is the owner",
  async (_, make) => {
    await using database = await make();
    const open = () => openStorage(schema, database.url, limits);
    const older = await open();
    const ofBooking = { provider: "bookings", subject: "booking/bk_1" };
    await older.atomically(
      write(insertBooking, bookingRow(1, "owner")),
      // An admin may own bookings too.
      write(insertBooking, bookingRow(2, "admin")),
      write(insertEvent, eventRow(1, { ...ofBooking, idempotencyKey: confirmed, actor: "owner" })),
      write(insertEvent, eventRow(2, { ...ofBooking, idempotencyKey: cancelled, actor: "admin" })),
      write(
        insertEvent,
        eventRow(3, { idempotencyKey: foreign, subject: "booking/bk_1", actor: "owner" }),
      ),
    );
    await older.close();

    const migration = database.migrations.find(({ name }) =>
      name.endsWith("_booking_event_owners"),
    );
    await database.run(migration?.sql ?? "select 1");

    await database.renew();
    const newer = await open();
    const events = await newer.all(eventsByKeys, { keys: [confirmed, cancelled, foreign] });
    await newer.close();
    const actors = Object.fromEntries(events.map((event) => [event.idempotencyKey, event.actor]));
    expect(actors).toEqual({ [confirmed]: null, [cancelled]: "admin", [foreign]: "owner" });
  },
);
