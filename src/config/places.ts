import { usePlaces } from "../booking/flights/airports.ts";

import type { Config } from "./config.ts";
import { ConfigError } from "./errors.ts";
import { settings } from "./settings.ts";

/** Reads the airports and time zones that the settings name. Throws `ConfigError`. */
export function configurePlaces({
  airportsFile,
  zoneinfoDir,
}: Pick<Config, "airportsFile" | "zoneinfoDir">): void {
  try {
    usePlaces(airportsFile, zoneinfoDir);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const { key } =
      reason.startsWith("line ") || zoneinfoDir === null
        ? settings.airportsFile
        : settings.zoneinfoDir;
    throw new ConfigError(`${key}: ${reason}`);
  }
}
