import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { at } from "../../../src/base/payload.ts";
import { until } from "../../support/app.ts";

import type { CrashPoint } from "./crash-point.ts";
import { databases } from "./databases.ts";
import { book } from "./requests.ts";
import { CrashService } from "./service.ts";

const hourMs = 3_600_000;
const markNotified = `update "flight_change_notices"`;
const insertEvent = `insert into "events"`;

/** Where the server is killed between an import beside it and the notification of two bookings; null: it is down. */
const steps: readonly (readonly [string, CrashPoint | null])[] = [
  ["while it is down", null],
  ["after a booking is marked", { moment: "after statement", sql: markNotified }],
  ["after the event is written", { moment: "after statement", sql: insertEvent }],
  ["before the commit", { moment: "before commit", sql: markNotified }],
  ["after the commit", { moment: "after commit", sql: markNotified }],
];

describe.each(databases())("on $name", (kind) => {
  let service: CrashService;
  let number = 0;
  beforeAll(async () => {
    service = await CrashService.open(
      kind,
      steps.map(() => 10),
    );
  });
  afterAll(() => service.end());

  async function booked(flightId: number): Promise<string> {
    number += 1;
    const request = { key: `booking-${number}`, flightId, passengers: 1 };
    const answer = await book(await service.running(), request);
    return String(answer?.body["bookingId"]);
  }

  /** The line that moves a flight by two hours. */
  async function moveOf(flightId: number): Promise<string> {
    const { url } = await service.running();
    const flight: unknown = await (await fetch(`${url}/v1/api/flights/${flightId}`)).json();
    const later = (field: string) =>
      new Date(Date.parse(String(at(flight, field))) + 2 * hourMs).toISOString();
    return JSON.stringify({
      flightNumber: at(flight, "flightNumber"),
      airline: "Skyhook Air",
      origin: "JFK",
      destination: "LHR",
      previousDepartureTime: at(flight, "departureTime"),
      departureTime: later("departureTime"),
      arrivalTime: later("arrivalTime"),
      cabinClass: "economy",
      seats: 10,
      price: 499.5,
      currency: "USD",
    });
  }

  test.each(steps.map(([when, point], index) => [when, point, index + 1] as const))(
    "an import whose notifications are killed %s tells each booking once",
    async (_, point, flightId) => {
      const bookings = [await booked(flightId), await booked(flightId)];
      await service.settled();
      const line = await moveOf(flightId);
      if (point === null) await service.stop();
      else service.crashAt(point);
      const out = "1 flight imported\n1 flight moved, 0 cancelled, 2 bookings will be notified\n";
      expect(await service.import(line)).toBe(out);
      if (point !== null) await service.crashed();
      await service.running();
      const keysOf = () =>
        [...service.notified().keys()].filter((key) =>
          bookings.some((id) => key.startsWith(`bookings:${id}:flight.changed:`)),
        );
      await until(async () => {
        await Bun.sleep(50);
        return keysOf().length >= bookings.length;
      });
      await service.settled();
      const notified = service.notified();
      expect(keysOf().map((key) => notified.get(key)?.length)).toEqual([1, 1]);
      expect(await service.import(line)).toBe("1 flight imported\n");
      await service.stop();
      expect(
        await service.left(
          "select booking_id from flight_change_notices where notified_at is null",
        ),
      ).toEqual([]);
    },
  );
});
