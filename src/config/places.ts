import { useAirports, useZones } from "../booking/flights/airports.ts";

import type { Config } from "./config.ts";
import { ConfigError } from "./errors.ts";
import { settings } from "./settings.ts";

/** Reads the time zones and airports that the settings name. Throws `ConfigError`. */
export function configurePlaces({
  airportsFile,
  zoneinfoDir,
}: Pick<Config, "airportsFile" | "zoneinfoDir">): void {
  const named = (key: string, use: () => void) => {
    try {
      use();
    } catch (error) {
      throw new ConfigError(`${key}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  named(settings.zoneinfoDir.key, () => useZones(zoneinfoDir));
  named(settings.airportsFile.key, () => useAirports(airportsFile));
}
