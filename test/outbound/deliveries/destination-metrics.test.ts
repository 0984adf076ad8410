import { afterAll, expect, test } from "bun:test";

import { destinationLabels } from "../../../src/outbound/deliveries/destination-metrics.ts";
import { until } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
afterAll(() => server.stop(true));

const scrape = () => app.services.metrics.scrape();
const create = (name: string, role: "admin" | "user" = "admin", port = server.port) => {
  const url = `http://127.0.0.1:${port}/hook`;
  return app.as(role, "/v1/destinations", post({ name, format: "json", url }), "ada");
};

test("/metrics shows attempts, durations, queue and circuit by destination", async () => {
  await create("good");
  await create("broken", "admin", 1_024);
  for (let sent = 0; sent < 12; sent += 1) {
    await app.deliverSample("task_tracker", "task.completed");
    app.clock.advance(1_000);
  }
  await until(async () => {
    const text = await scrape();
    const isOpen = text.includes('circuit_open{destination="broken"} 1');
    return isOpen && text.includes('attempts_total{destination="good",outcome="delivered"} 12');
  });
  app.clock.advance(1_000);
  const text = await scrape();
  for (const line of [
    'skyhook_notification_attempts_total{destination="good",outcome="delivered"} 12',
    'skyhook_notification_attempt_seconds_count{destination="good"} 12',
    'skyhook_destination_deliveries{destination="good",status="waiting"} 0',
    'skyhook_destination_deliveries{destination="broken",status="waiting"} 12',
    'skyhook_destination_deliveries{destination="broken",status="dead"} 0',
    'skyhook_destination_oldest_seconds{destination="good"} 0',
    'skyhook_destination_circuit_open{destination="good"} 0',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  const [, age] = /oldest_seconds\{destination="broken"\} (\S+)/.exec(text) ?? [];
  expect(Number(age)).toBeGreaterThanOrEqual(12);
});

test("/metrics does not show the names of users' destinations", async () => {
  await create("hers", "user");
  const flight = await addFlight(app);
  await app.as("user", "/v1/api/bookings", post(bookingBody(flight.id)), "ada");
  const counted = 'attempts_total{destination="users",outcome="delivered"} 1';
  await until(async () => (await scrape()).includes(counted));
  expect(await scrape()).not.toContain("hers");
});

test("labels are bounded", () => {
  const labelOf = destinationLabels();
  const labels = Array.from({ length: 60 }, (_, index) =>
    labelOf({ name: `d-${index}`, ownerId: null }),
  );
  expect(new Set(labels).size).toBe(51);
  expect(labels.at(-1)).toBe("other");
  expect(labelOf({ name: "d-0", ownerId: null })).toBe("d-0");
});
