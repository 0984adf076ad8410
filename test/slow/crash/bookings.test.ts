import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { CrashPoint } from "./crash-point.ts";
import { databases } from "./databases.ts";
import { book, type BookingRequest, cancel } from "./requests.ts";
import { CrashService } from "./service.ts";

const seats = 40;
const insertBooking = `insert into "bookings"`;
const cancelBooking = `update "bookings"`;
const changeSeats = `update "flights"`;

/** Where the process is killed, and whether the seats are already taken. */
const bookingSteps: readonly (readonly [string, CrashPoint, boolean])[] = [
  ["after the seats are taken", { moment: "after statement", sql: changeSeats }, false],
  ["after the booking is written", { moment: "after statement", sql: insertBooking }, false],
  ["before the commit", { moment: "before commit", sql: insertBooking }, false],
  ["after the commit, before the answer", { moment: "after commit", sql: insertBooking }, true],
];

/** Where the process is killed, and whether the seats are already released. */
const cancellationSteps: readonly (readonly [string, CrashPoint, boolean])[] = [
  ["after the booking is marked", { moment: "after statement", sql: cancelBooking }, false],
  ["after the seats are released", { moment: "after statement", sql: changeSeats }, false],
  ["before the commit", { moment: "before commit", sql: cancelBooking }, false],
  ["after the commit, before the answer", { moment: "after commit", sql: cancelBooking }, true],
];

describe.each(databases())("on $name", (kind) => {
  let service: CrashService;
  let number = 0;
  beforeAll(async () => {
    service = await CrashService.open(kind, [seats]);
  });
  afterAll(() => service.end());

  const next = (): BookingRequest => {
    number += 1;
    return { key: `key-${number}`, flightId: 1, passengers: 2 };
  };
  /** Sold seats, according to the flight and to its bookings. */
  const sold = async () => {
    const [flight] = await service.left(
      `select seats - seats_available as gone,
       (select sum(seats) from bookings where status = 'confirmed') as sold from flights`,
    );
    expect(flight?.["gone"]).toBe(flight?.["sold"] ?? 0);
    return Number(flight?.["gone"]);
  };
  let soldBefore = 0;

  test.each(bookingSteps)(
    "a booking killed %s is made once by the retry",
    async (_, point, isMade) => {
      const request = next();
      const server = await service.running();
      service.crashAt(point);
      expect(await book(server, request)).toBeNull();
      await service.crashed();
      expect(await sold()).toBe(soldBefore + (isMade ? 2 : 0));
      const made = await service.left(
        `select resource_id as "bookingId" from idempotency where key = '${request.key}'`,
      );
      expect(made).toHaveLength(isMade ? 1 : 0);

      const again = await service.running();
      const retried = await book(again, request);
      expect(retried?.status).toBe(201);
      expect(retried?.headers.get("idempotent-replayed")).toBe(isMade ? "true" : null);
      expect(retried?.body).toMatchObject({ status: "confirmed", ...made[0] });
      const replayed = await book(again, request);
      expect(replayed?.headers.get("idempotent-replayed")).toBe("true");
      expect(replayed?.body).toEqual(retried?.body);
      await service.settled();
      const key = `bookings:${String(retried?.body["bookingId"])}:confirmed`;
      expect(service.notified().get(key)).toHaveLength(1);
      soldBefore += 2;
    },
  );

  test.each(cancellationSteps)(
    "a cancellation killed %s releases seats and refunds money once",
    async (_, point, isDone) => {
      const server = await service.running();
      const booked = await book(server, next());
      expect(booked?.status).toBe(201);
      const id = String(booked?.body["bookingId"]);
      await service.settled();
      service.crashAt(point);
      expect(await cancel(server, id)).toBeNull();
      await service.crashed();
      expect(await sold()).toBe(soldBefore + (isDone ? 0 : 2));

      const again = await service.running();
      const retried = await cancel(again, id);
      expect(retried?.status).toBe(200);
      expect(retried?.body).toMatchObject({ status: "cancelled", refund: { amount: 999 } });
      expect((await cancel(again, id))?.body).toEqual(retried?.body);
      await service.settled();
      expect(service.notified().get(`bookings:${id}:cancelled`)).toHaveLength(1);
    },
  );

  test("after all of these, the sold seats match the bookings", async () => {
    await service.stop();
    expect(await sold()).toBe(soldBefore);
    const bookings = await service.left(
      "select status, count(*) as count from bookings group by 1 order by 1",
    );
    expect(bookings).toEqual([
      { status: "cancelled", count: cancellationSteps.length },
      { status: "confirmed", count: bookingSteps.length },
    ]);
    // No cancellation is counted twice.
    const [refunds] = await service.left("select sum(refund_minor) as minor from bookings");
    expect(refunds).toEqual({ minor: 99_900 * cancellationSteps.length });
  });
});
