import { expect, test } from "bun:test";

import { retryAfterMs } from "../../src/base/times.ts";

const now = Date.UTC(2026, 10, 6, 8, 49, 37);
const hourMs = 3_600_000;

// RFC 9110: `delay-seconds` has any number of digits (10.2.3), and a recipient accepts three formats of dates (5.6.7).
test.each([
  [null, null],
  ["0", 0],
  ["120", 120_000],
  ["9999999999", 9_999_999_999_000],
  ["9".repeat(400), Number.POSITIVE_INFINITY],
  ["Fri, 06 Nov 2026 09:49:37 GMT", hourMs],
  ["Friday, 06-Nov-26 09:49:37 GMT", hourMs],
  ["Fri Nov  6 09:49:37 2026", hourMs],
  ["Fri Nov 27 08:49:37 2026", 21 * 24 * hourMs],
  ["Fri Nov  6 07:49:37 2026", 0],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
  ["-1", null],
  ["1.5", null],
  ["1e3", null],
  ["", null],
  ["soon", null],
  ["2026-11-06T09:49:37Z", null],
  ["Fri Nov  6 09:49:37 2026 +0200", null],
  ["Xyz Abc  6 09:49:37 2026", null],
] as const)("Retry-After %p is in %p ms", (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});

test("an asctime date is in UTC, whatever the zone of the machine", () => {
  const module = `${import.meta.dir}/../../src/base/times.ts`;
  const script = `import { retryAfterMs } from "${module}"; process.stdout.write(String(retryAfterMs("Fri Nov  6 09:49:37 2026", ${now})))`;
  const env = { ...process.env, TZ: "America/New_York" };
  expect(Bun.spawnSync([process.execPath, "-e", script], { env }).stdout.toString()).toBe(
    String(hourMs),
  );
});
