import { describe, expect, test } from "bun:test";

import { isoTime } from "../../src/base/times.ts";

describe("a time with an offset", () => {
  test.each([
    "2026-12-24T23:25:00Z",
    "2026-12-24T23:25Z",
    "2026-12-24t23:25:00.000z",
    "2026-12-24T18:25:00-05:00",
    "2026-12-24T18:25:00-0500",
    "2026-12-24T18:25:00-05",
    "2026-12-24T18:25:00,000999999-05",
    "20261224T182500-0500",
    "20261224T182500.000-05:00",
    "20261224T1825-05",
    "20261224T232500Z",
    "2026-12-24 18:25:00-05",
    "2026-12-24 18:25:00.000000-05:00",
    "2026-12-25 00:25:00 +0100",
    "2026-12-25 05:10:00 +05:45",
    "2026-12-24 23:25:00 UTC",
    "2026-12-24 23:25:00 gmt",
    "2026-12-24T23:25:00+00:00",
  ])("%s", (text) => {
    expect(isoTime(text)?.toISOString()).toBe("2026-12-24T23:25:00.000Z");
  });

  test.each([
    ["has no offset", "2026-12-24T18:25:00"],
    ["has no offset", "2026-12-24 18:25:00"],
    ["has no offset", "20261224T182500"],
    ["is a date", "2026-12-24"],
    ["has no minutes", "2026-12-24T18-05"],
    ["mixes the formats", "20261224T18:25:00-05:00"],
    ["mixes the formats", "2026-12-24T182500-05:00"],
    ["does not exist", "2026-02-29T18:25:00Z"],
    ["does not exist", "20260229T182500Z"],
    ["does not exist", "2026-12-24T24:25:00Z"],
    ["has an impossible offset", "2026-12-24T18:25:00+24:00"],
    ["has an impossible offset", "2026-12-24T18:25:00+05:60"],
    ["has an offset of one digit", "2026-12-24T18:25:00-5"],
    ["has the name of a zone", "2026-12-24 18:25:00 EST"],
    ["has an annotation", "2026-12-24T18:25:00-05:00[America/New_York]"],
    ["has two spaces", "2026-12-24  18:25:00Z"],
    ["has a sign before the year", "+002026-12-24T18:25:00Z"],
    ["has more", "2026-12-24T18:25:00Z\n"],
  ])("is none if it %s: %p", (_, text) => {
    expect(isoTime(text)).toBeNull();
  });
});
