import { joined, type JsonObject, textAt } from "../../base/payload.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { EventData } from "../../event/event.ts";

const maxTypeLength = 80;

/** The members that may hold the name of the event. */
const nameMembers = ["type", "event_name", "event"] as const;

/**
 * The payload's event name: a name from `listed` in any of the members, otherwise the value of `member`, or of another
 * if it has none, or null.
 */
export function eventNameAt(
  payload: JsonObject,
  member: (typeof nameMembers)[number],
  listed: ReadonlyMap<string | null, unknown>,
): string | null {
  const names = [member, ...nameMembers].map((name) => textAt(payload, name));
  return names.find((name) => listed.has(name)) ?? names.find((name) => name !== null) ?? null;
}

/** Maps the service's event names to Skyhook's. Skyhook's names map to themselves. */
export function listing(
  names: Readonly<Record<string, string>>,
): ReadonlyMap<string | null, string> {
  const own = Object.values(names).map((name) => [name, name] as const);
  return new Map([...Object.entries(names), ...own]);
}

/** Converts a provider's event name to a valid type; `unknown` if it has none. */
export function typeName(name: string | null): string {
  if (name === null || name === "") return "unknown";
  return name.slice(0, maxTypeLength).replaceAll(/[^\w.:-]+/g, "-");
}

/** The title of an unlisted event. `about`: what it concerns, if known. */
export function ignoredTitle(type: string, about: string | null = null): string {
  return joined(" ", `Ignored: ${type}`, about && `(${about})`);
}

/** The fields of `Event.data` that are not null. `definitions`: the fields there can be. */
export function dataOf<const Fields extends DataFields>(
  _definitions: Fields,
  values: { readonly [Name in keyof Fields]?: Fields[Name]["static"] | null },
): EventData {
  return presentOf(values);
}

/** The fields that have a value. Their names are those of declared fields, so none is `__proto__`. */
export function presentOf(
  values: Readonly<Record<string, EventData[string] | undefined>>,
): EventData {
  const present: Record<string, EventData[string]> = {};
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (value !== undefined && value !== null) present[name] = value;
  }
  return present;
}
