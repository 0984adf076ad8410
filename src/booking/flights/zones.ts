// The offsets of time zones: Bun's are as old as its ICU. The table is made from tzdata (public domain) by
// `bun run build:airports`; a folder of compiled tzdata replaces it.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { readZone, type TimeZone, withFooter } from "../../base/time-zone.ts";

import table from "./zones.tsv" with { type: "text" };

export interface Zones {
  /** Of tzdata, such as `2026f`; null if it is not known. */
  readonly version: string | null;
  /** Throws an `Error` for a zone that does not exist or cannot be read. */
  named(name: string): TimeZone;
}

/** The zones in this program. */
export function bundledZones(): Zones {
  const [head = "", ...lines] = table.trimEnd().split("\n");
  const byName = new Map(lines.map((line) => [line.slice(0, line.indexOf("\t")), line]));
  return cached(head.slice("# tzdata ".length), (name) => {
    const line = byName.get(name);
    if (line === undefined) throw new Error(`There is no time zone ${name}`);
    const [, footer = "", first = "0", changes = ""] = line.split("\t");
    const pairs = changes.split(" ").filter((pair) => pair !== "");
    const zone = {
      changes: pairs.map((pair) => Number.parseInt(pair, 36)),
      offsets: [first, ...pairs.map((pair) => pair.slice(pair.indexOf(":") + 1))].map(Number),
    };
    return withFooter(zone, footer);
  });
}

/** The zones of compiled tzdata (RFC 9636), such as `/usr/share/zoneinfo`. */
export function zonesIn(folder: string): Zones {
  return cached(versionIn(folder), (name) => {
    try {
      return readZone(readFileSync(join(folder, name)));
    } catch (error) {
      throw new Error(`${folder} has no time zone ${name}: ${String(error)}`, { cause: error });
    }
  });
}

function versionIn(folder: string): string | null {
  try {
    const [version] = /\d{4}[a-z]+/.exec(readFileSync(join(folder, "tzdata.zi"), "utf8")) ?? [];
    return version ?? null;
  } catch {
    return null;
  }
}

function cached(version: string | null, read: (name: string) => TimeZone): Zones {
  const zones = new Map<string, TimeZone>();
  return {
    version,
    named(name) {
      const zone = zones.get(name) ?? read(name);
      zones.set(name, zone);
      return zone;
    },
  };
}
