import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { at } from "../../../src/base/payload.ts";
import { until } from "../../support/app.ts";
import type { CrashPoint } from "../harness/crash-point.ts";
import { databases } from "../harness/databases.ts";
import { World } from "../harness/world.ts";

const hourMs = 3_600_000;
const remove = `delete from "flight_events"`;
const insertNotification = `insert into "notifications"`;

/** Where the server is killed between an import beside it and its notification; null: it is down. */
const steps: readonly (readonly [string, CrashPoint | null])[] = [
  ["while it is down", null],
  ["after the event is taken", { moment: "after statement", sql: remove }],
  ["after the notification is written", { moment: "after statement", sql: insertNotification }],
  ["before the commit", { moment: "before commit", sql: remove }],
  ["after the commit", { moment: "after commit", sql: remove }],
];

describe.each(databases())("on $name", (kind) => {
  let world: World;
  beforeAll(async () => {
    world = await World.open(kind, { dies: true, seats: steps.map(() => 10) });
  });
  afterAll(() => world.end());

  /** The line that moves a flight by two hours. */
  async function moveOf(flightId: number): Promise<string> {
    const { url } = await world.running();
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
    "an import whose notification is killed %s is notified of once",
    async (_, point, flightId) => {
      await world.settled();
      const line = await moveOf(flightId);
      if (point === null) await world.stop();
      else world.crashAt(point);
      const out = "1 flight imported\n1 flight changed, 0 cancelled\n";
      expect(await world.import(line)).toBe(out);
      if (point !== null) await world.crashed();
      await world.running();
      const key = `bookings:flight/${flightId}:1`;
      await until(async () => {
        await Bun.sleep(50);
        return world.notified().has(key);
      });
      await world.settled();
      expect(world.notified().get(key)).toHaveLength(1);
      expect(await world.import(line)).toBe("1 flight imported\n");
      await world.stop();
      expect(await world.left("select event_id from flight_events")).toEqual([]);
    },
  );
});
