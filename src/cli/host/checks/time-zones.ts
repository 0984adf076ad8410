import { offsetAt } from "../../../base/time-zone.ts";
import { allAirports, zonesInUse } from "../../../booking/flights/airports.ts";
import { type Zones, zonesIn } from "../../../booking/flights/zones.ts";
import type { Config } from "../../../config/config.ts";
import { ConfigError } from "../../../config/errors.ts";
import { configurePlaces } from "../../../config/places.ts";
import { settings } from "../../../config/settings.ts";

import { bad, type Finding, good, odd } from "./finding.ts";

const systemFolder = "/usr/share/zoneinfo";
const about = "time zones";
/** Flights are sold this far ahead. */
const aheadSeconds = 3 * 366 * 86_400;

/** Compares the time zones of airports with those of the system, which may be newer. */
export function checkTimeZones(config: Config, now: Date): Finding {
  try {
    configurePlaces(config);
  } catch (error) {
    if (error instanceof ConfigError) return bad(about, error.message);
    throw error;
  }
  const used = zonesInUse();
  const system = zonesIn(systemFolder);
  const state = `tzdata ${used.version ?? "of unknown version"}`;
  if (system.version === null || system.version === used.version) return good(about, state);
  const other = new Set<string>();
  let airports = 0;
  for (const { zone } of allAirports()) {
    if (!other.has(zone) && aheadIn(used, zone, now) === aheadIn(system, zone, now)) continue;
    other.add(zone);
    airports += 1;
  }
  const both = `${state}; the system has ${system.version}`;
  if (airports === 0) return good(about, `${both}, which has the same offsets`);
  const differ = `${both}, with other offsets for ${airports} airports in ${[...other].slice(0, 5).join(", ")}`;
  const isNewer = used.version !== null && system.version > used.version;
  return isNewer
    ? odd(about, `${differ}. Set ${settings.zoneinfoDir.key}=${systemFolder}`)
    : good(about, differ);
}

/** The offset of a zone now and its changes, as far ahead as flights are sold; null if there is no such zone. */
function aheadIn(zones: Zones, name: string, now: Date): string | null {
  try {
    const zone = zones.named(name);
    const from = now.getTime() / 1_000;
    const changes = zone.changes.filter((at) => at > from && at < from + aheadSeconds);
    return JSON.stringify([from, ...changes].map((at) => [at, offsetAt(zone, at)]));
  } catch {
    return null;
  }
}
