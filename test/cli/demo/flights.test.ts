import { expect, test } from "bun:test";

import { demoFlights } from "../../../src/cli/demo/flights.ts";

const days = 30;
const dayMs = 86_400_000;
const hourMs = 3_600_000;

test("the demo has as many flights at every hour, also when clocks change", () => {
  for (const day of ["2026-03-07", "2026-11-21", "2026-12-31"]) {
    for (let hour = 0; hour < 24; hour += 1) {
      const now = new Date(Date.parse(day) + hour * hourMs + 1);
      const departures = demoFlights(now, days).map(({ departureTime }) => departureTime.getTime());
      expect(departures).toHaveLength(360);
      expect(Math.min(...departures)).toBeGreaterThan(now.getTime());
      expect(Math.max(...departures)).toBeLessThan(now.getTime() + days * dayMs + hourMs);
    }
  }
});
