import { expect, test } from "bun:test";

import { rateLimit } from "../../../src/outbound/deliveries/rate-limit.ts";
import { randomNumbers } from "../../support/random.ts";

test.each([1, 2, 5, 50])("sends at most %d in any second, and no fewer", (perSecond) => {
  const random = randomNumbers(perSecond);
  let now = 0;
  const limit = rateLimit(() => now);
  const sentAt: number[] = [];
  while (sentAt.length < 20 * perSecond) {
    const free = limit.available(perSecond);
    if (free === 0) {
      now += limit.nextMs(perSecond);
      continue;
    }
    // Claimed now, and sent some time later.
    const claimed = Array.from({ length: Math.ceil(random() * free) }, () => limit.take());
    for (const send of claimed) {
      now += Math.floor(random() * 10);
      send();
      sentAt.push(now);
    }
  }
  for (const [index, at] of sentAt.entries()) {
    expect((sentAt[index + perSecond] ?? Infinity) - at).toBeGreaterThanOrEqual(1_000);
  }
  expect(now).toBeLessThan(20_000 * 1.6);
});

test("a clock that is set back delays a delivery by two seconds at most", () => {
  let now = 100_000;
  const limit = rateLimit(() => now);
  limit.take()();
  now -= 50_000;
  expect(limit.available(1)).toBe(1);
  limit.take()();
  now -= 900;
  expect(limit.nextMs(1)).toBeLessThanOrEqual(2_000);
});
