import { afterEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { airport, allAirports, localTime } from "../../../src/booking/flights/airports.ts";
import { bundledZones, zonesIn } from "../../../src/booking/flights/zones.ts";
import { ConfigError } from "../../../src/config/errors.ts";
import { configurePlaces } from "../../../src/config/places.ts";
import { folderForTests } from "../../support/folder.ts";
import { skips } from "../../support/skips.ts";

const folder = folderForTests();
const systemFolder = "/usr/share/zoneinfo";
const bundled = bundledZones();
const system = zonesIn(systemFolder);
const zones = [...new Set([...allAirports()].map(({ zone }) => zone))].toSorted();

describe("the time zones in the program", () => {
  const other = `the system's tzdata is ${system.version}, the program's ${bundled.version}`;
  test.skipIf(skips((system.version ?? "") >= (bundled.version ?? "") ? null : other))(
    "are those of the system, for each airport",
    () => {
      expect(zones.length).toBeGreaterThan(300);
      expect(
        zones.filter((zone) => !Bun.deepEquals(bundled.named(zone), system.named(zone))),
      ).toEqual([]);
    },
  );

  test.each([
    // On -07:00 all year from March 2026.
    ["YVR", "2026-12-10T07:30:00Z", "2026-12-10T00:30:00-07:00"],
    ["YVR", "2025-12-10T08:30:00Z", "2025-12-10T00:30:00-08:00"],
    ["JFK", "2026-03-08T06:59:59Z", "2026-03-08T01:59:59-05:00"],
    ["JFK", "2026-03-08T07:00:00Z", "2026-03-08T03:00:00-04:00"],
    ["JFK", "2099-07-01T12:00:00Z", "2099-07-01T08:00:00-04:00"],
    ["DUB", "2040-01-01T12:00:00Z", "2040-01-01T12:00:00+00:00"],
    ["DUB", "2040-07-01T12:00:00Z", "2040-07-01T13:00:00+01:00"],
    ["SYD", "2045-01-01T00:00:00Z", "2045-01-01T11:00:00+11:00"],
    ["LDH", "2026-07-01T00:00:00Z", "2026-07-01T10:30:00+10:30"],
    ["LDH", "2026-12-01T00:00:00Z", "2026-12-01T11:00:00+11:00"],
    ["SAI", "2027-01-15T12:00:00Z", "2027-01-15T19:00:00+07:00"],
  ])("%s at %s: %s", (iata, at, shown) => {
    expect(localTime(airport(iata) ?? { iata, zone: "UTC" }, new Date(at))).toBe(shown);
  });

  test("are those of the runtime where its data is as new", () => {
    const at = new Date("2024-08-15T12:00:00Z");
    const local = (zone: string) =>
      Temporal.Instant.from(at.toISOString())
        .toZonedDateTimeISO(zone)
        .toString({ smallestUnit: "second", timeZoneName: "never" });
    for (const zone of zones) expect(localTime({ iata: "XXX", zone }, at)).toBe(local(zone));
  });
});

describe("AIRPORTS_FILE and ZONEINFO_DIR", () => {
  afterEach(() => configurePlaces({ airportsFile: null, zoneinfoDir: null }));

  test("add and replace airports, and replace time zones", () => {
    const file = join(folder, "airports.csv");
    writeFileSync(
      file,
      "\ufeffname,iata,zone\r\nTest,XQA,Europe/Lisbon\r\nOther,JFK,Asia/Tokyo\r\n",
    );
    configurePlaces({ airportsFile: file, zoneinfoDir: systemFolder });
    expect(airport("XQA")).toEqual({ iata: "XQA", zone: "Europe/Lisbon" });
    expect(airport("JFK")?.zone).toBe("Asia/Tokyo");
    expect(airport("LHR")?.zone).toBe("Europe/London");
    const noon = new Date("2026-07-01T12:00:00Z");
    expect(localTime({ iata: "XQA", zone: "Europe/Lisbon" }, noon)).toBe(
      "2026-07-01T13:00:00+01:00",
    );
  });

  test.each([
    ['zone,iata\n"Asia/Calcutta","XQA"\nUTC,XQA\n', "AIRPORTS_FILE: line 3: XQA was named before"],
    ["iata\nXQA\n", "AIRPORTS_FILE: line 1 must name the columns iata and zone"],
    ["iata,zone\nXQA,Europe/London\nxqb,UTC\n", "AIRPORTS_FILE: line 3: xqb is not an IATA code"],
    [
      "iata\tzone\nXQA\tEurope/Atlantis\n",
      "AIRPORTS_FILE: line 2: there is no time zone Europe/Atlantis",
    ],
  ])("a file of %j is rejected", (text, message) => {
    const file = join(folder, "airports.csv");
    writeFileSync(file, text);
    expect(() => configurePlaces({ airportsFile: file, zoneinfoDir: null })).toThrow(
      new ConfigError(message),
    );
    expect(airport("XQA")).toBeUndefined();
  });

  test("that do not exist are rejected", () => {
    mkdirSync(join(folder, "UTC-only"));
    copyFileSync(join(systemFolder, "UTC"), join(folder, "UTC-only/UTC"));
    const places = [
      { airportsFile: "/nonexistent", zoneinfoDir: systemFolder },
      { airportsFile: null, zoneinfoDir: join(folder, "UTC-only") },
      { airportsFile: null, zoneinfoDir: "/nonexistent" },
    ];
    const keys = places.map((each) => {
      try {
        return configurePlaces(each);
      } catch (error) {
        return String(error).split(" ")[1];
      }
    });
    expect(keys).toEqual(["AIRPORTS_FILE:", "ZONEINFO_DIR:", "ZONEINFO_DIR:"]);
  });
});
