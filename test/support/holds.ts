import { expect } from "bun:test";

import { eq, inArray } from "drizzle-orm";

import { bookingChangesTable } from "../../src/booking/model/booking-change.ts";
import { bookingsTable } from "../../src/booking/model/booking.ts";
import { type SeatHold, seatHoldsTable } from "../../src/booking/model/seat-hold.ts";
import { statementsOver } from "../../src/db/statement.ts";

import type { TestApp } from "./app.ts";

const statement = statementsOver({
  holds: seatHoldsTable,
  bookings: bookingsTable,
  changes: bookingChangesTable,
});
const allHolds = statement()((db, { holds }) => db.select().from(holds));
const heldBookings = statement()((db, { bookings }) =>
  db.select().from(bookings).where(eq(bookings.status, "held")),
);
const openChanges = statement()((db, { changes }) =>
  db
    .select()
    .from(changes)
    .where(inArray(changes.status, ["offered", "pending"])),
);

/** Expects exactly the held bookings and the open offers to hold seats, each as many and as long as it says. */
export async function expectHolds({ services: { storage } }: TestApp): Promise<void> {
  const [holds, bookings, changes] = await Promise.all([
    storage.all(allHolds, {}),
    storage.all(heldBookings, {}),
    storage.all(openChanges, {}),
  ]);
  const line = ({ bookingId, purpose, flightId, seats, userId, expiresAt }: SeatHold) =>
    `${bookingId} ${purpose}: ${seats} on ${flightId} of ${userId} until ${expiresAt.toISOString()}`;
  const expected = [
    ...bookings.map((booking) => ({
      ...booking,
      bookingId: booking.id,
      purpose: "booking" as const,
      expiresAt: booking.expiresAt ?? new Date(0),
    })),
    ...changes.map((change) => ({
      ...change,
      purpose: "change" as const,
      flightId: change.newFlightId ?? change.flightId,
      seats: change.newFlightId === null ? 0 : change.seats,
    })),
  ];
  expect(holds.map(line).toSorted()).toEqual(expected.map(line).toSorted());
}
